"""What the `agent.toml` files say: known sections and keys only, with the values that their readers want."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from assent.agents import capabilities, known, permissions, settings
from assent.effects import runtimes

FOLDERS = sorted(path.parent for path in Path(known.__file__).parent.glob("*/agent.toml"))
DOCUMENT = (Path(__file__).parents[3] / "docs/agents.md").read_text()
LISTS = {"names", "packages", "processes", "prefixes", "marks", "elsewhere", "options", "credentials", "folders", "own"}


def listed() -> dict[str, set[str]]:
    """Sections and their keys, as docs/agents.md has them."""
    sections, _, hook = DOCUMENT.partition("## Sections")[2].partition("## Our hook")
    rows = re.findall(r"^\| (`.*?) \| (.*) \|$", sections, re.MULTILINE)
    found = {name: set(re.findall(r"`(\w+)`", keys)) for names, keys in rows for name in re.findall(r"`(\w+)`", names)}
    more = re.findall(r"^\| (`.*?) \|", hook, re.MULTILINE)
    return {**found, "settings": found["settings"] | set(re.findall(r"`(\w+)`", " ".join(more)))}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_section_and_key_is_documented_and_read(folder: Path) -> None:
    fields = {*capabilities.Capabilities.__slots__, *capabilities.ANSWERS, *capabilities.FAILURES} - {"does"}
    for section, row in tomllib.loads((folder / "agent.toml").read_text()).items():
        inner = [key for each in row.values() for key in each] if section in ("floor", "ask") else row
        assert set(inner) <= (fields if section == "capabilities" else listed()[section]), section
        assert [key for key in LISTS & set(row) if not isinstance(row[key], list)] == [], section


def test_a_program_that_has_a_section_has_its_module() -> None:
    assert [settings.load(each).runtime for each in settings.RUNTIMES] == list(settings.RUNTIMES)
    assert [permissions.load(each).runtime for each in permissions.RUNTIMES] == list(permissions.RUNTIMES)
    assert [each for each in known.runtimes() if not runtimes.is_known(each)] == []
    assert len(known.runtimes()) == len(FOLDERS)


def test_no_two_programs_have_the_same_name() -> None:
    names = known.joined("program", "names")
    assert len(names) == len(set(names))
