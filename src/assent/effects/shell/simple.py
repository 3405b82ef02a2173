"""Simple commands: expands their words and resolves the first to an alias, function, builtin or program.

Builtins are in `builtins`, programs in `programs`."""

from __future__ import annotations

from assent.contract import Effect, Kind, Operation, Target
from assent.effects.shell import flows, programs
from assent.effects.shell.command import Arg, CommandEffects
from assent.effects.shell.flows import Stream
from assent.effects.shell.record import ShellJob, Walk
from assent.effects.shell.state import Pair, ShellState, either, join
from assent.effects.shell.tree import Literal, Simple
from assent.effects.shell.words import expand

_NO_GUESSES: tuple[str, ...] = ()
DECLARERS = frozenset(("export", "declare", "local", "readonly", "typeset"))
_PREFIXES = frozenset(("noglob", "nocorrect", "-"))
# Assignments before these persist in a POSIX shell. `eval` handles it itself.
_SPECIAL = frozenset(
    (":", ".", "break", "continue", "exec", "exit", "return", "set", "shift", "source", "times", "trap", "unset")
)


def visit(walk: Walk, node: Simple, state: ShellState) -> Pair:
    walk.step()
    walk.at = (node.start, node.end)
    walk.guesses = _NO_GUESSES
    outer, walk.taint = walk.taint, 0
    argv: list[str | Arg] = []
    guesses: tuple[str, ...] = ()
    first = node.words[0].parts[0] if node.words and len(node.words[0].parts) == 1 else None
    if (
        type(first) is Literal
        and first.text in DECLARERS
        and not (first.text in state.functions or first.text in state.aliases)
    ):
        from assent.effects.shell import assign

        out = assign.declaration(walk, node, first.text, state)
        walk.taint |= outer
        return out
    for word in node.words:
        parts = word.parts
        if len(parts) == 1 and type(parts[0]) is Literal and parts[0].text[:1] != "=":
            argv.append(parts[0].text)
        else:
            argv += expand(walk, word, state)
            if word is node.words[0]:
                guesses = walk.guesses
    if not argv:
        out = _bare(walk, node, state)
        walk.taint = outer
        return out
    stdin = walk.stdin
    plumbing = None
    if node.redirects:
        from assent.effects.shell import redirects

        plumbing = redirects.plumb(walk, node.redirects, state)
        stdin = plumbing.stdin or stdin
    job = ShellJob(argv, state, stdin, walk.taint, node.start, node.end, walk.text[node.start : node.end])
    job.plumbing = plumbing
    job.place = walk.place
    job.guesses = guesses
    if node.assignments:
        _environment(walk, node, job)
    out = run(walk, job)
    walk.taint = outer
    return out


def _bare(walk: Walk, node: Simple, state: ShellState) -> Pair:
    """Assignments without a command apply to the shell itself, and to the redirections after them."""
    if node.assignments:
        from assent.effects.shell import assign

        for assignment in node.assignments:
            assign.assignment(walk, assignment, state)
    if node.redirects:
        from assent.effects.shell import redirects

        plumbing = redirects.plumb(walk, node.redirects, state)
        if walk.zsh and (state.get("NULLCMD") is not None or state.get("READNULLCMD") is not None):
            walk.gap("gap.shell.zsh", "zsh runs `$NULLCMD` here: write out the command", node.start, node.end)
        walk.redirected(plumbing, -1)
        if walk.sink is not None and plumbing.stdin is not None:
            walk.sink.append(Stream(None, plumbing.stdin.taint))
    return state, state


def _environment(walk: Walk, node: Simple, job: ShellJob) -> None:
    """Assignments before a command: they apply only to it, and to the assignments after them."""
    from assent.effects.shell import assign, environment

    state = job.state
    before = [(assignment.name, state.vars.get(assignment.name)) for assignment in node.assignments[:-1]]
    for place, assignment in enumerate(node.assignments):
        name, found = assign.assigned(walk, assignment, state)
        job.env.append((name, found))
        if place < len(before):
            old = before[place][1]
            state.set(name, found if old is None else either(old, found))
        assign.computes(walk, name, found, job.state)
        if environment.changes(name, found.values) and not (name == "IFS" and job.argv[0] in ("read", "mapfile")):
            job.forfeit = environment.reason(name, job.forfeit)
    for name, old in reversed(before):
        state.reset(name, old)
    if job.argv[0] in _SPECIAL:
        for name, found in job.env:
            walk.assign(name, either(state.get(name), found), state)


# ---------------------------------------------------------------- finding the program


def run(walk: Walk, job: ShellJob) -> Pair:
    """Follow a command to its alias, function, builtin or program."""
    walk.step()
    name = job.argv[0]
    if not isinstance(name, str):
        return _dynamic(walk, job, name)
    if not job.external and (job.state.aliases or job.state.functions):
        other, sure = _redefined(walk, job, name)
        if sure:
            return other
        if other[0] is not None or other[1] is not None:
            return _either(other, _own(walk, job, name))
    return _own(walk, job, name)


def _own(walk: Walk, job: ShellJob, name: str) -> Pair:
    handler = walk.builtin(name, harmless=job.external)
    if walk.code and job.place == "here" and (handler is None or job.external) and "/" not in name:
        found = walk.code.get(f"program:{name}")
        if found is not None:  # another file of that name
            job.argv = (found.text, *job.argv[1:])
            return _program(walk, job, found.text)
    return handler(walk, job) if handler is not None else _program(walk, job, name)


def _program(walk: Walk, job: ShellJob, name: str) -> Pair:
    programs.command(walk, job)
    if name in _PREFIXES and len(job.argv) > 1 and not job.external:
        return within(walk, job.inner(job.argv[1:]))
    return job.state, job.state


def within(walk: Walk, job: ShellJob) -> Pair:
    """Follow a command in the words of another; it may hold another in turn."""
    if not walk.enter():
        return job.state, job.state
    out = run(walk, job)
    walk.leave()
    return out


def _redefined(walk: Walk, job: ShellJob, name: str) -> tuple[Pair, bool]:
    """The effects of the alias or function of that name, and whether it is certainly in force."""
    from assent.effects.shell import calls

    out: Pair = (None, None)
    texts = job.state.aliases.get(name)
    if texts and walk.enter():
        for text in texts:
            out = _either(out, calls.alias(walk, text, job))
        walk.leave()
    body = job.state.functions.get(name)
    if body is None:
        return out, False
    called = calls.call(walk, name, body, job)
    return _either(out, called) if texts else called, body.sure


def _either(a: Pair, b: Pair) -> Pair:
    return join(a[0], b[0]), join(a[1], b[1])


def _dynamic(walk: Walk, job: ShellJob, name: Arg) -> Pair:
    """A program word that is not one known literal: each value it may have is followed, and what is left is a gap."""
    if name.pattern and job.place == "here":
        from assent.effects.shell.code_files import candidates

        name = candidates.settled_word(walk, job, name)
        target = Target(Kind.PROGRAM, "", name.text, certain=False)  # there may be other files when it runs
        walk.effects.append(Effect(Operation.EXECUTE, target, walk.where(job.start, job.end)))
    known = name.values if name.values is not None and not name.pattern else ()
    before = job.state
    out: Pair = (None, None)
    for text in known or job.guesses:
        inner = job.inner((text, *job.argv[1:]))
        inner.state = before.fork()
        out = _either(out, run(walk, inner) if text else (before, before))
    if known and not name.splits:
        if job.plumbing is not None:
            walk.redirected(job.plumbing, -1)
        return out
    walk.gap("gap.shell.dynamic-command", f"write out the program instead of `{name.text}`", job.start, job.end)
    dangers = flows.code_dangers(job.taint)
    effect = Effect(Operation.EXECUTE, Target(Kind.PROGRAM, "", name.text, certain=False), dangers=dangers)
    walk.record(job, CommandEffects(), (effect,))
    if name.splits and len(job.argv) > 1 and not known:
        within(walk, job.inner(job.argv[1:]))
    before.blur()
    return before, before
