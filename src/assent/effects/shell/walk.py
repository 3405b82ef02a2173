"""Visits the tree of a shell text, one shell's state at a time. Knows no program and no builtin by name.

Every visit of a command returns the state after it succeeded and the state after it failed; None is a way that does
not come back (`exit`). The two are one object where they do not differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from assent.contract import Effect, Kind, Operation, Target
from assent.effects.paths import normal
from assent.effects.shell import flows, simple
from assent.effects.shell.command import Arg
from assent.effects.shell.commands import Tables
from assent.effects.shell.flows import Stream
from assent.effects.shell.job import ShellJob
from assent.effects.shell.record import WalkRecord
from assent.effects.shell.state import UNKNOWN, Body, ShellState, Val, join
from assent.effects.shell.tree import (
    Arithmetic,
    ArithmeticCommand,
    Assignment,
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
    Part,
    Pipeline,
    ProcessSub,
    Reading,
    Script,
    Simple,
    Word,
)
from assent.effects.shell.words import part_value, value

if TYPE_CHECKING:
    Pair = tuple[ShellState | None, ShellState | None]
    Handler = Callable[["Walk", ShellJob], Pair]


_HOOKS = frozenset(
    "command_not_found_handle command_not_found_handler chpwd precmd preexec periodic zshexit zshaddhistory".split()
)


DECLARERS = frozenset(("export", "declare", "local", "readonly", "typeset"))
NAMES = frozenset(
    """
    . : [ alias bg bind break builtin caller cd chdir command compgen complete compopt continue declare dirs
    disown echo enable eval exec exit export false fc fg getopts hash help history jobs let local logout mapfile
    popd printf pushd pwd read readarray readonly return set shift shopt source suspend test times trap true
    type typeset ulimit umask unalias unset wait
    """.split()
)


class Handlers:
    """The shell's own commands by their names. What they do is loaded with the first that is met."""

    __slots__ = ("_table",)

    def __init__(self, table: str) -> None:
        self._table = table

    def get(self, name: str) -> Handler | None:
        # INVARIANT: a name that is not among these is no command of the shell's own (tests hold both lists together).
        if name not in NAMES:
            return None
        from assent.effects.shell import builtins

        table: dict[str, Handler] = getattr(builtins, self._table)
        return table.get(name)


class Walk(WalkRecord):
    """One walk through one text. `sink` collects what is printed, where someone reads it; `last` is what the last
    process substitution prints, `pipes` what each does, by its path. `stack` are the functions being called.
    `unsettled`: commands with words that are not known. `fetched`: files with code from afar. `bodies` and `texts`:
    every function and alias that was met."""

    __slots__ = (
        "tables",
        "shell",
        "zsh",
        "reader",
        "taint",
        "guesses",
        "sink",
        "stdin",
        "last",
        "pipes",
        "stack",
        "forks",
        "escapes",
        "traps",
        "fetched",
        "writes",
        "moves",
        "bodies",
        "texts",
        "unsettled",
    )

    declarers: ClassVar[frozenset[str]] = DECLARERS
    handlers: ClassVar[Handlers] = Handlers("BUILTINS")
    harmless: ClassVar[Handlers] = Handlers("HARMLESS")

    def __init__(self, text: str, home: str, tables: Tables, shell: str, reader: Callable[[str], Reading]) -> None:
        super().__init__(text, home)
        self.tables = tables
        self.shell = shell
        self.zsh = shell not in ("bash", "sh", "dash")
        self.reader = reader
        self.taint = 0
        self.guesses: tuple[str, ...] = ()
        self.sink: list[Stream] | None = None
        self.stdin = flows.TERMINAL
        self.last = flows.NOTHING
        self.pipes: dict[str, Stream] = {}
        self.stack: list[tuple[str, int]] = []
        self.forks = 0
        self.escapes: list[tuple[bool, list[ShellState]]] = []
        self.traps: list[tuple[str, ShellState, dict[str, int], int, tuple[int, int], bool]] = []
        self.fetched: dict[str, int] = {}
        self.writes: dict[str, int] = {}
        self.moves = 0
        self.bodies: dict[str, tuple[Command, ...]] = {}
        self.texts: dict[str, tuple[str, ...]] = {}
        self.unsettled: list[tuple[tuple[str | Arg, ...], ShellState, int, int]] = []

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
            last = joins[end] if end < len(joins) else ""
            if last == "&":
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
        """One list of `&&` and `||`."""
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
            self.maybe(mark)
        return ok, fail

    def background(
        self, commands: tuple[Command, ...], joins: tuple[str, ...], place: int, end: int, state: ShellState
    ) -> None:
        """`list &`: another shell."""
        self.forks += 1
        stdin, self.stdin = self.stdin, flows.NOTHING if self.stdin is flows.TERMINAL else self.stdin
        self.chain(commands, joins, place, end, state.fork())
        self.stdin = stdin
        self.forks -= 1

    def command(self, node: Command, state: ShellState) -> Pair:
        """Any command."""
        kind = type(node)
        if kind is Simple:
            return simple.visit(self, node, state)  # type: ignore[arg-type]  # its type is checked just above
        if not self.enter():
            return state, state
        stdin = self.stdin
        if kind is not Pipeline:
            self.stdin = stdin.shared()
        out = _VISITS[kind](self, node, state)
        self.stdin = stdin
        self.depth -= 1
        return out

    def maybe(self, mark: int) -> None:
        """What was printed since the mark may not have been."""
        sink = self.sink
        if sink is not None and len(sink) > mark:
            merged = flows.together(sink[mark:])
            del sink[mark:]
            if merged.text != "":
                sink.append(Stream(None, merged.taint, merged.kind, merged.under))

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

    def group(self, node: Group, state: ShellState) -> Pair:
        """`{ …; }` in this shell, `( … )` in another."""
        if not node.redirects:
            if node.subshell:
                self.script(node.body, state.fork())
                return state, state
            return self.script(node.body, state)
        return self.redirecting(node, state, lambda inner: self.group(Group(node.body, node.subshell), inner))

    def redirecting(self, node: Command, state: ShellState, visit: Callable[[ShellState], Pair]) -> Pair:
        """A compound command with redirections: they hold for all that is in it."""
        from assent.effects.shell import redirects

        plumbing = redirects.plumb(self, node.redirects, state)  # type: ignore[union-attr]  # compound commands have them
        self.redirected(plumbing, -1)
        stdin, sink = self.stdin, self.sink
        self.stdin = (plumbing.stdin or stdin).shared()
        self.sink = []
        out = visit(state)
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
        if node.redirects:
            return self.redirecting(node, state, lambda inner: self.condition(If(node.arms, node.otherwise), inner))
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
            out = join(out, join(*self.script(node.otherwise, (rest or state).fork())))
        else:
            out = join(out, rest)
        self.maybe(mark)
        return out, out

    def case(self, node: CaseCommand, state: ShellState) -> Pair:
        """Any arm may be taken, or none; `;&` falls into the next."""
        if node.redirects:
            return self.redirecting(node, state, lambda inner: self.case(CaseCommand(node.word, node.arms), inner))
        mark = len(self.sink) if self.sink is not None else 0
        value(self, node.word, state)
        out: ShellState | None = state.fork()
        before: ShellState | None = state
        for patterns, body in node.arms:
            for pattern in patterns:
                value(self, pattern, state)
            start = join(state, before) or state
            before = join(*self.script(body, start.fork()))
            out = join(out, before)
        self.maybe(mark)
        return out, out

    def function(self, node: Function, state: ShellState) -> Pair:
        """A definition; one that the shell calls by itself is walked at once."""
        if node.name in state.aliases:
            self.gap("gap.shell.unmodelled", "give the function a name that is no alias")
        state.define(node.name, node.body)
        self.bodies[node.name] = (*self.bodies.get(node.name, ()), node.body)
        # ksh calls `x.get` where `$x` stands
        if node.name in _HOOKS or node.name.startswith("TRAP") or (self.zsh and "." in node.name):
            self.command(node.body, state.fork())
        return state, state

    def loop(self, node: Loop, state: ShellState) -> Pair:
        from assent.effects.shell import loops

        return loops.loop(self, node, state)

    def over(self, node: For, state: ShellState) -> Pair:
        from assent.effects.shell import loops

        return loops.over(self, node, state)

    def counted(self, node: ForArithmetic, state: ShellState) -> Pair:
        from assent.effects.shell import loops

        return loops.counted(self, node, state)

    def compute(self, node: ArithmeticCommand, state: ShellState) -> Pair:
        from assent.effects.shell import dialects

        if not self.shell and not dialects.sum_only(node.expression.text, state):
            self.gap("gap.shell.unmodelled", dialects.SH_ADVICE)
        from assent.effects.shell import arithmetic

        arithmetic.evaluate_arithmetic(self, node.expression, state)
        if node.redirects:
            from assent.effects.shell import redirects

            self.redirected(redirects.plumb(self, node.redirects, state), -1)
        return state, state

    def conditional(self, node: Conditional, state: ShellState) -> Pair:
        from assent.effects.shell import dialects

        if not self.shell and not dialects.tests_only(node.words):
            self.gap("gap.shell.unmodelled", dialects.SH_ADVICE)
        from assent.effects.shell import arithmetic

        arithmetic.evaluate_conditional(self, node, state)
        if node.redirects:
            from assent.effects.shell import redirects

            self.redirected(redirects.plumb(self, node.redirects, state), -1)
        return state, state

    def coprocess(self, node: Coproc, state: ShellState) -> Pair:
        self.forks += 1
        self.command(node.command, state.fork())
        self.forks -= 1
        self.assign(node.name or "COPROC", UNKNOWN, state)
        return state, state

    # ------------------------------------------------------------ what words ask for

    def substitute(self, script: Script, state: ShellState) -> Stream:
        """`$(…)`: a shell whose output becomes a word."""
        if not self.enter():
            return flows.UNSEEN
        sink, taint = self.sink, self.taint
        self.sink = []
        self.script(script, state)
        out = flows.together(self.sink) if self.sink else flows.NOTHING
        self.sink, self.taint = sink, taint
        self.depth -= 1
        return out

    def process(self, part: ProcessSub, state: ShellState) -> Val:
        """`<(…)`: another shell, whose output is a file; `>(…)`: one whose input is."""
        stdin = self.stdin
        if part.direction == ">":
            self.stdin = flows.UNSEEN
        printed = self.substitute(part.script, state.fork())
        self.stdin = stdin
        self.last = printed if part.direction == "<" else flows.UNSEEN
        path = f"/dev/fd/{1063 - len(self.pipes)}"
        self.pipes[path] = self.last
        return Val((path,), taint=self.last.taint)

    def value(self, word: Word, state: ShellState) -> Val:
        return value(self, word, state)

    def part(self, part: Part, state: ShellState) -> Val:
        return part_value(self, part, state)

    def arithmetic(self, node: Arithmetic, state: ShellState) -> None:
        from assent.effects.shell import arithmetic

        arithmetic.evaluate_arithmetic(self, node, state)

    def expression(self, word: Word, state: ShellState) -> None:
        """A word that is evaluated as arithmetic."""
        from assent.effects.shell import arithmetic

        arithmetic.evaluate_word(self, word, state)

    def subscript(self, name: str, word: Word, state: ShellState) -> None:
        """`name[word]`: arithmetic, unless the name is known for a map."""
        if word.text in ("@", "*"):
            return
        found = state.get(name)
        if found is not None and found.kind == "map":
            value(self, word, state)
        else:
            from assent.effects.shell import arithmetic

            arithmetic.evaluate_word(self, word, state)

    def evaluated(self, found: Val, state: ShellState) -> None:
        from assent.effects.shell import calls

        calls.evaluated(self, found, state)

    def home_of(self, state: ShellState) -> Val:
        found = state.get("HOME")
        if found is not None:
            return found
        return Val((self.home,)) if self.home else UNKNOWN

    def cwd_of(self, state: ShellState) -> Val:
        """Both readings of a folder that was reached through `..`."""
        if "" in state.cwds:
            return UNKNOWN
        if ".." not in "".join(state.cwds):
            return Val(state.cwds)
        return Val(tuple(dict.fromkeys([*map(normal, state.cwds), *state.cwds])))

    def before(self, state: ShellState) -> Val:
        """The folder before the last `cd`."""
        known = state.old is not None and "" not in state.old and ".." not in "".join(state.old)
        return Val(state.old) if known else UNKNOWN

    # ------------------------------------------------------------ names

    def assign(self, name: str, found: Val, state: ShellState) -> None:
        from assent.effects.shell import assign

        assign.put(self, name, found, state)

    def assignment(self, node: Assignment, state: ShellState) -> None:
        from assent.effects.shell import assign

        assign.assignment(self, node, state)

    def assigned(self, node: Assignment, state: ShellState) -> tuple[str, Val]:
        from assent.effects.shell import assign

        return assign.assigned(self, node, state)

    def computes(self, name: str, found: Val, state: ShellState) -> None:
        from assent.effects.shell import assign

        assign.computes(self, name, found, state)

    def declare(self, node: Simple, name: str, state: ShellState) -> Pair:
        from assent.effects.shell import assign

        return assign.declaration(self, node, name, state)

    # ------------------------------------------------------------ other texts

    def run(self, job: ShellJob) -> Pair:
        return simple.run(self, job)

    def escape(self, state: ShellState, function: bool) -> None:
        """`break`, `continue` and `return`: the state of now is also one after the loop or function."""
        for whole, states in reversed(self.escapes):
            if not any(state.same(other) for other in states):
                states.append(state.fork())
            if whole or not function:
                return

    def nested(self, text: str, job: ShellJob, shell: str = "") -> Pair:
        from assent.effects.shell import calls

        return calls.nested(self, text, job, shell)

    def alias(self, text: str, job: ShellJob) -> Pair:
        from assent.effects.shell import calls

        return calls.alias(self, text, job)

    def call(self, name: str, body: Body, job: ShellJob) -> Pair:
        from assent.effects.shell import calls

        return calls.call(self, name, body, job)

    def positional(self, words: tuple[str | Arg, ...] | list[str | Arg]) -> tuple[Val, ...] | None:
        from assent.effects.shell import calls

        return calls.positional(words)

    def as_value(self, word: str | Arg) -> Val:
        from assent.effects.shell import calls

        return calls.as_value(word)

    def unseen(self, name: str, where: str, *dangers: str) -> None:
        """Code runs that no command shows."""
        self.bare(Effect(Operation.EXECUTE, Target(Kind.PROGRAM, name, certain=bool(name)), where, dangers=dangers))


_VISITS: dict[type, Callable[[Walk, object, ShellState], Pair]] = {
    Pipeline: Walk.pipeline,  # type: ignore[dict-item]  # each is called with its own type only
    Group: Walk.group,  # type: ignore[dict-item]  # as above
    If: Walk.condition,  # type: ignore[dict-item]  # as above
    Loop: Walk.loop,  # type: ignore[dict-item]  # as above
    For: Walk.over,  # type: ignore[dict-item]  # as above
    ForArithmetic: Walk.counted,  # type: ignore[dict-item]  # as above
    CaseCommand: Walk.case,  # type: ignore[dict-item]  # as above
    Function: Walk.function,  # type: ignore[dict-item]  # as above
    ArithmeticCommand: Walk.compute,  # type: ignore[dict-item]  # as above
    Conditional: Walk.conditional,  # type: ignore[dict-item]  # as above
    Coproc: Walk.coprocess,  # type: ignore[dict-item]  # as above
}
