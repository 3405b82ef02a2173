"""Sights as short texts, so that a test can compare all that a command is seen to do."""

from __future__ import annotations

import shlex

from assent.contract import Effect, Kind
from assent.effects.shell.command import Arg, CommandEffects, Run
from assent.effects.shell.commands import Tables, shipped
from assent.effects.shell.commands.interpret import interpret


def effects_of(
    command: str | tuple[str | Arg, ...], tables: Tables = shipped, stdin: Arg | None = None
) -> CommandEffects:
    argv = tuple(shlex.split(command)) if isinstance(command, str) else command
    return interpret(argv, cwd="/w", home="/home/me", tables=tables, stdin=stdin)


def does(
    command: str | tuple[str | Arg, ...], tables: Tables = shipped, stdin: Arg | None = None, *, settings: bool = False
) -> list[str]:
    """`READ a`, `DELETE+ b !recursive-delete`, `RUN ls -l`, `SHELL script`, `GAP code`: paths below /w are relative,
    `+` is recursive, `?` an unknown target. What it obeys is told with `settings` only."""
    found = effects_of(command, tables, stdin)
    lines = [_effect(effect) for effect in found.effects if settings or effect.target.kind is not Kind.SETTINGS]
    lines += [_run(run) for run in found.runs]
    return lines + [f"GAP {code[4:]}" for code, _ in found.gaps]


def _effect(effect: Effect) -> str:
    target = effect.target
    name = target.name.removeprefix("/w/") if target.name else "?" + ",".join(target.under)
    if target.kind not in (Kind.PATH, Kind.HOST):
        name = f"<{name}>"
    dangers = "".join(f" !{danger}" for danger in effect.dangers)
    return f"{effect.operation.name}{'+' if effect.recursive else ''} {name}{dangers}"


def _run(run: Run) -> str:
    place = "" if run.place == "here" else "@"
    cwd = "" if run.cwd is None else f" in {run.cwd or '?'}"
    if run.argv is not None:
        return f"RUN{place} {' '.join(word if isinstance(word, str) else f'<{word.text}>' for word in run.argv)}{cwd}"
    return f"SHELL{place} {run.script}{cwd}"
