"""Nested texts and bodies: functions, aliases, `eval`, scripts for another shell, traps.

Knows no program by name."""

from __future__ import annotations

from assent.contract import Effect, Kind, Operation, Pattern, Target
from assent.effects.shell import assign, dialects, environment
from assent.effects.shell.command import Arg, CommandEffects
from assent.effects.shell.record import ShellJob, Walk
from assent.effects.shell.state import UNKNOWN, USUAL_SPLIT, Body, Pair, ShellState, ShellValue, changed, join
from assent.effects.shell.syntax import read
from assent.effects.shell.tree import Command, Pipeline, Script, Simple
from assent.effects.shell.words import expand, value
from assent.programs.traits import has

MOST_RECURSION = 3
MOST_TRAPS = 64
_SUBSTITUTES = Pattern(r"\$\(|`|[<>]\(")
_READ_NOTHING = frozenset(("cd", "set", "export", ":", "true"))
_LIVE = Pattern(r"\$[({]|`|\$\w")


def as_value(word: str | Arg) -> ShellValue:
    if isinstance(word, str):
        return ShellValue((word,))
    if word.pattern or word.values is None:
        return ShellValue(kind=word.kind, under=word.under, prefix=word.prefix)
    return ShellValue(word.values)


def positional(words: tuple[str | Arg, ...] | list[str | Arg]) -> tuple[ShellValue, ...] | None:
    """Words as the arguments of a function or script; None if their number is not known."""
    if any(isinstance(word, Arg) and (word.splits or word.pattern) for word in words):
        return None
    return tuple(map(as_value, words))


# ---------------------------------------------------------------- texts


def nested(walk: Walk, text: str, job: ShellJob, shell: str = "") -> Pair:
    """Walk a text that a command runs, in the job's state; everything in it is placed at the command."""
    state = job.state
    if not walk.enter():
        return state, state
    outer = walk.text, walk.span, walk.stdin, walk.zsh, walk.shell
    span = walk.span or (job.start, job.end)
    walk.steps += len(text) >> 3  # reading it is work too
    walk.step()
    reading = read(text)
    walk.text, walk.span = text, span
    walk.stdin = job.stdin if _is_one(reading.script, text) else job.stdin.shared()
    if shell:
        walk.zsh = not has(shell, "bash-like")  # ksh and its kin evaluate numbers too
        walk.shell = shell
    for code, _, advice in reading.gaps:
        walk.gap(code, advice)
    for code, advice in dialects.doubts(reading.script, text, walk.shell, walk.zsh):
        walk.gap(code, advice)
    out = _script(walk, reading.script, job)
    walk.text, walk.span, walk.stdin, walk.zsh, walk.shell = outer
    walk.depth -= 1
    return out


def _is_one(script: Script, text: str) -> bool:
    """Whether only the last command of a text may read its input."""
    if _SUBSTITUTES.search(text):
        return False
    *before, last = script.commands or (None,)
    quiet = all(type(each) is Simple and each.words and each.words[0].text in _READ_NOTHING for each in before)
    return quiet and type(last) in (Simple, Pipeline) and "&" not in script.joins


def _script(walk: Walk, script: Script, job: ShellJob) -> Pair:
    place, walk.place = walk.place, job.place
    forfeit = job.state.forfeit
    job.state.forfeit = job.forfeit or forfeit
    out = walk.script(script, job.state)
    for state in out:
        if state is not None and not forfeit and state.forfeit == job.forfeit:
            state.forfeit = forfeit
    walk.place = place
    return out


def evaluated(walk: Walk, found: ShellValue, state: ShellState) -> None:
    """Visit the substitutions in a value that is expanded again, whether or not they run."""
    for text in found.values or ():
        if _LIVE.search(text) and walk.enter():
            outer, span = walk.text, walk.span
            text = f": {text}"
            walk.steps += len(text) >> 3  # reading it is work too
            walk.step()
            reading = read(text)
            walk.text, walk.span = text, span or walk.at
            for command in reading.script.commands:
                _words(walk, command, state.fork())
            walk.text, walk.span = outer, span
            walk.depth -= 1


def _words(walk: Walk, command: Command, state: ShellState) -> None:
    if type(command) is Pipeline:
        for member in command.commands:
            _words(walk, member, state)
    elif type(command) is Simple:
        for word in command.words:
            expand(walk, word, state)
        for assignment in command.assignments:
            assign.assigned(walk, assignment, state)
        for redirect in command.redirects:
            value(walk, redirect.target, state)


def alias(walk: Walk, text: str, job: ShellJob) -> Pair:
    """An alias with this text may be in force: walk it with the words after it."""
    tail = " ".join(word if isinstance(word, str) else word.text for word in job.argv[1:])
    inner = job.inner(job.argv)
    inner.state = job.state.fork()
    inner.state._own()
    inner.state.aliases.pop(str(job.argv[0]), None)
    return nested(walk, f"{text} {_quoted(job.argv[1:])}" if tail else text, inner)


def _quoted(words: list[str | Arg] | tuple[str | Arg, ...]) -> str:
    return " ".join("'" + word.replace("'", "'\\''") + "'" if isinstance(word, str) else '"$unknown"' for word in words)


# ---------------------------------------------------------------- functions


def call(walk: Walk, name: str, body: Body, job: ShellJob) -> Pair:
    state = job.state
    walk.record(job, CommandEffects(), ())
    deep = [forks for called, forks in walk.stack if called == name]
    if deep and walk.forks > deep[-1]:
        where = walk.where(job.start, job.end)
        walk.effects.append(Effect(Operation.EXECUTE, Target(Kind.PROGRAM, name), where, dangers=("fork-bomb",)))
        return state, state
    if len(deep) >= MOST_RECURSION or not walk.enter():
        walk.gap("gap.shell.recursion", f"`{name}` calls itself: write the steps out", job.start, job.end)
        state.blur()
        return state, state
    walk.stack.append((name, walk.forks))
    walk.escapes.append(("call", []))
    out: ShellState | None = None
    for command in body.commands:
        out = join(out, _body(walk, command, job))
    for left in walk.escapes.pop()[1]:
        out = join(out, _returned(walk, left, job.state, None))
    walk.stack.pop()
    walk.depth -= 1
    return out, out


def _body(walk: Walk, command: Command, job: ShellJob) -> ShellState | None:
    state = job.state.fork()
    saved, state.saved = state.saved, {}
    state.positional = positional(job.argv[1:])
    if walk.files:  # where the function was defined
        state.save_local("BASH_SOURCE")
        state.set("BASH_SOURCE", walk.sources.get(id(command)) or UNKNOWN)
    for name, given in job.env:
        state.save_local(name)
        state.set(name, given)
        state.passed |= {name}
        if name == "IFS":
            state.split = given.values == USUAL_SPLIT
    forfeit = state.forfeit
    state.forfeit = job.forfeit or forfeit
    stdin, walk.stdin = walk.stdin, job.stdin
    after = join(*walk.command(command, state))
    walk.stdin = stdin
    if after is None:
        return None
    if after.forfeit == job.forfeit:
        after.forfeit = forfeit
    return _returned(walk, after, job.state, saved)


def _returned(
    walk: Walk, after: ShellState, before: ShellState, saved: dict[str, ShellValue | None] | None
) -> ShellState:
    """The state after a call: the function's local names are restored, for traps too."""
    after = after.fork()
    for name in after.saved or ():
        walk.writes[name] = walk.writes.get(name, 0) + 1
    after.restore(saved if saved is not None else before.saved)
    after.positional = before.positional
    return after


# ---------------------------------------------------------------- traps


def trap(walk: Walk, text: str, job: ShellJob, ends: bool) -> None:
    """A trap may run at any later moment: it is walked at the end, with what is then still certain. `ends`: it runs
    only when the shell exits."""
    span = walk.span or (job.start, job.end)
    walk.traps.append((text, job.state.fork(), dict(walk.writes), walk.moves, span, ends))


def _define_all(walk: Walk, state: ShellState) -> None:
    """Any function or alias that was defined may exist when a trap runs, with any arguments."""
    state.positional = None
    for name, bodies in walk.bodies.items():
        state.possible(name, bodies)
    for name, texts in walk.texts.items():
        for text in texts:
            state.alias(name, text)


def run_traps(walk: Walk) -> None:
    for place in range(MOST_TRAPS):  # a trap may set traps
        if place >= len(walk.traps):
            return
        text, state, writes, moves, span, ends = walk.traps[place]
        written = [name for name, count in walk.writes.items() if writes.get(name, 0) != count]
        state.lastpipe = state.lastpipe or "shopt lastpipe" in written
        state.integers = state.integers or "declare -i" in written
        for name in written:
            state.set(name, UNKNOWN)
            if environment.changes(name, None):
                state.forfeit = environment.reason(name, state.forfeit)
        if walk.moves != moves:
            state.cwds = ("",)
        _define_all(walk, state)
        before, writes = state.fork(), dict(walk.writes)
        job = ShellJob((), state, walk.stdin, 0, span[0], span[1], text)
        outer, walk.span = walk.span, span
        for after in nested(walk, text, job):
            quiet = (
                writes == walk.writes and changed(before, after) == [] and before.cwds == after.cwds if after else True
            )
            if not ends and not quiet:
                walk.gap("gap.shell.unmodelled", "a trap changes the shell between its commands: write the steps out")
        walk.span = outer
    walk.gap("gap.shell.limit", "there are too many traps to be read")
