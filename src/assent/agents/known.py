"""What is known of each agent program: the `agent.toml` in its folder, by section. Knows no program itself.

A program's id is the name of its folder, with `-` for `_`. docs/agents.md says what the sections mean."""

from __future__ import annotations

from collections.abc import Mapping

from assent.programs.catalog import Catalog

catalog = Catalog(__file__.rpartition("/")[0], inside="agent.toml")
OTHERS = tuple("aider amp crush goose kiro-cli openhands".split())  # programs that run agents and have no folder
_sections: dict[str, dict[str, Mapping[str, object]]] = {}


def section(name: str) -> dict[str, Mapping[str, object]]:
    """A section of every program that has it, by id."""
    found = _sections.get(name)
    if found is None:
        rows = catalog.rows(name)
        found = _sections[name] = {folder.replace("_", "-"): rows[folder] for folder in rows}
    return found


def runtimes(having: str = "capabilities") -> tuple[str, ...]:
    """The ids of the programs with a section; of all of them by default."""
    return tuple(section(having))


def lists(name: str, key: str) -> dict[str, tuple[str, ...]]:
    """A list of texts in a section, of every program that has it."""
    found: dict[str, tuple[str, ...]] = {}
    for runtime, row in section(name).items():
        value = row.get(key)
        if isinstance(value, list):
            found[runtime] = tuple(map(str, value))
    return found


def joined(name: str, key: str) -> tuple[str, ...]:
    """The lists of all programs as one."""
    return tuple(text for each in lists(name, key).values() for text in each)


def session(environ: Mapping[str, str]) -> str:
    """The session of a program that told it in an environment; `""` where none did."""
    return next((environ[name] for name in texts("environment", "session").values() if environ.get(name)), "")


def texts(name: str, key: str) -> dict[str, str]:
    """A text in a section, of every program that has it."""
    return {runtime: str(row[key]) for runtime, row in section(name).items() if key in row}
