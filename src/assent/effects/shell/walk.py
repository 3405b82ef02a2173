"""A shell text → what it does: visits its tree, one shell's state at a time. Knows no program and no builtin by name.

Every visit of a command returns the state after it succeeded and the state after it failed; None is a way that does
not come back (`exit`). The two are one object where they do not differ. Has no net: a fault comes out of it."""

from __future__ import annotations

from collections.abc import Callable

from assent.contract import Gap, Lowering
from assent.effects.shell import flows, simple
from assent.effects.shell.commands import Tables, shipped
from assent.effects.shell.flows import Stream
from assent.effects.shell.record import LimitReached, ShellJob, Walk
from assent.effects.shell.state import UNKNOWN, Pair, ShellState, Val, join
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
    Script,
    Simple,
    Word,
)
from assent.effects.shell.words import value
from assent.programs.traits import has

_REDIRECTABLE = (Group, If, Loop, For, ForArithmetic, CaseCommand)  # around all that is in them
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


def lower_text(text: str, *, cwd: str, home: str, shell: str, tables: Tables | None) -> Lowering:
    reading = read(text)
    whole = f"command[0:{len(text)}]"
    walk = TreeWalk(text, home, tables or shipped, shell)
    gaps = [Gap(code, f"command[{at}:{at + 1}]", advice) for code, at, advice in reading.gaps]
    if has(shell, "posix-shell") or (walk.zsh and "$" in text):
        from assent.effects.shell import dialects

        gaps += [Gap(code, whole, advice) for code, advice in dialects.doubts(reading.script, text, shell, walk.zsh)]
    try:
        walk.script(reading.script, ShellState((cwd if cwd.startswith("/") else "",)))
        if walk.traps:
            from assent.effects.shell import calls

            calls.run_traps(walk)
    except LimitReached:
        walk.span = None
        gaps.append(Gap("gap.shell.limit", whole, "this command is too long to be read as a whole: split it"))
    gaps += walk.gaps.values()
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
            self.doubt_output(mark)
        return ok, fail

    def background(
        self, commands: tuple[Command, ...], joins: tuple[str, ...], place: int, end: int, state: ShellState
    ) -> None:
        self.forks += 1
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
        stdin, sink = self.stdin, self.sink
        last: Pair = (state, state)
        for place, command in enumerate(commands):
            final = place == len(commands) - 1
            self.sink = sink if final else []
            last = self.command(command, state.fork())
            if not final:
                self.stdin = flows.together(self.sink or [flows.NOTHING])
        self.stdin = stdin
        self.sink = sink
        self.forks -= 1
        if self.zsh or state.lastpipe:
            after = join(state, join(*last)) or state
            return after, after
        return state, state

    def redirecting(self, node: Group | If | Loop | For | ForArithmetic | CaseCommand, state: ShellState) -> Pair:
        """A compound command with redirections: they hold for all that is in it."""
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
        """`if`: each body after its condition, each next condition after those that failed."""
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
        self.bodies[node.name] = (*self.bodies.get(node.name, ()), node.body)
        # ksh calls `x.get` where `$x` stands
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
        # INVARIANT: a name that is not among these is no command of the shell's own (tests hold both lists together).
        if name not in NAMES:
            return None
        from assent.effects.shell import builtins

        return (builtins.HARMLESS if harmless else builtins.BUILTINS).get(name)

    def value(self, word: Word, state: ShellState) -> Val:
        return value(self, word, state)

    def arithmetic(self, node: Arithmetic | Word, state: ShellState) -> None:
        from assent.effects.shell import arithmetic

        if isinstance(node, Word):
            arithmetic.evaluate_word(self, node, state)
        else:
            arithmetic.evaluate_arithmetic(self, node, state)

    def evaluated(self, found: Val, state: ShellState) -> None:
        from assent.effects.shell import calls

        calls.evaluated(self, found, state)

    def assign(self, name: str, found: Val, state: ShellState) -> None:
        from assent.effects.shell import assign

        assign.put(self, name, found, state)
