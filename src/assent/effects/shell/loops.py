"""Loops: walks their bodies until the state at the head holds for every round. Visits no simple command itself."""

from __future__ import annotations

from collections.abc import Callable

from assent.effects.shell import arithmetic
from assent.effects.shell.command import LISTED, Arg
from assent.effects.shell.record import Walk
from assent.effects.shell.state import MOST_VALUES, UNKNOWN, Pair, ShellState, ShellValue, changed, either, join
from assent.effects.shell.tree import (
    ArithmeticCommand,
    CaseCommand,
    Command,
    Conditional,
    For,
    ForArithmetic,
    Group,
    If,
    Loop,
    Pipeline,
    ProcessSub,
    Script,
    Simple,
)
from assent.effects.shell.words import expand, inert_pattern

MOST_CHOICES = 64
_ROUNDS = 4
_CONSTANT = frozenset(
    {"true", ":", "/bin/true", "[ 1 ]", "[ true ]", "test 1", "false", "/bin/false", "[ 1 = 1 ]", "[ 1 -eq 1 ]"}
)
_SUCCEEDING = (["sleep"], ["echo"], ["printf"], ["date"], ["/bin/sleep"])  # with any arguments
_PRINTING = (["yes"], ["/usr/bin/yes"])
_RANDOM = frozenset({"/dev/urandom", "/dev/random"})
_PASSING = frozenset(("cat", "tr", "nl", "tee", "rev"))
_LEAVING = frozenset({"break", "exit", "return", "wait", "exec"})


def visit(walk: Walk, node: Loop | For | ForArithmetic, state: ShellState) -> Pair:
    if isinstance(node, For):
        return _over(walk, node, state)
    jobs = walk.jobs
    out = _loop(walk, node, state) if isinstance(node, Loop) else _counted(walk, node, state)
    if walk.jobs > jobs and (_is_endless(node) or _reads_on(walk, node)) and not _leaves(node.body):
        walk.never_ends()
    return out


def are_endless(commands: tuple[Command, ...]) -> bool:
    """Whether the first of the commands of a pipe prints without end, and the others pass that on."""
    return _prints_on(commands[0]) and all(
        isinstance(each, Simple) and _first(each) in _PASSING for each in commands[1:]
    )


def _prints_on(node: Command) -> bool:
    if isinstance(node, Simple):
        words = [word.text for word in node.words]
        return words[:1] in _PRINTING or (words[:1] == ["cat"] and not _RANDOM.isdisjoint(words))
    return isinstance(node, Loop | ForArithmetic) and _is_endless(node) and not _leaves(node.body)


def _first(node: Simple) -> str:
    return node.words[0].text if node.words else ""


def _reads_on(walk: Walk, node: Loop | ForArithmetic) -> bool:
    """Whether a loop reads what never ends, line by line: `yes | while read x`, `done < <(yes)`."""
    last = node.condition.commands[-1] if isinstance(node, Loop) and node.condition.commands else None
    if isinstance(last, Pipeline) and len(last.commands) == 1:
        last = last.commands[0]
    if not isinstance(last, Simple) or _first(last) != "read":
        return False
    inputs = [each for each in (*node.redirects, *last.redirects) if each.op.startswith("<") and each.fd in ("", "0")]
    if not inputs:
        return walk.endless
    word = inputs[-1].target
    inner = word.parts[0] if len(word.parts) == 1 else None
    if not isinstance(inner, ProcessSub):
        return word.text in _RANDOM
    made = inner.script.commands
    members = made[0].commands if len(made) == 1 and isinstance(made[0], Pipeline) else made
    return len(made) == 1 and are_endless(members)


def _is_endless(node: Loop | ForArithmetic) -> bool:
    """Whether the condition of a loop never ends it: `while :`, `until false`, `for ((;;))`."""
    if isinstance(node, ForArithmetic):
        pieces = node.expression.text.split(";")
        return len(pieces) == 3 and pieces[1].strip() in ("", "1", "true")
    commands = node.condition.commands
    last = commands[-1] if commands else None
    if isinstance(last, Pipeline) and len(last.commands) == 1:
        last = last.commands[0]
    if isinstance(last, ArithmeticCommand):
        return last.expression.text.strip().isdigit()
    if isinstance(last, Simple):
        words = [word.text for word in last.words]
        return " ".join(words) in _CONSTANT or words[:1] in _SUCCEEDING
    return isinstance(last, Conditional) and len(last.words) == 1 and last.words[0].text.isalnum()


def _leaves(node: Command | Script) -> bool:
    """Whether some command in a loop may leave it, or waits for started processes."""
    match node:
        case Simple():
            return bool(node.words) and node.words[0].text in _LEAVING
        case Script() | Pipeline():
            return any(map(_leaves, node.commands))
        case Group() | Loop() | For() | ForArithmetic():
            return _leaves(node.body)
        case If():
            arms = [each for arm in node.arms for each in arm]
            return any(map(_leaves, arms)) or (node.otherwise is not None and _leaves(node.otherwise))
        case CaseCommand():
            return any(_leaves(body) for _, body in node.arms)
    return False


def _loop(walk: Walk, node: Loop, state: ShellState) -> Pair:
    """`while` and `until` alike: both outcomes of the condition are followed."""

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


def _choices(walk: Walk, node: For, state: ShellState) -> tuple[ShellValue, bool]:
    """All values of a loop's name, and whether there is a round at all."""
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
        return either(_union(words, taint), ShellValue(("",))), False
    return _union(words, taint), any(isinstance(word, str) or not word.splits for word in words)


def _union(words: list[str | Arg], taint: int) -> ShellValue:
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
        return ShellValue(guesses=distinct[:MOST_VALUES], taint=taint)
    if not unknown:
        if not globs:
            return ShellValue(distinct or ("",), taint=taint)
        return ShellValue(kind="glob", under=tuple(globs) + tuple(map(inert_pattern, distinct)), taint=taint)
    kinds = {word.kind for word in unknown}
    kind = unknown[0].kind if len(kinds) == 1 and not texts and not globs else ""
    folders = dict.fromkeys(folder for word in unknown for folder in word.under) if kind in LISTED else ()
    return ShellValue(guesses=distinct, kind="hash" if kind == "hashes" else kind, under=tuple(folders), taint=taint)


def _after(pair: Pair, head: ShellState) -> ShellState:
    return join(*pair) or head.fork()


def _walk_rounds(walk: Walk, state: ShellState, once: Callable[[ShellState], tuple[ShellState, ShellState]]) -> Pair:
    """Walk rounds until another round changes nothing, widening the changed values each time."""
    marks = len(walk.effects), len(walk.invocations), (walk.sink and len(walk.sink)) or 0
    frame: list[ShellState] = []
    walk.escapes.append(("loop", frame))
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
    """A wider head: a changed name is first either value, then unknown, then nothing is known."""
    out = (join(head, end) or head).fork()
    if number == 0:
        return out
    for name in names or ():
        found = out.get(name) or UNKNOWN
        kind = "number" if found.numeric else ""
        out.set(name, ShellValue(guesses=(found.values or found.guesses)[:16], kind=kind, taint=found.taint))
    if not _covers(head.cwds, end.cwds):
        out.cwds = ("",)
    if number > 1 or names is None:
        out.positional = None
        if number > 1:
            out.blur()
    return out
