"""Rows that claim only to read were checked against their programs: options have kinds, and what they obey is known."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from assent import programs as tables

FOLDER = Path(tables.__file__).parent
CHECKED = re.compile(r"\b(?:manuals?|source|runs|help|reference|completions|requests)\b")  # what was looked at
TABLES = sorted(path.name for path in FOLDER.glob("*.toml"))


@pytest.mark.parametrize("table", TABLES)
def test_every_row_that_only_reads_was_checked(table: str) -> None:
    rows = tomllib.loads((FOLDER / table).read_text())
    labels = {name: str(row.get("obeys_checked", "")) for name, row in rows.items() if row.get("safe")}
    assert [name for name, label in labels.items() if not CHECKED.search(label)] == []


@pytest.mark.parametrize("table", TABLES)
def test_no_row_takes_options_that_it_does_not_describe(table: str) -> None:
    rows = tomllib.loads((FOLDER / table).read_text())
    claiming = [name for name, row in rows.items() if row.get("safe") or name.startswith("_")]
    loose = [name for name in claiming if "*" in rows[name].get("options", "").split()]
    programs = {name.partition(" ")[0] for name in claiming} & rows.keys()  # whose globals hold for subcommands too
    loose += [name for name in programs if "*" in rows[name].get("globals", "").split()]
    assert loose == []
