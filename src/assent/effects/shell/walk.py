"""A shell text → its effects: visits its tree, one shell's state at a time. Knows no program and no builtin by name.

Every visit of a command returns the state after success and the state after failure; None is a branch that does not
return (`exit`). The two are one object if they do not differ. Catches no faults."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from assent.contract import Code, Effect, Gap, Kind, Lowering, Operation, Target
from assent.effects.shell import flows, simple
from assent.effects.shell.commands import Tables, shipped
from assent.effects.shell.flows import Stream
from assent.effects.shell.record import LimitReached, ShellJob, Walk
from assent.effects.shell.state import UNKNOWN, Pair, ShellState, ShellValue, join
from assent.effects.shell.syntax import read
from assent.effects.shell.tree import (
    Arithmetic,
    ArithmeticCommand,
    CaseCommand,
    Command,
    Conditional,
    Coproc,
    For,
    ForArithmetic,
    Function,
    Group,
    If,
    Loop,
    Pipeline,
    Reading,
    Script,
    Simple,
    Word,
)
from assent.effects.shell.words import value
from assent.programs.traits import has

_REDIRECTABLE = (Group, If, Loop, For, ForArithmetic, CaseCommand)  # with redirections for their content
_HOOKS = frozenset(
    "command_not_found_handle command_not_found_handler chpwd precmd preexec periodic zshexit zshaddhistory".split()
)
NAMES = frozenset(
    """
    . : [ alias bg bind break builtin caller cd chdir command compgen complete compopt continue declare dirs
    disown echo enable eval exec exit export false fc fg getopts hash help history jobs let local logout mapfile
    popd printf pushd pwd read readarray readonly return set shift shopt source suspend test times trap true
    type typeset ulimit umask unalias unset wait
    """.split()
)


def _moved_folder(walk: TreeWalk) -> str:
    """A folder that the call moves while a command runs in it: `..` is unknown there after that."""
    for effect in walk.effects:
        name = effect.target.name
        if effect.operation is not Operation.DELETE or not effect.lossless or not name:
            continue
        first = 0 if walk.jobs else max(effect.invocation, 0)
        if any(f"{cwd}/".startswith(f"{name}/") for command in walk.invocations[first:] for cwd in command.cwds):
            return effect.target.text
    return ""


def _kept(walk: TreeWalk, after: ShellState) -> list[Target]:
    """Changes that persist in a shell that outlives the call: aliases, functions with the names of programs, and
    variables that change what runs."""
    from assent.effects.shell import environment

    names = [*after.aliases]
    names += [name for name in after.functions if name in NAMES or walk.tables.program(name) is not None]
    names += [name for name, found in after.vars.items() if environment.changes(name, found.values)]
    texts = [f"{name}, which later commands of this shell use" for name in dict.fromkeys(names)]
    return [Target(Kind.PROGRAM, "", text) for text in texts]


_last: tuple[str, Reading] | None = None


def _read_once(text: str) -> Reading:
    """The tree of a call's text. A call that runs files of code is lowered again with each round of files."""
    global _last
    known = _last  # another thread may handle another call
    if known is None or known[0] != text:
        known = _last = (text, read(text))
    return known[1]


def lower_text(
    text: str, *, cwd: str, home: str, shell: str, tables: Tables | None, code: Mapping[str, Code] | None
) -> Lowering:
    reading = _read_once(text)
    whole = f"command[0:{len(text)}]"
    walk = TreeWalk(text, home, tables or shipped, shell)
    walk.code = code or {}
    gaps = [Gap(code, f"command[{at}:{at + 1}]", advice) for code, at, advice in reading.gaps]
    if has(shell, "posix-shell") or (walk.zsh and "$" in text):
        from assent.effects.shell import dialects

        gaps += [Gap(code, whole, advice) for code, advice in dialects.doubts(reading.script, text, shell, walk.zsh)]
    folder = cwd if cwd.startswith("/") else ""
    after: ShellState | None = None
    try:
        after = join(*walk.script(reading.script, ShellState((folder,))))
        if walk.traps:
            from assent.effects.shell import calls

            calls.run_traps(walk)
    except LimitReached:
        walk.span = None
        file, advice = walk.files[0] if walk.files else "", "this command is too long to be read as a whole: split it"
        gaps.append(Gap("gap.shell.limit", whole, advice, file=file, within=walk.within))
    gaps += walk.gaps.values()
    if "keeps:" in walk.code and after is not None:
        walk.effects += [Effect(Operation.EXECUTE, target, whole) for target in _kept(walk, after)]
    if moved := _moved_folder(walk):
        advice = "move the folder from outside of it, in a call of its own"
        gaps.append(Gap("gap.shell.moved-folder", whole, advice, moved))
    possible = None
    if walk.unsettled:
        from assent.effects.shell import variants

        possible = variants.lowered(walk, TreeWalk(text, home, tables or shipped, shell))
    return Lowering(
        "bash",
        tuple(walk.effects),
        tuple(walk.invocations),
        tuple(gaps),
        inert=not walk.effects and not gaps and bool(reading.script.commands),
        text=text,
        possible=possible,
        wants=tuple(walk.wants),
        read=tuple((path, walk.code[path].digest) for path in walk.used),
        changing=tuple(walk.changing),
        job=walk.jobs > 0,
        recipes=tuple(walk.recipes),
        manifests=tuple((path, walk.code[path].digest) for path in walk.manifests),
        ends_in=("",) if after is None else () if after.cwds == (folder,) else after.cwds,
        sets=after is None or bool(after.vars or after.exported or after.functions or after.aliases or after.opaque),
    )


class TreeWalk(Walk):
    __slots__ = ()

    # ------------------------------------------------------------ lists and commands

    def script(self, node: Script, state: ShellState) -> Pair:
        """Commands in order. `a && b; c`: a list ends at `;`, a newline or `&`."""
        commands, joins = node.commands, node.joins
        if len(commands) == 1 and joins[:1] != ("&",):
            return self.command(commands[0], state)
        dead = False
        ok: ShellState | None = state
        fail: ShellState | None = state
        place, count = 0, len(commands)
        while place < count:
            end = place
            while end < count - 1 and joins[end] in ("&&", "||"):
                end += 1
            if end < len(joins) and joins[end] == "&":
                self.background(commands, joins, place, end, state)
                ok = fail = state
            else:
                ok, fail = self.chain(commands, joins, place, end, state)
            place = end + 1
            if place < count:
                after = ok if ok is fail else join(ok, fail)
                if after is None:
                    dead = True
                else:
                    state = after
        return (None, None) if dead else (ok, fail)

    def chain(
        self, commands: tuple[Command, ...], joins: tuple[str, ...], place: int, end: int, state: ShellState
    ) -> Pair:
        ok, fail = self.command(commands[place], state)
        for at in range(place + 1, end + 1):
            mark = len(self.sink) if self.sink is not None else 0
            certain = joins[at - 1] == "&&" and fail is None
            if joins[at - 1] == "&&":
                start = ok if ok is not None else state
                if fail is start:
                    fail = start.fork()
                won, lost = self.command(commands[at], start)
                ok, fail = (None if ok is None else won), join(fail, lost)
            else:
                start = fail if fail is not None else state
                if ok is start:
                    ok = start.fork()
                won, lost = self.command(commands[at], start)
                ok, fail = join(ok, won), (None if fail is None else lost)
            if not certain:
                self.doubt_output(mark)
        return ok, fail

    def background(
        self, commands: tuple[Command, ...], joins: tuple[str, ...], place: int, end: int, state: ShellState
    ) -> None:
        self.forks += 1
        self.jobs += 1
        stdin, self.stdin = self.stdin, flows.NOTHING if self.stdin is flows.TERMINAL else self.stdin
        self.chain(commands, joins, place, end, state.fork())
        self.stdin = stdin
        self.forks -= 1

    def command(self, node: Command, state: ShellState) -> Pair:
        if isinstance(node, Simple):
            return simple.visit(self, node, state)
        if not self.enter():
            return state, state
        stdin = self.stdin
        if not isinstance(node, Pipeline):
            self.stdin = stdin.shared()
        if isinstance(node, _REDIRECTABLE) and node.redirects:
            out = self.redirecting(node, state)
        else:
            out = self.visit(node, state)
        self.stdin = stdin
        self.leave()
        return out

    def visit(self, node: Command, state: ShellState) -> Pair:
        """A command that is not simple, without the redirections around it."""
        match node:
            case Pipeline():
                return self.pipeline(node, state)
            case Group():
                if not node.subshell:
                    return self.script(node.body, state)
                self.script(node.body, state.fork())
            case If():
                return self.condition(node, state)
            case CaseCommand():
                return self.case(node, state)
            case Loop() | For() | ForArithmetic():
                from assent.effects.shell import loops

                return loops.visit(self, node, state)
            case ArithmeticCommand() | Conditional():
                self.evaluation(node, state)
            case Function():
                self.function(node, state)
            case Coproc():
                self.forks += 1
                self.jobs += 1
                self.command(node.command, state.fork())
                self.forks -= 1
                self.assign(node.name or "COPROC", UNKNOWN, state)
        return state, state

    # ------------------------------------------------------------ pipelines and groups

    def pipeline(self, node: Pipeline, state: ShellState) -> Pair:
        """Each member is a shell of its own, fed by the one before it."""
        commands = node.commands
        if len(commands) == 1:
            ok, fail = self.command(commands[0], state)
            return (fail, ok) if node.negated else (ok, fail)
        self.forks += 1
        stdin, sink, endless = self.stdin, self.sink, self.endless
        last: Pair = (state, state)
        for place, command in enumerate(commands):
            final = place == len(commands) - 1
            self.sink = sink if final else []
            if place and not isinstance(command, Simple):
                from assent.effects.shell import loops

                self.endless = loops.are_endless(commands[:place])
            last = self.command(command, state.fork())
            if not final:
                self.stdin = flows.together(self.sink or [flows.NOTHING])
        self.stdin = stdin
        self.sink = sink
        self.endless = endless
        self.forks -= 1
        if self.zsh or state.lastpipe:
            after = join(state, join(*last)) or state
            return after, after
        return state, state

    def redirecting(self, node: Group | If | Loop | For | ForArithmetic | CaseCommand, state: ShellState) -> Pair:
        """A compound command with redirections: they apply to everything in it."""
        from assent.effects.shell import redirects

        plumbing = redirects.plumb(self, node.redirects, state)
        self.redirected(plumbing, -1)
        stdin, sink = self.stdin, self.sink
        self.stdin = (plumbing.stdin or stdin).shared()
        self.sink = []
        out = self.visit(node, state)
        printed = flows.together(self.sink) if self.sink else flows.NOTHING
        self.stdin, self.sink = stdin, sink
        for name in plumbing.files:
            if printed.taint & 3 and name:
                self.fetched[name] = self.fetched.get(name, 0) | (printed.taint & 3)
        if sink is not None:
            sink.append(Stream(None, printed.taint) if plumbing.quiet else printed)
        return out

    def condition(self, node: If, state: ShellState) -> Pair:
        """`if`: each body after its condition, each further condition after those that failed."""
        mark = len(self.sink) if self.sink is not None else 0
        out: ShellState | None = None
        rest: ShellState | None = state
        for test, body in node.arms:
            ok, fail = self.script(test, (rest or state).fork())
            if ok is fail and ok is not None:
                fail = ok.fork()
            out = join(out, join(*self.script(body, ok or (rest or state).fork())))
            rest = fail
        if node.otherwise is not None:
            rest = join(*self.script(node.otherwise, (rest or state).fork()))
        out = join(out, rest)
        self.doubt_output(mark)
        return out, out

    def case(self, node: CaseCommand, state: ShellState) -> Pair:
        """Any arm may be taken, or none; `;&` falls into the next."""
        mark = len(self.sink) if self.sink is not None else 0
        value(self, node.word, state)
        out: ShellState | None = state.fork()
        before: ShellState | None = state
        for patterns, body in node.arms:
            for pattern in patterns:
                value(self, pattern, state)
            before = join(*self.script(body, (join(state, before) or state).fork()))
            out = join(out, before)
        self.doubt_output(mark)
        return out, out

    def function(self, node: Function, state: ShellState) -> None:
        """A definition; one that the shell calls by itself is walked at once."""
        if node.name in state.aliases:
            self.gap("gap.shell.unmodelled", "give the function a name that is no alias")
        state.define(node.name, node.body)
        if self.files:
            self.sources[id(node.body)] = state.get("BASH_SOURCE")
        self.bodies[node.name] = (*self.bodies.get(node.name, ()), node.body)
        # ksh calls `x.get` for `$x`
        if node.name in _HOOKS or node.name.startswith("TRAP") or (self.zsh and "." in node.name):
            self.command(node.body, state.fork())

    def evaluation(self, node: ArithmeticCommand | Conditional, state: ShellState) -> None:
        """`((…))` and `[[ … ]]`."""
        from assent.effects.shell import arithmetic, dialects

        if not self.shell and not dialects.does_nothing_in_dash(node, state):
            self.gap("gap.shell.unmodelled", dialects.SH_ADVICE)
        if isinstance(node, ArithmeticCommand):
            arithmetic.evaluate_arithmetic(self, node.expression, state)
        else:
            arithmetic.evaluate_conditional(self, node, state)
        if node.redirects:
            from assent.effects.shell import redirects

            self.redirected(redirects.plumb(self, node.redirects, state), -1)

    # ------------------------------------------------------------ for the modules that this one uses

    def run(self, job: ShellJob) -> Pair:
        return simple.run(self, job)

    def builtin(self, name: str, harmless: bool = False) -> Callable[[Walk, ShellJob], Pair] | None:
        # INVARIANT: a name that is not among these is no builtin (a test compares both lists).
        if name not in NAMES:
            return None
        from assent.effects.shell import builtins

        return (builtins.HARMLESS if harmless else builtins.BUILTINS).get(name)

    def value(self, word: Word, state: ShellState) -> ShellValue:
        return value(self, word, state)

    def arithmetic(self, node: Arithmetic | Word, state: ShellState) -> None:
        from assent.effects.shell import arithmetic

        if isinstance(node, Word):
            arithmetic.evaluate_word(self, node, state)
        else:
            arithmetic.evaluate_arithmetic(self, node, state)

    def evaluated(self, found: ShellValue, state: ShellState) -> None:
        from assent.effects.shell import calls

        calls.evaluated(self, found, state)

    def found_by_task(self, job: ShellJob, name: str) -> list[Effect]:
        from assent.effects.shell.tasks import recipes

        return recipes.found_by_task(self, job, name)

    def assign(self, name: str, found: ShellValue, state: ShellState) -> None:
        from assent.effects.shell import assign

        assign.put(self, name, found, state)
