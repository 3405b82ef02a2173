"""`[[ … ]]`, `test` and `[`: no effects of their own, but some of their operators evaluate what they are given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assent.effects.shell import arithmetic
from assent.effects.shell.command import TOKENS, Arg
from assent.effects.shell.state import DECODED, FETCHED, FROM_FILE, State, Val
from assent.effects.shell.tree import Conditional
from assent.effects.shell.words import value

if TYPE_CHECKING:
    from assent.effects.shell.walk import Walk

_COMPARES = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
_NAMES = frozenset(("-v", "-R"))
_FOREIGN = FETCHED | FROM_FILE | DECODED


def visit(walk: Walk, node: Conditional, state: State) -> None:
    """`[[ … ]]`: operands of `-eq` and its like are arithmetic, that of `-v` is a name with a subscript."""
    words = node.words
    numbers = {place + side for place, word in enumerate(words) if word.text in _COMPARES for side in (-1, 1)}
    for place, word in enumerate(words):
        if place in numbers:
            arithmetic.word(walk, word, state)
        else:
            found = value(walk, word, state)
            if place and (words[place - 1].text in _NAMES or (walk.zsh and words[place - 1].text == "-t")):
                name(walk, found, state)


def test(walk: Walk, args: list[str | Arg], taint: int, state: State) -> None:
    """`test` and `[` get words: one of them may be `-v`."""
    for place, arg in enumerate(args):
        if isinstance(arg, str):
            if "[" in arg and ("$" in arg or "`" in arg):
                name(walk, Val((arg,)), state)
        elif place and args[place - 1] in _NAMES:
            name(walk, Val(arg.values, kind=arg.kind), state)
        elif (arg.splits and taint & _FOREIGN) or (
            arg.values and any("[" in text and "$" in text for text in arg.values)
        ):
            name(walk, Val(), state)


def name(walk: Walk, found: Val, state: State) -> None:
    """A name that a builtin looks up or sets: with a subscript that holds a command, it runs the command."""
    if found.values is None:
        if found.kind not in TOKENS:
            walk.gap("gap.shell.subscript", "write out the name of the variable")
        return
    for text in found.values:
        if "[" in text and ("$" in text or "`" in text):
            walk.gap("gap.shell.subscript", "write out the subscript without an expansion")
            walk.evaluated(Val((text,)), state)
        elif "[" in text:
            arithmetic.text(walk, Val((text[text.index("[") + 1 :].rstrip("]"),)), state)
