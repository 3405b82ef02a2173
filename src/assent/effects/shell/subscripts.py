"""Subscripts without braces, which zsh evaluates and bash takes for two things."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assent.contract import Pattern
from assent.effects.shell.tree import Glob, Literal, Parameter, Part

if TYPE_CHECKING:
    from assent.effects.shell.walk import Walk

ADVICE = "zsh evaluates this subscript: write `${name}` with the braces, or a plain number"
_PLAIN_SUBSCRIPT = Pattern(r"\[(?:-?[0-9]+(?:,-?[0-9]+)?|[@*])\]")
_ODD = Pattern(r"\$[+=^~#]+[A-Za-z_]\w*\[(?!-?[0-9]+\]|[@*]\])")


def check(walk: Walk, parts: tuple[Part, ...]) -> None:
    """`$name[…]`: a subscript in zsh, where bash sees two things."""
    for place, part in enumerate(parts[:-1]):
        if type(part) is not Parameter or part.op or part.subscript is not None or part.indirect:
            continue
        behind = parts[place + 1]
        if not (type(behind) is Literal or type(behind) is Glob) or behind.text[:1] != "[":
            continue
        if not _PLAIN_SUBSCRIPT.match(behind.text) and not walk.shown(part).startswith("${"):
            walk.gap("gap.shell.zsh", ADVICE)


def is_odd(text: str) -> bool:
    """Whether a text holds `$#name[…]` or its like."""
    return "$" in text and _ODD.search(text) is not None
