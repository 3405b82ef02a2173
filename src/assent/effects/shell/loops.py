"""Loops: their bodies walked until the state at their head holds for every round. Visits no simple command itself."""

from __future__ import annotations

from collections.abc import Callable

from assent.effects.shell import arithmetic
from assent.effects.shell.command import LISTED, Arg
from assent.effects.shell.record import Walk
from assent.effects.shell.state import MOST_VALUES, UNKNOWN, Pair, ShellState, Val, changed, either, join
from assent.effects.shell.tree import For, ForArithmetic, Loop
from assent.effects.shell.words import expand, inert_pattern

MOST_CHOICES = 64
_ROUNDS = 4


def visit(walk: Walk, node: Loop | For | ForArithmetic, state: ShellState) -> Pair:
    if isinstance(node, For):
        return _over(walk, node, state)
    return _loop(walk, node, state) if isinstance(node, Loop) else _counted(walk, node, state)


def _loop(walk: Walk, node: Loop, state: ShellState) -> Pair:
    """`while` and `until`: which of the two does not matter, both ways out of the condition are taken."""

    def once(head: ShellState) -> tuple[ShellState, ShellState]:
        test = _after(walk.script(node.condition, head.fork()), head)
        left = test.fork()
        return _after(walk.script(node.body, test), head), left

    return _walk_rounds(walk, state, once)


def _over(walk: Walk, node: For, state: ShellState) -> Pair:
    """`for name in words`: the name is any of the words."""
    found, some = _choices(walk, node, state)
    before = state.fork()
    if node.select:
        walk.assign("REPLY", UNKNOWN, before)
    walk.assign(node.name, found if some else either(state.get(node.name), found), before)

    def once(head: ShellState) -> tuple[ShellState, ShellState]:
        inner = head.fork()
        walk.assign(node.name, found, inner)
        return _after(walk.script(node.body, inner), head), head

    return _walk_rounds(walk, before, once)


def _counted(walk: Walk, node: ForArithmetic, state: ShellState) -> Pair:
    arithmetic.evaluate_arithmetic(walk, node.expression, state)

    def once(head: ShellState) -> tuple[ShellState, ShellState]:
        return _after(walk.script(node.body, head.fork()), head), head

    return _walk_rounds(walk, state, once)


def _choices(walk: Walk, node: For, state: ShellState) -> tuple[Val, bool]:
    """Everything that a loop's name can be, and whether there is a round at all."""
    if node.words is None:
        items = state.positional
        if not items:
            return UNKNOWN, False
        out = items[0]
        for item in items[1:]:
            out = either(out, item)
        return out, True
    outer, walk.taint = walk.taint, 0
    words: list[str | Arg] = []
    for word in node.words:
        words += expand(walk, word, state)
    taint, walk.taint = walk.taint, outer | walk.taint
    if node.select:
        return either(_union(words, taint), Val(("",))), False
    return _union(words, taint), any(isinstance(word, str) or not word.splits for word in words)


def _union(words: list[str | Arg], taint: int) -> Val:
    texts: list[str] = []
    globs: list[str] = []
    unknown: list[Arg] = []
    for word in words:
        if isinstance(word, str):
            texts.append(word)
        elif word.values is None:
            unknown.append(word)
        elif word.pattern:
            globs += word.values
        else:
            texts += word.values
    distinct = tuple(dict.fromkeys(texts))
    if len(distinct) + len(globs) > MOST_CHOICES:
        return Val(guesses=distinct[:MOST_VALUES], taint=taint)
    if not unknown:
        if not globs:
            return Val(distinct or ("",), taint=taint)
        return Val(kind="glob", under=tuple(globs) + tuple(map(inert_pattern, distinct)), taint=taint)
    kinds = {word.kind for word in unknown}
    kind = unknown[0].kind if len(kinds) == 1 and not texts and not globs else ""
    folders = dict.fromkeys(folder for word in unknown for folder in word.under) if kind in LISTED else ()
    return Val(guesses=distinct, kind="hash" if kind == "hashes" else kind, under=tuple(folders), taint=taint)


def _after(pair: Pair, head: ShellState) -> ShellState:
    return join(*pair) or head.fork()


def _walk_rounds(walk: Walk, state: ShellState, once: Callable[[ShellState], tuple[ShellState, ShellState]]) -> Pair:
    """Walk rounds until another round changes nothing, losing more of what changes each time."""
    marks = len(walk.effects), len(walk.invocations), (walk.sink and len(walk.sink)) or 0
    frame: list[ShellState] = []
    walk.escapes.append((False, frame))
    head = state.fork()
    out: ShellState = head
    for number in range(_ROUNDS):
        frame.clear()
        end, left = once(head.fork())
        for other in frame:
            end = join(end, other) or end
        out = join(left, end) or left
        names = changed(head, end)
        if names == [] and _covers(head.cwds, end.cwds):
            break
        head = _weaker(head, end, names, number)
        if number < _ROUNDS - 1:
            del walk.effects[marks[0] :], walk.invocations[marks[1] :]
            if walk.sink is not None:
                del walk.sink[marks[2] :]
    else:
        out.blur()
    walk.escapes.pop()
    walk.doubt_output(marks[2])
    return out, out


def _covers(cwds: tuple[str, ...], others: tuple[str, ...]) -> bool:
    return cwds == ("",) or set(others) <= set(cwds)


def _weaker(head: ShellState, end: ShellState, names: list[str] | None, number: int) -> ShellState:
    """A head that stands for more: what changed is either value at first, then unknown, then nothing is known."""
    out = (join(head, end) or head).fork()
    if number == 0:
        return out
    for name in names or ():
        found = out.get(name) or UNKNOWN
        kind = "number" if found.numeric else ""
        out.set(name, Val(guesses=(found.values or found.guesses)[:16], kind=kind, taint=found.taint))
    if not _covers(head.cwds, end.cwds):
        out.cwds = ("",)
    if number > 1 or names is None:
        out.positional = None
        if number > 1:
            out.blur()
    return out
