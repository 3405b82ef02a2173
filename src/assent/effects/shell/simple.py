"""Simple commands: their words expanded, their program found, what it does put on record, what it runs followed.

Builtins are in `builtins`, what programs do in `commands`; this is the way between them."""

from __future__ import annotations

import re

from assent.contract.effect import READ_ONLY, Effect, Kind, Operation, Target
from assent.effects.shell import environment, flows
from assent.effects.shell.command import Arg, Sight
from assent.effects.shell.commands import see
from assent.effects.shell.commands.readers.shells import shell_reads_stdin
from assent.effects.shell.flows import Stream
from assent.effects.shell.redirects import Plumbing, plumb
from assent.effects.shell.state import DECODED, FETCHED, State, Val, join
from assent.effects.shell.tree import Literal
from assent.effects.shell.words import expand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from assent.effects.shell.command import Run
    from assent.effects.shell.tree import Simple
    from assent.effects.shell.walk import Walk

    Pair = tuple[State | None, State | None]

EXECUTE, WRITE, FETCH, READ = Operation.EXECUTE, Operation.WRITE, Operation.FETCH, Operation.READ
_PLACES = frozenset((EXECUTE, FETCH))
_INDIRECT = frozenset(("xargs", "parallel"))
_MOVES = frozenset("ln mv tar bsdtar unzip cp rsync git 7z cpio ditto link patch mount unrar gunzip install".split())
_GIT_MOVES = frozenset(
    "checkout switch pull merge rebase clone stash reset restore apply am cherry-pick revert worktree submodule".split()
)
_NOWHERE = ("",)
_QUOTES = re.compile(r"[\"'\\]")
_PREFIXES = frozenset(("noglob", "nocorrect", "-"))


class Job:
    """One simple command, its words expanded, in the shell that runs it.

    `external`: no function, alias or state of this shell is in its way. `place`: as in Run. `env`: assignments
    before it. `guesses`: programs that an unknown one may be. `forfeit`: why it may not be what it seems.
    `plumbing`: its redirections."""

    __slots__ = (
        "argv",
        "state",
        "stdin",
        "taint",
        "start",
        "end",
        "source",
        "env",
        "forfeit",
        "guesses",
        "external",
        "place",
        "plumbing",
    )

    def __init__(
        self,
        argv: list[str | Arg] | tuple[str | Arg, ...],
        state: State,
        stdin: Stream,
        taint: int,
        start: int,
        end: int,
        source: str,
    ) -> None:
        self.argv = argv
        self.state = state
        self.stdin = stdin
        self.taint = taint
        self.start = start
        self.end = end
        self.source = source
        self.env: list[tuple[str, Val]] = []
        self.forfeit = state.forfeit
        self.guesses: tuple[str, ...] = ()
        self.external = False
        self.place = "here"
        self.plumbing: Plumbing | None = None

    def inner(self, argv: list[str | Arg] | tuple[str | Arg, ...]) -> Job:
        """A command that this one starts, without its redirections."""
        new = Job(argv, self.state, self.stdin, self.taint, self.start, self.end, self.source)
        new.forfeit = self.forfeit
        new.external = self.external
        new.place = self.place
        new.env = self.env
        return new


def visit(walk: Walk, node: Simple, state: State) -> Pair:
    """Walk a simple command."""
    walk.step()
    walk.at = (node.start, node.end)
    walk.guesses = ()
    outer, walk.taint = walk.taint, 0
    argv: list[str | Arg] = []
    guesses: tuple[str, ...] = ()
    first = node.words[0].parts[0] if node.words and len(node.words[0].parts) == 1 else None
    if type(first) is Literal and first.text in walk.declarers and first.text not in state.functions:
        out = walk.declare(node, first.text, state)
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
    stdin = walk.stdin
    plumbing = None
    if node.redirects:
        plumbing = plumb(walk, node.redirects, state)
        stdin = plumbing.stdin or stdin
    if not argv:
        out = _bare(walk, node, state, plumbing)
        walk.taint = outer
        return out
    job = Job(argv, state, stdin, walk.taint, node.start, node.end, walk.text[node.start : node.end])
    job.plumbing = plumbing
    job.place = walk.place
    job.guesses = guesses
    if node.assignments:
        _environment(walk, node, job)
    out = run(walk, job)
    walk.taint = outer
    return out


def _bare(walk: Walk, node: Simple, state: State, plumbing: Plumbing | None) -> Pair:
    """Assignments and redirections without a command: they hold for the shell itself."""
    for assignment in node.assignments:
        walk.assignment(assignment, state)
    if plumbing is not None:
        walk.redirected(plumbing, -1)
        if walk.sink is not None and plumbing.stdin is not None:
            walk.sink.append(Stream(None, plumbing.stdin.taint))
    return state, state


def _environment(walk: Walk, node: Simple, job: Job) -> None:
    """Assignments before a command: they hold for it alone."""
    for assignment in node.assignments:
        name, found = walk.assigned(assignment, job.state)
        job.env.append((name, found))
        job.taint |= found.taint
        walk.computes(name, found, job.state)
        if environment.changes(name, found.values) and not (name == "IFS" and job.argv[0] in ("read", "mapfile")):
            job.forfeit = job.forfeit or environment.reason(name)


# ---------------------------------------------------------------- finding the program


def run(walk: Walk, job: Job) -> Pair:
    """Follow a command to its alias, function, builtin or program."""
    walk.step()
    name = job.argv[0]
    if not isinstance(name, str):
        return _dynamic(walk, job, name)
    if job.external:
        handler = walk.harmless.get(name)
    else:
        state = job.state
        if state.aliases or state.functions:
            other, sure = _redefined(walk, job, name)
            if sure:
                return other
            if other[0] is not None or other[1] is not None:
                return _either(other, _own(walk, job, name))
        handler = walk.handlers.get(name)
    if handler is not None:
        return handler(walk, job)
    return _program(walk, job, name)


def _own(walk: Walk, job: Job, name: str) -> Pair:
    """A command by its own name."""
    handler = walk.handlers.get(name)
    return handler(walk, job) if handler is not None else _program(walk, job, name)


def _program(walk: Walk, job: Job, name: str) -> Pair:
    command(walk, job)
    if name in _PREFIXES and len(job.argv) > 1 and not job.external:
        return run(walk, job.inner(job.argv[1:]))
    return job.state, job.state


def _redefined(walk: Walk, job: Job, name: str) -> tuple[Pair, bool]:
    """What the alias or function of that name does, and whether it is certainly in force."""
    out: Pair = (None, None)
    texts = job.state.aliases.get(name)
    if texts and walk.enter():
        for text in texts:
            out = _either(out, walk.alias(text, job))
        walk.leave()
    body = job.state.functions.get(name)
    if body is None:
        return out, False
    called = walk.call(name, body, job)
    return _either(out, called) if texts else called, body.sure


def _either(a: Pair, b: Pair) -> Pair:
    return join(a[0], b[0]), join(a[1], b[1])


def _dynamic(walk: Walk, job: Job, name: Arg) -> Pair:
    """A program word that is not one known literal: each value it may have is followed, and what is left is a gap."""
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
    effect = Effect(EXECUTE, Target(Kind.PROGRAM, "", name.text, certain=False), dangers=dangers)
    walk.record(job, Sight(), (effect,))
    if name.splits and len(job.argv) > 1 and not known:
        run(walk, job.inner(job.argv[1:]))
    before.blur()
    return before, before


def command(walk: Walk, job: Job) -> None:
    """A program, judged by the tables, in each folder that the shell may stand in."""
    name = job.argv[0]
    assert isinstance(name, str)
    argv = tuple(job.argv)
    base = name.rpartition("/")[2] if "/" in name else name
    cwds = job.state.cwds if job.place == "here" else _NOWHERE
    stdin = _incoming(job.stdin, argv, cwds) if base in _INDIRECT else None
    kind = flows.family(base)
    told = flows.inline(kind, base, argv, job.stdin) if kind and job.stdin.text is not None else argv
    sight = see(told, cwd=cwds[0], home=walk.home, tables=walk.tables, stdin=stdin)
    effects = sight.effects
    if len(cwds) > 1:
        more = [see(told, cwd=cwd, home=walk.home, tables=walk.tables, stdin=stdin).effects for cwd in cwds[1:]]
        effects = tuple(dict.fromkeys([*effects, *(effect for found in more for effect in found)]))
    fetches = False
    for effect in effects:
        if effect.operation is FETCH:
            fetches = True
    if kind or fetches or walk.fetched:
        effects = _endangered(walk, job, base, kind, effects)
    walk.record(job, sight, effects)
    if base in _MOVES:
        walk.moved.update(moved_by(job, base, effects))
    for code, advice in sight.gaps:
        code = code if code.startswith("gap.shell.") else "gap.shell." + code[4:]
        walk.gap(code, advice, job.start, job.end)
    stream = None
    if walk.sink is not None or fetches or walk.fetched or (job.plumbing is not None and job.plumbing.files):
        stream = _printed(walk, job, base, effects, sight)
    if sight.runs:
        follow(walk, job, base, sight.runs)
    elif kind == "shell" and shell_reads_stdin(argv):
        _script_from_stdin(walk, job, base, argv)
    if stream is not None and walk.sink is not None:
        walk.sink.append(stream)


def _incoming(stdin: Stream, argv: tuple[str | Arg, ...], cwds: tuple[str, ...]) -> Arg | None:
    """What standard input is worth as words of another command: whole lines, where they replace a mark."""
    if stdin is flows.TERMINAL and "" not in cwds:
        return Arg("<terminal>", kind="paths", under=cwds)  # no name comes, so every one that does lies here
    if stdin.text is not None and not _QUOTES.search(stdin.text):
        lines = any(isinstance(word, str) and word.startswith(("-I", "-i", "--replace", "-L")) for word in argv)
        words = tuple(stdin.text.split("\n") if lines else stdin.text.split())[:64]
        words = tuple(word for word in words if word)
        return Arg(stdin.text.strip(), words or ("",))
    if stdin.kind in ("paths", "names"):
        return Arg("<stdin>", kind=stdin.kind, under=stdin.under)
    return None


def _endangered(walk: Walk, job: Job, base: str, kind: str, effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """The effects with the dangers that lie in where the data of this command comes from."""
    code: tuple[str, ...] = ()
    out: tuple[str, ...] = ()
    args = job.argv[1:]
    if kind:
        source = flows.code_from(kind, args)
        taint = job.stdin.taint if source == "stdin" else job.taint if source == "args" else 0
        code = flows.code_dangers(taint)
        online = job.plumbing is not None and job.plumbing.online
        if online and kind == "shell":
            code = (*code, "reverse-shell")
    if walk.fetched:
        for effect in effects:
            if effect.target.name in walk.fetched and (
                effect.operation is EXECUTE or (kind and effect.operation is READ)
            ):
                code = code or flows.code_dangers(walk.fetched[effect.target.name])
    if any(effect.operation is FETCH for effect in effects):
        if job.taint or job.stdin.taint:
            out = flows.sends(base, args, job.stdin, job.taint)
        if flows.hands_out_shell(base, args):
            out = (*out, "reverse-shell")
    if not code and not out:
        return effects
    if code and not any(effect.operation is EXECUTE for effect in effects):
        effects = (*effects, Effect(EXECUTE, Target(Kind.PROGRAM, base)))
    return tuple(
        endangered(effect, code if effect.operation is EXECUTE else out) if effect.operation in _PLACES else effect
        for effect in effects
    )


def endangered(effect: Effect, dangers: tuple[str, ...]) -> Effect:
    """The effect with more dangers."""
    if not dangers:
        return effect
    return Effect(
        effect.operation,
        effect.target,
        effect.where,
        invocation=effect.invocation,
        via=effect.via,
        recursive=effect.recursive,
        dangers=tuple(dict.fromkeys((*effect.dangers, *dangers))),
    )


def _printed(walk: Walk, job: Job, base: str, effects: tuple[Effect, ...], sight: Sight) -> Stream:
    """What a program prints, and what that makes of the files that it or its redirections write."""
    stream = flows.output(base, job.argv[1:], effects, sight, job.stdin, job.taint)
    for effect in effects:
        if effect.operation is READ and effect.target.name in walk.fetched:
            stream = Stream(None, stream.taint | walk.fetched[effect.target.name])
    if stream.taint & (FETCHED | DECODED):
        bits = stream.taint & (FETCHED | DECODED)
        names = [effect.target.name for effect in effects if effect.operation is WRITE]
        names += job.plumbing.files if job.plumbing is not None else []
        for name in names:
            if name:
                walk.fetched[name] = walk.fetched.get(name, 0) | bits
    if job.plumbing is not None and job.plumbing.quiet:
        return Stream(None, stream.taint)
    return stream


# ---------------------------------------------------------------- what a command runs in turn


def follow(walk: Walk, job: Job, base: str, runs: tuple[Run, ...]) -> None:
    """Walk the commands that a command starts."""
    if not walk.enter():
        return
    sink, walk.sink = walk.sink, None
    for found in runs:
        walk.step()
        place = "elsewhere" if "elsewhere" in (found.place, job.place) else "here"
        state = job.state.child() if place == "here" else State(("",))
        if place == "here":
            for name, given in job.env:
                state.set(name, given)
                state.export(name)
        else:
            state.opaque = False
        if found.cwd is not None:
            state.cwds = (found.cwd,)
        state.positional = None
        if found.script is not None:
            state.positional = walk.positional(found.positional[1:])
            if found.positional:
                state.set("0", walk.as_value(found.positional[0]))
            inner = job.inner(job.argv)
            inner.state = state
            inner.place = place
            walk.nested(found.script, inner, found.shell)
        elif found.argv:
            inner = job.inner(found.argv)
            inner.state = state
            inner.external = True
            inner.place = place
            if base in _INDIRECT:
                inner.taint |= job.stdin.taint
            if base == "env":
                inner.env = []
            run(walk, inner)
    walk.sink = sink
    walk.leave()


def _script_from_stdin(walk: Walk, job: Job, base: str, argv: tuple[str | Arg, ...]) -> None:
    """A shell that runs what its input holds: known text is walked, the rest is a gap."""
    text = job.stdin.text
    if job.stdin is flows.TERMINAL:
        return
    if text is None:
        walk.gap("gap.shell.stdin-script", "give the shell a script that can be read", job.start, job.end)
        return
    if not walk.enter():
        return
    inner = job.inner(argv)
    inner.state = job.state.child()
    for name, given in job.env:
        inner.state.set(name, given)
        inner.state.export(name)
    inner.stdin = flows.UNSEEN
    sink, walk.sink = walk.sink, None
    walk.nested(text, inner, base)
    walk.sink = sink
    walk.leave()


def proves_nothing(effects: tuple[Effect, ...]) -> bool:
    """Whether all effects are read-only, so that a changed environment has to be said apart."""
    return all(effect.operation in READ_ONLY for effect in effects)


def moved_by(job: Job, base: str, effects: tuple[Effect, ...]) -> list[str]:
    """Paths that a command may put links or other files at, so that facts of them are out of date after it."""
    if base not in _MOVES:
        return []
    if base == "git":
        return list(job.state.cwds) if any(word in _GIT_MOVES for word in job.argv[1:4]) else []
    return [
        effect.target.name
        for effect in effects
        if effect.operation is WRITE
        and effect.target.kind is Kind.PATH
        and (effect.recursive or base not in ("cp", "install", "rsync"))
    ]
