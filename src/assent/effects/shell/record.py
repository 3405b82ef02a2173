"""State shared by the visitors of a shell tree: the current command, its redirections, and the walk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from assent.contract import Code, Effect, Gap, Invocation, Kind, Operation, Pattern, Target, Via
from assent.effects.paths import normal
from assent.effects.shell import flows, readings
from assent.effects.shell.command import FIRM, Arg, CommandEffects
from assent.effects.shell.commands import Tables
from assent.effects.shell.flows import Stream
from assent.effects.shell.state import UNKNOWN, Pair, ShellState, ShellValue
from assent.effects.shell.tree import Arithmetic, Command, Part, Script, Word
from assent.programs.traits import has

MOST_STEPS = 20_000
MOST_INVOCATIONS = 2_000
DEEPEST = 40

EXECUTE = Operation.EXECUTE
# Third-party programs that git runs as subcommands, before it looks for an alias of that name.
_GIT_OTHERS = frozenset(
    "absorb annex branchless cliff crypt delta flow imerge machete review revise spice town".split()
)
_GIT_VALUES = frozenset("-C -c --git-dir --work-tree --namespace --config-env --attr-source".split())
NOWHERE = ("",)  # a folder on another machine
_GOES_ALONG = frozenset((Operation.FETCH, Operation.EXECUTE, Operation.DELEGATE))
_RECURSIVE = ("recursive-delete",)
# Temporary and cache folders on other machines.
_PASSING = Pattern(
    r"/(?:var/)?tmp/[^*?\[]+|/var/cache/(?:apt|apk|yum|dnf)(?:/.*)?|/var/lib/apt/lists(?:/.*)?"
    r"|/(?:[^/]+/)+(?:node_modules|__pycache__|\.pytest_cache|\.mypy_cache|\.ruff_cache|\.npm|\.next)(?:/.*)?"
)
_SETTLED = frozenset((Kind.REPOSITORY, Kind.HOOKS, Kind.MODULES, Kind.SETTINGS, Kind.TREE, Kind.CODE))


class LimitReached(Exception):
    """A limit is reached: what was seen so far is kept, and a gap says that there is more."""


class ShellJob:
    """One simple command, its words expanded, in the shell that runs it.

    `external`: no function, alias or state of this shell affects it. `place`: as in Run. `env`: assignments
    before it. `guesses`: programs that an unknown one may be. `forfeit`: why it may not be what it seems.
    `plumbing`: its redirections. `writes`: its known writes to files."""

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
        "writes",
    )

    def __init__(
        self,
        argv: list[str | Arg] | tuple[str | Arg, ...],
        state: ShellState,
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
        self.env: list[tuple[str, ShellValue]] = []
        self.forfeit = state.forfeit
        self.guesses: tuple[str, ...] = ()
        self.external = False
        self.place = "here"
        self.plumbing: Plumbing | None = None
        self.writes: str | None = None

    def inner(self, argv: list[str | Arg] | tuple[str | Arg, ...]) -> ShellJob:
        """A command that this one starts, without its redirections."""
        new = ShellJob(argv, self.state, self.stdin, self.taint, self.start, self.end, self.source)
        new.forfeit = self.forfeit
        new.external = self.external
        new.place = self.place
        new.env = self.env
        return new


class Plumbing:
    """The redirections of a command.

    `effects`: (operation, target, dangers, where) in order. `stdin`: what it reads, None unchanged. `files`: where
    its output goes, `text` the output if it is known, `appends` whether a file keeps its content. `quiet`: no later
    command reads its output. `online`: tied to the network, `sends` with its output."""

    __slots__ = ("effects", "stdin", "files", "text", "appends", "quiet", "online", "sends", "opened")

    def __init__(self) -> None:
        self.effects: list[tuple[Operation, Target, tuple[str, ...], str]] = []
        self.stdin: Stream | None = None
        self.files: list[str] = []
        self.text: str | None = None
        self.appends = False
        self.quiet = False
        self.online = False
        self.sends = False
        self.opened: list[str] = []


class Walk:
    """One walk through one text: its results, its limits, and its knowledge outside of any shell's state.

    `text` is what is being read now, `span` the place of the outermost command that it comes from (None: it is the
    call's own text), `at` that of the command being visited. `moved` are paths that an earlier part may have
    replaced. `place`: as in Run. `sink` collects output that a command reads; `last` is what the
    last process substitution prints, `pipes` what each does, by its path. `stack` are the functions being called.
    `unsettled`: commands with words that are not known. `fetched`: files with code from the network. `bodies` and
    `texts`: every function and alias that was defined. `code`: files of code that were read, `used` those of them that
    this text runs, `wants` those that it runs and that were not read. `written`: files that the text itself writes, and
    what it writes each time, None if that is not known. `files` are the files of code being walked, the innermost
    last, `within` the index of the command that runs it. `physical`: `cd` may follow links before `..`.
    `changing`: as in Lowering. `tasks`: the tasks being walked, `recipes` every one that was, as in Lowering, `bins`
    the folders that they put before PATH, `manifests` the files that were read for tasks. `sources`: the files in which
    functions were defined, by the `id` of their bodies. `escapes`: what `break` and `return` may leave (`loop`, `call`,
    `file`), with the states then."""

    __slots__ = (
        *("text", "home", "tables", "shell", "zsh", "effects", "invocations", "gaps", "steps", "depth", "span", "at"),
        *("moved", "place", "taint", "guesses", "sink", "stdin", "last", "pipes", "stack", "forks", "escapes", "traps"),
        *("fetched", "writes", "moves", "bodies", "texts", "unsettled"),
        *(
            "code",
            "used",
            "wants",
            "written",
            "files",
            "within",
            "physical",
            "jobs",
            "endless",
            "changing",
            "tasks",
            "recipes",
        ),
        *("bins", "sources", "manifests"),
    )

    def __init__(self, text: str, home: str, tables: Tables, shell: str) -> None:
        self.text = text
        self.home = home
        self.tables = tables
        self.shell = shell
        self.zsh = shell not in ("bash", "sh", "dash")
        self.effects: list[Effect] = []
        self.invocations: list[Invocation] = []
        self.gaps: dict[tuple[str, str], Gap] = {}
        self.steps = 0
        self.depth = 0
        self.span: tuple[int, int] | None = None
        self.at = (0, len(text))
        self.moved: set[str] = set()
        self.place = "here"
        self.taint = 0
        self.guesses: tuple[str, ...] = ()
        self.sink: list[Stream] | None = None
        self.stdin = flows.TERMINAL
        self.last = flows.NOTHING
        self.pipes: dict[str, Stream] = {}
        self.stack: list[tuple[str, int]] = []
        self.forks = 0
        self.jobs = 0  # started in the background so far
        self.endless = False  # whether standard input never ends, as that of `yes | …`
        self.escapes: list[tuple[str, list[ShellState]]] = []
        self.traps: list[tuple[str, ShellState, dict[str, int], int, tuple[int, int], bool]] = []
        self.fetched: dict[str, int] = {}
        self.writes: dict[str, int] = {}
        self.moves = 0
        self.bodies: dict[str, tuple[Command, ...]] = {}
        self.texts: dict[str, tuple[str, ...]] = {}
        self.unsettled: list[tuple[tuple[str | Arg, ...], ShellState, int, int]] = []
        self.code: Mapping[str, Code] = {}
        self.used: dict[str, None] = {}
        self.wants: dict[str, None] = {}
        self.written: dict[str, list[str | None]] = {}
        self.files: list[str] = []
        self.within = -1
        self.physical = False
        self.changing: dict[str, None] = {}
        self.tasks: list[str] = []
        self.recipes: list[tuple[int, str, str, bool]] = []
        self.manifests: dict[str, None] = {}
        self.bins: tuple[str, ...] = ()
        self.sources: dict[int, ShellValue | None] = {}

    # ------------------------------------------------------------ what `walk` implements, for the modules that it uses

    def script(self, node: Script, state: ShellState) -> Pair:
        raise NotImplementedError

    def command(self, node: Command, state: ShellState) -> Pair:
        raise NotImplementedError

    def run(self, job: ShellJob) -> Pair:
        raise NotImplementedError

    def builtin(self, name: str, harmless: bool = False) -> Callable[[Walk, ShellJob], Pair] | None:
        """The shell's own command of that name; with `harmless`, only one that behaves like the program."""
        raise NotImplementedError

    def value(self, word: Word, state: ShellState) -> ShellValue:
        raise NotImplementedError

    def arithmetic(self, node: Arithmetic | Word, state: ShellState) -> None:
        raise NotImplementedError

    def evaluated(self, found: ShellValue, state: ShellState) -> None:
        """Visit the substitutions in a value that the shell expands again."""
        raise NotImplementedError

    def assign(self, name: str, found: ShellValue, state: ShellState) -> None:
        raise NotImplementedError

    def found_by_task(self, job: ShellJob, name: str) -> list[Effect]:
        """EXECUTE if a command in a task may be, or start, a program of the project with the name of another."""
        raise NotImplementedError

    # ------------------------------------------------------------ limits

    def step(self) -> None:
        """Count a piece of work; too many end the walk."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise LimitReached

    def enter(self) -> bool:
        """Go one level deeper; False if that is too deep, which is a gap."""
        if self.depth >= DEEPEST:
            self.gap("gap.shell.limit", "this is nested too deep to be read: split the command")
            return False
        self.depth += 1
        return True

    def leave(self) -> None:
        self.depth -= 1

    # ------------------------------------------------------------ places

    def where(self, start: int, end: int) -> str:
        if self.span is not None:
            start, end = self.span
        return f"command[{start}:{end}]"

    def never_ends(self) -> None:
        """Note that jobs are started without end."""
        target = Target(Kind.PROGRAM, "", "a loop without end")
        self.effects.append(Effect(Operation.EXECUTE, target, self.where(*self.at), dangers=("fork-bomb",)))

    def shown(self, part: Part) -> str:
        start, end = getattr(part, "start", 0), getattr(part, "end", 0)
        if end > start:
            return self.text[start:end]
        if type(part) is Arithmetic:
            return f"$(({part.text}))"
        name = getattr(part, "name", "")
        return f"${name}" if name else "$(…)"

    # ------------------------------------------------------------ the record

    def gap(self, code: str, advice: str, start: int = -1, end: int = -1) -> None:
        if start < 0:
            start, end = self.at
        where = self.where(start, end)
        file = self.files[-1] if self.files else ""
        found = Gap(code, where, advice, self.text[start:end][:200], file=file, within=self.within)
        self.gaps.setdefault((code, f"{where}{file}"), found)

    def record(self, job: ShellJob, summary: CommandEffects, effects: tuple[Effect, ...]) -> int:
        """Record a command with its effects and redirections; return its index."""
        index = len(self.invocations)
        if index >= MOST_INVOCATIONS:
            raise LimitReached
        words = texts(job.argv)
        first = job.argv[0]
        program = first.rpartition("/")[2] if isinstance(first, str) else ""
        start, end = self.span or (job.start, job.end)
        self.invocations.append(
            Invocation(
                program,
                tuple(words),
                literal=words is job.argv,
                subcommand=summary.subcommand,
                flags=summary.flags,
                operands=summary.operands,
                source=job.source,
                start=start,
                cwds=job.state.cwds if job.place == "here" else NOWHERE,
                forfeit=job.forfeit,
                strays=summary.strays,
                unknown=_open_words(job, program, summary, words is job.argv),
                readings=() if words is job.argv else readings.of(job.argv),
                file=self.files[-1] if self.files else "",
                within=self.within,
            )
        )
        where = f"command[{start}:{end}]"
        if job.place != "here":
            effects = _elsewhere(effects)
        if job.forfeit and not _runs(effects):
            effects = (*effects, Effect(EXECUTE, Target(Kind.PROGRAM, program)))
        if self.bins:
            effects = (*effects, *self.found_by_task(job, words[0]))
        moved = self.moved
        body = job.state.functions.get(program)
        sure = program not in job.state.aliases and (body is None or body.sure)  # else another command may run here
        text = "" if program == "mktemp" else job.writes  # it makes an empty file
        for effect in effects:
            if effect.operation is Operation.WRITE and "mode-change" not in effect.dangers:
                self.written.setdefault(effect.target.name, []).append(text if sure else None)
            target = self.as_guess(effect.target) if moved else effect.target
            self.effects.append(
                Effect(
                    effect.operation,
                    target,
                    where,
                    invocation=index,
                    via=effect.via,
                    recursive=effect.recursive,
                    dangers=effect.dangers,
                    lossless=effect.lossless,
                    stays=effect.stays,
                    visible=effect.visible,
                )
            )
        if job.plumbing is not None:
            job.plumbing.text = job.plumbing.text if sure else None
            self.redirected(job.plumbing, index)
        return index

    def redirected(self, plumbing: Plumbing, index: int) -> None:
        for operation, target, dangers, where in plumbing.effects:
            if self.place != "here" and operation not in _GOES_ALONG and not dangers:
                continue
            if operation is Operation.WRITE:
                known = plumbing.text if target.name in plumbing.files and not plumbing.appends else None
                self.written.setdefault(target.name, []).append(known)
            if self.moved:
                target = self.as_guess(target)
            self.effects.append(Effect(operation, target, where, invocation=index, via=Via.REDIRECT, dangers=dangers))

    def as_guess(self, target: Target) -> Target:
        """A path at or below one that an earlier part may have replaced is only a guess."""
        if target.kind is not Kind.PATH or not target.certain or not self.may_be_replaced(target.name):
            return target
        return Target(
            Kind.PATH,
            target.name,
            target.text,
            pattern=target.pattern,
            under=target.under,
            certain=False,
            raw=target.raw,
        )

    def may_be_replaced(self, name: str) -> bool:
        """Whether a path is at or below one that an earlier part may have replaced."""
        moved = self.moved
        if name in moved or "" in moved or "/" in moved:
            return True
        place = name.rfind("/")
        while place > 0:
            if name[:place] in moved:
                return True
            place = name.rfind("/", 0, place)
        return False

    # ------------------------------------------------------------ what words and builtins ask for

    def subscript(self, name: str, word: Word, state: ShellState) -> None:
        """`name[word]`: arithmetic, unless the name is known to be a map."""
        if word.text in ("@", "*"):
            return
        found = state.get(name)
        if found is not None and found.kind == "map":
            self.value(word, state)
        else:
            self.arithmetic(word, state)

    def home_of(self, state: ShellState) -> ShellValue:
        return state.get("HOME") or (ShellValue((self.home,)) if self.home else UNKNOWN)

    def cwd_of(self, state: ShellState) -> ShellValue:
        """Both readings of a folder that was reached through `..`."""
        if "" in state.cwds:
            return UNKNOWN
        if ".." not in "".join(state.cwds):
            return ShellValue(state.cwds)
        return ShellValue(tuple(dict.fromkeys([*map(normal, state.cwds), *state.cwds])))

    def previous_cwd_of(self, state: ShellState) -> ShellValue:
        known = state.old is not None and "" not in state.old and ".." not in "".join(state.old)
        return ShellValue(state.old) if known else UNKNOWN

    def doubt_output(self, mark: int) -> None:
        """Output since the mark is only possible."""
        sink = self.sink
        if sink is not None and len(sink) > mark:
            merged = flows.together(sink[mark:])
            del sink[mark:]
            if merged.text != "":
                sink.append(Stream(None, merged.taint, merged.kind, merged.under))

    def escape(self, state: ShellState, returns: bool, several: bool) -> None:
        """`break`, `continue` and `return`: the current state is also one after the loop, function or file."""
        for kind, states in reversed(self.escapes):
            if not any(state.same(other) for other in states):
                states.append(state.fork())
            last = returns if kind == "file" else not returns and not several
            if kind == "call" or last:
                return


def alias_open(
    argv: list[str | Arg] | tuple[str | Arg, ...], program: str, summary: CommandEffects
) -> tuple[str | Arg, ...]:
    """The words of a command, with a subcommand that is in no table as an unknown word: a git alias may be any, and npm
    and Mercurial accept abbreviations."""
    if has(program, "own-aliases") and not summary.subcommand:
        skip = False
        for place, word in enumerate(argv[1:], 1):
            if skip or not isinstance(word, str) or word[:1] == "-":
                skip = not skip and word in _GIT_VALUES
                continue
            if program == "git" and word in _GIT_OTHERS:
                break
            known = "" if program == "git" else word
            return (*argv[:place], Arg(word, kind="word", prefix=known), *argv[place + 1 :])
    return tuple(argv)


def _open_words(
    job: ShellJob, program: str, summary: CommandEffects, literal: bool
) -> tuple[tuple[int, str, bool], ...]:
    if literal and (summary.subcommand or not has(program, "own-aliases")):
        return ()
    return tuple(
        (place, word.prefix, word.splits and word.kind not in FIRM)
        for place, word in enumerate(alias_open(job.argv, program, summary))
        if place and not isinstance(word, str) and (word.kind not in FIRM or word.kind == "word")
    )


def _runs(effects: tuple[Effect, ...]) -> bool:
    """Whether a command is known to run code, whatever facts prove."""
    return any(e.operation is EXECUTE and e.target.kind not in _SETTLED for e in effects)


def _elsewhere(effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """On another machine or in a container local paths mean nothing; dangers still count. Temporary and cache folders
    may be deleted there."""
    out = []
    for effect in effects:
        if effect.operation in _GOES_ALONG:
            out.append(effect)
        elif effect.dangers and not (
            effect.dangers == ("recursive-delete",) and _PASSING.fullmatch(effect.target.name)
        ):
            target = effect.target
            guess = Target(target.kind, target.name, target.text, pattern=target.pattern, certain=False)
            out.append(Effect(effect.operation, guess, recursive=effect.recursive, dangers=effect.dangers))
    return tuple(out)


def texts(words: Sequence[str | Arg]) -> Sequence[str]:
    """Words as rules and people see them: the same object if all are literals."""
    for word in words:
        if type(word) is not str:
            return [word if isinstance(word, str) else word.text for word in words]
    return words  # type: ignore[return-value]  # each was looked at
