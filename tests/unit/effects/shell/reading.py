"""Short ways to say what a shell text is seen to do. Judges nothing."""

from __future__ import annotations

from assent.contract import READ_ONLY, Effect, Invocation, Kind, Lowering, Operation, Target, Via
from assent.effects.shell import lower

CWD = "/ws/repo"
HOME = "/home/u"


def read(text: str, shell: str = "bash") -> Lowering:
    """The text lowered as in a session that is in CWD."""
    return lower(text, cwd=CWD, home=HOME, shell=shell)


def done(text: str, shell: str = "bash") -> list[str]:
    """What is done to what: `write a` for paths below CWD, `write ?` for those not known."""
    return [said(effect) for effect in read(text, shell).effects]


def said(effect: Effect) -> str:
    name = effect.target.name or "?"
    if effect.target.kind is Kind.PATH:
        name = name.removeprefix(CWD + "/")
    return f"{effect.operation.value} {name}"


def ran(text: str, shell: str = "bash") -> list[str]:
    """The commands, as rules see them."""
    return [" ".join(invocation.words) for invocation in read(text, shell).invocations]


def gaps(text: str, shell: str = "bash") -> list[str]:
    return [gap.code.removeprefix("gap.shell.") for gap in read(text, shell).gaps]


def dangers(text: str, shell: str = "bash") -> set[str]:
    return {danger for effect in read(text, shell).effects for danger in effect.dangers}


def harmless(text: str, shell: str = "bash") -> bool:
    """Whether nothing is in the way of an allow: no gap, no danger, nothing but reading."""
    lowering = read(text, shell)
    return not lowering.gaps and all(e.operation in READ_ONLY and not e.dangers for e in lowering.effects)


def path(name: str, text: str) -> Target:
    return Target(Kind.PATH, name, text)


__all__ = [
    "CWD",
    "HOME",
    "Effect",
    "Invocation",
    "Kind",
    "Lowering",
    "Operation",
    "Target",
    "Via",
    "dangers",
    "done",
    "gaps",
    "harmless",
    "path",
    "ran",
    "read",
    "said",
]
