"""Rows that claim only to read were checked against their programs: options have kinds, and what they obey is known."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import assent.effects.shell.commands as commands

FOLDER = Path(commands.__file__).parent
# Tables whose every row was checked. All of them, once the review is through.
REVIEWED = (
    "assent.toml",
    "cloud.toml",
    "containers.toml",
    "coreutils.toml",
    "databases.toml",
    "devices.toml",
    "editors.toml",
    "files.toml",
    "forges.toml",
    "git.toml",
    "infra.toml",
    "macos.toml",
    "network.toml",
    "packages.toml",
    "services.toml",
    "system.toml",
    "text.toml",
    "toolchains.toml",
    "vcs.toml",
    "wrappers.toml",
)


@pytest.mark.parametrize("table", REVIEWED)
def test_every_row_that_only_reads_was_checked(table: str) -> None:
    rows = tomllib.loads((FOLDER / table).read_text())
    unchecked = [name for name, row in rows.items() if row.get("safe") and not row.get("obeys_checked")]
    assert unchecked == []


@pytest.mark.parametrize("table", REVIEWED)
def test_no_row_takes_options_that_it_does_not_describe(table: str) -> None:
    rows = tomllib.loads((FOLDER / table).read_text())
    claiming = [name for name, row in rows.items() if row.get("safe") or name.startswith("_")]
    loose = [name for name in claiming if "*" in rows[name].get("options", "").split()]
    programs = {name.partition(" ")[0] for name in claiming} & rows.keys()  # whose globals hold for subcommands too
    loose += [name for name in programs if "*" in rows[name].get("globals", "").split()]
    assert loose == []
