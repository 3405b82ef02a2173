"""Facts about each agent program: the `agent.toml` in its folder, by section.

A program's id is the name of its folder, with `-` for `_`. docs/agents.md says what the sections mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assent.programs.catalog import Catalog

catalog = Catalog(__file__.rpartition("/")[0], inside="agent.toml")
OTHERS = tuple("aider amp crush goose kiro-cli openhands".split())  # programs that run agents and have no folder
_sections: dict[str, dict[str, Mapping[str, Any]]] = {}


def section(name: str) -> dict[str, Mapping[str, Any]]:
    """A section of every program that has it, by id."""
    if name not in _sections:
        _sections[name] = {folder.replace("_", "-"): row for folder, row in catalog.rows(name).items()}
    return _sections[name]


def runtimes(having: str = "capabilities") -> tuple[str, ...]:
    """The ids of the programs with a section; of all of them by default."""
    return tuple(section(having))


def lists(name: str, key: str) -> dict[str, tuple[str, ...]]:
    """A list of texts in a section, of every program that has it."""
    rows = section(name).items()
    return {runtime: tuple(map(str, value)) for runtime, row in rows if isinstance(value := row.get(key), list)}


def joined(name: str, key: str) -> tuple[str, ...]:
    return tuple(text for each in lists(name, key).values() for text in each)


def session(environ: Mapping[str, str]) -> str:
    """The session that a program names in an environment; `""` if none does."""
    return next((environ[name] for name in texts("environment", "session").values() if environ.get(name)), "")


def texts(name: str, key: str) -> dict[str, str]:
    return {runtime: str(row[key]) for runtime, row in section(name).items() if key in row}


def filled(value: object, given: Mapping[str, object]) -> object:
    """A value of a section with placeholders such as `{command}` replaced."""
    if isinstance(value, dict):
        return {key: filled(each, given) for key, each in value.items()}
    if isinstance(value, list):
        return [filled(each, given) for each in value]
    return given.get(value, value) if isinstance(value, str) else value
