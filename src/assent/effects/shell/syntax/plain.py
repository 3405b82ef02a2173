"""Reads lines of plain words, whole quotes, plain redirects and the operators between commands: most commands that
agents run are no more than that. Anything else is left to the reader.

INVARIANT: where it answers, the answer is the reader's own (tests/unit/effects/shell/test_syntax_plain.py)."""

from __future__ import annotations

import re

from assent.effects.shell.syntax.commands import RESERVED, assignment, literal_parts
from assent.effects.shell.tree import Literal, Pipeline, Redirect, Script, Simple, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from assent.effects.shell.tree import Command

LONGEST = 4000
"""Characters; what is longer has time to be read."""

_WORD = r"""[^ \t\n|&;()<>'"`\\$*?\[\]~{#!][^ \t\n|&;()<>'"`\\$*?\[\]~{]*+"""
_token = re.compile(
    rf"[ \t]*+(?:({_WORD})(?=[ \t;&|]|\Z)"
    r"""|('[^'\n]*+'|"[^"`$\\\n]*+")(?=[ \t;&|]|\Z)"""
    r"|(&&|\|\||[|;])"
    rf"|([0-9]?)(?:(>&)([0-9])|(>>?)[ \t]*+({_WORD}))(?=[ \t;&|]|\Z))"
).match
_PLAIN, _QUOTED, _OPERATOR, _DUPLICATE = 1, 2, 3, 6  # the last group that took part


def read_plain(text: str) -> Script | None:
    """The tree of a text; None where it holds anything that is not plain."""
    commands: list[Command] = []
    joins: list[str] = []
    members: list[Command] = []
    words: list[Word] = []
    redirects: list[Redirect] = []
    pos = 0
    while (found := _token(text, pos)) is not None:
        kind = found.lastindex
        if kind == _PLAIN:
            word = found[1]
            if not words and (word in RESERVED or ("=" in word and assignment.match(word) is not None)):
                return None
            begin, pos = found.span(1)
            words.append(Word(literal_parts(word), word, begin, pos))
        elif not words:
            return None
        elif kind == _QUOTED:
            begin, pos = found.span(2)
            words.append(Word((Literal(text[begin + 1 : pos - 1], True),), found[2], begin, pos))
        elif kind == _OPERATOR:
            members.append(Simple((), tuple(words), tuple(redirects), words[0].start, pos))
            words, redirects = [], []
            sign, pos = found[3], found.end()
            if sign != "|":
                commands.append(_joined(members))
                joins.append(sign)
                members = []
        else:
            sign, target = (found[5], 6) if kind == _DUPLICATE else (found[7], 8)
            begin, pos = found.span(target)
            name = found[target]
            redirects.append(
                Redirect(sign, found[4], Word(literal_parts(name), name, begin, pos), start=found.start(4), end=pos)
            )
    if text[pos:].strip(" \t"):
        return None
    if words:
        members.append(Simple((), tuple(words), tuple(redirects), words[0].start, pos))
        commands.append(_joined(members))
        joins.append("")
    elif members or not joins or joins[-1] != ";":
        return None
    return Script(tuple(commands), tuple(joins))


def _joined(members: list[Command]) -> Command:
    return members[0] if len(members) == 1 else Pipeline(tuple(members), merges=(False,) * (len(members) - 1))
