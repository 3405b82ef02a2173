"""Every row of every shipped table: it loads, its keys and roles are known, and its examples hold."""

from __future__ import annotations

import glob
import os
import re
import shlex
import tomllib

import pytest

from assent import programs
from assent.contract import READ_ONLY, Effect, Kind, Operation
from assent.effects.shell.command import CommandEffects
from assent.effects.shell.commands import check_row, shipped
from assent.effects.shell.commands.interpret import interpret, reader
from assent.programs.catalog import UNUSED, catalog
from assent.programs.table import NAMES
from assent.programs.traits import TRAITS

FOLDER = os.path.dirname(programs.__file__)


def rows() -> list[tuple[str, str, dict[str, object]]]:
    found = []
    for path in sorted(glob.glob(os.path.join(FOLDER, "*.toml"))):
        with open(path, "rb") as file:
            found += [(os.path.basename(path), name, keys) for name, keys in tomllib.load(file).items()]
    return [each for each in found if each[1] != TRAITS]


ROWS = rows()


def split(example: str) -> tuple[str, ...]:
    return tuple(shlex.split(example))


def asks(sight: CommandEffects, depth: int = 0) -> bool:
    """Whether a sight, with what it runs, does more than read."""
    if sight.gaps or any(_acts(effect) for effect in sight.effects) or depth > 10:
        return True
    for run in sight.runs:
        argv = run.argv if run.argv is not None else split(run.script or "")
        if run.place != "here" or (argv and asks(interpret(argv, cwd="/w", home="/h"), depth + 1)):
            return True
    return False


def _acts(effect: Effect) -> bool:
    if effect.dangers:
        return True
    computes = effect.target.kind is Kind.MODULES and effect.target.name.startswith("pure:")
    settled = effect.target.kind in (Kind.REPOSITORY, Kind.SETTINGS)
    settled = settled or (effect.target.kind is Kind.HOOKS and effect.target.name.startswith("remote="))
    conditional = effect.operation is Operation.EXECUTE and (settled or computes)
    return effect.operation not in READ_ONLY and not conditional


@pytest.mark.parametrize("table", sorted({file for file, _, _ in ROWS}))
def test_a_row_is_well_formed_and_its_examples_hold(table: str) -> None:
    wrong = [f"[{name}] {each}" for file, name, keys in ROWS if file == table for each in faults(name, keys)]
    assert not wrong, "\n".join(wrong)


def faults(name: str, keys: dict[str, object]) -> list[str]:
    """What is wrong with a row. Raises if a key or a role is unknown, naming the row."""
    if not isinstance(keys, dict):
        return ["a row's name with spaces or dots is quoted"]
    check_row(name, keys, readers=frozenset(NAMES))
    if name.startswith("_"):
        known = {"options"} <= set(keys) <= {"options", "style", "forms"}
        return [] if known else ["a set has options, and how they are read"]
    shipped.row(name)
    safe, acts = keys.get("safe", []), keys.get("acts", [])
    assert isinstance(safe, list)
    assert isinstance(acts, list)
    wrong = [] if safe or acts else ["a row has at least one example"]
    wrong += [f"not safe: {example}: {_seen(example)}" for example in safe if asks(_seen(example))]
    return wrong + [f"does nothing: {example}: {_seen(example)}" for example in acts if not asks(_seen(example))]


def _seen(example: str) -> CommandEffects:
    return interpret(split(example), cwd="/w", home="/h")


def test_the_compiled_tables_hold_exactly_the_rows_of_the_files() -> None:
    assert sorted(shipped.names()) == sorted([TRAITS, *(name for _, name, _ in ROWS)])
    for _, name, keys in ROWS:
        used = {key: value for key, value in keys.items() if key not in UNUSED}
        assert catalog.rows(name.partition(" ")[0])[name] == used
        aliases = keys.get("aliases", [])
        assert isinstance(aliases, list)
        assert {catalog.program_of(alias) for alias in aliases} <= {name.partition(" ")[0]}


@pytest.mark.parametrize("program", ["", "nobody", 'git"]\nx', "]", '"', "gi", "git status", "_", "\udc80"])
def test_what_is_no_program_has_no_rows(program: str) -> None:
    assert shipped.program(program) is None


def test_no_program_is_spread_over_two_files() -> None:
    homes: dict[str, set[str]] = {}
    for file, name, _ in ROWS:
        homes.setdefault(name.partition(" ")[0], set()).add(file)
    assert {program: files for program, files in homes.items() if len(files) > 1} == {}


def test_no_alias_is_a_program_or_an_alias_of_another() -> None:
    owners: dict[str, str] = {name: name for _, name, _ in ROWS if " " not in name}
    for _, name, keys in ROWS:
        aliases = keys.get("aliases", [])
        assert isinstance(aliases, list)
        for alias in aliases:
            assert owners.setdefault(alias, name) == name, f"{alias} is {owners[alias]} and {name}"


def test_every_reader_exists_and_is_in_the_docs() -> None:
    docs = os.path.join(os.path.dirname(__file__), *[os.pardir] * 3, "docs", "commands.md")
    with open(docs, encoding="utf-8") as file:
        table = file.read().partition("| reader | for |")[2].partition("## ")[0]
    listed = {
        name
        for line in table.splitlines()
        for name in re.findall(r"`(\w+)`", line.split("|")[1] if "|" in line else "")
    }
    assert listed == set(NAMES)
    assert all(callable(reader(name)) for name in NAMES)
