"""Arithmetic: which names it reads and sets, and whether evaluating it can run a command. Computes nothing.

Bash evaluates a name in an expression as an expression again, and expands a subscript in it: `x='a[$(cmd)]'` and
then `$((x))` runs cmd."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assent.contract import Pattern
from assent.effects.shell.command import TOKENS
from assent.effects.shell.state import NUMBER, State, Val, either
from assent.effects.shell.tree import Arithmetic, Brace, CommandSub, Glob, Literal, Parameter, Part, Word

if TYPE_CHECKING:
    from assent.effects.shell.walk import Walk

ADVICE = "compute with plain numbers, or with values that cannot hold a command"

_NAMES = Pattern(r"(?<![\w$])[A-Za-z_]\w*")
_SET = Pattern(
    r"([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)?(?:(?:<<|>>|[-+*/%&|^])?=(?!=)|\+\+|--)|(?:\+\+|--)\s*([A-Za-z_]\w*)"
)
_LIVE = Pattern(r"\$\(|`|\$\{")
_NESTING = 8


def visit(walk: Walk, node: Arithmetic, state: State) -> None:
    """`$((…))`, `((…))`: visit what runs in it, doubt what could, note the names it sets."""
    walk.step()
    text = node.text
    if node.parts and walk.enter():  # each may hold an expression in turn
        for part in node.parts:
            _spliced(walk, part, state)
        walk.leave()
    if "'" in text or "\\" in text or ('"' in text and _LIVE.search(text)):
        walk.gap("gap.shell.arithmetic", ADVICE)
        walk.evaluated(Val((text.replace("'", ""),)), state)
    names(walk, text, state, 0)
    assigned(walk, text, state)


def word(walk: Walk, node: Word, state: State) -> None:
    """A word that is evaluated as an expression: a subscript, an offset, an operand of `-eq`."""
    for part in node.parts:
        if type(part) is Literal or type(part) is Glob or type(part) is Brace:
            _known(walk, part.text, state, 0)
        else:
            _spliced(walk, part, state)


def _spliced(walk: Walk, part: Part, state: State) -> None:
    """An expansion whose value becomes part of an expression. What the environment holds is trusted; what `set` and
    callers give is not."""
    found = walk.part(part, state)
    if found.values is not None:
        text(walk, found, state)
        return
    plain = type(part) is Parameter and part.name.isidentifier() and not (part.op or part.indirect or part.subscript)
    if type(part) in (Parameter, CommandSub) and not (plain and state.get(part.name) is None):  # type: ignore[union-attr]  # plain is a Parameter
        _trust(walk, found, state, 0)


def text(walk: Walk, found: Val, state: State, depth: int = 0) -> None:
    """A value that is evaluated as an expression."""
    if found.values is None:
        _trust(walk, found, state, depth)
        return
    for value in found.values:
        if not value.isdigit():
            _known(walk, value, state, depth)


def names(walk: Walk, expression: str, state: State, depth: int) -> None:
    """Every name in an expression is evaluated in turn."""
    if not state.vars and not state.opaque and not state.aliased:
        return
    for name in _NAMES.findall(expression):
        walk.step()
        found = state.get(name)
        if found is not None:
            _trust(walk, found, state, depth)


def assigned(walk: Walk, expression: str, state: State) -> None:
    """Names that an expression sets hold a number from there on, or what they held."""
    if "=" not in expression and "++" not in expression and "--" not in expression:
        return
    for match in _SET.finditer(expression):
        name = match[1] or match[2]
        walk.assign(name, either(state.get(name), NUMBER), state)


def _trust(walk: Walk, found: Val, state: State, depth: int) -> None:
    """Doubt a value that could hold a subscript with a command."""
    if found.items is not None:
        for item in found.items:
            _trust(walk, item, state, depth)
        return
    if found.values is not None:
        text(walk, found, state, depth + 1)
    elif found.kind not in TOKENS:
        walk.gap("gap.shell.arithmetic", ADVICE)


def _known(walk: Walk, value: str, state: State, depth: int) -> None:
    # A subscript may be put together from several values, so that the bracket need not be in this one.
    if "$" in value or "`" in value or depth > _NESTING:
        walk.gap("gap.shell.arithmetic", ADVICE)
        walk.evaluated(Val((value,)), state)
        return
    names(walk, value, state, depth + 1)
