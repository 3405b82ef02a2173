"""The effects of a call: operations on targets, the commands that perform them, and gaps in the analysis."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from assent.contract.enums import READ_ONLY, Kind, Operation, Via
from assent.contract.value import Value

# In the name of a SETTINGS target: the program uses another file if the next one is missing.
OR_ANOTHER = "\0?{}\0"


# The first words of TREE targets with which git discards work, or commits that may be unreachable.
LOSING = frozenset(
    "reset force discard remove clean stash-drop stash-clear branch-delete branch-force tag-delete rebase".split()
)
FOLLOWING = READ_ONLY | {Operation.WRITE}


class Target(Value):
    """The thing an operation is done to.

    `name` is what rules compare: an absolute lexical path, a host, a program, a tool. `""` is a target
    that could not be named. `text` is how the call wrote it. `pattern` says that a path's name is a shell
    glob. `under` are folders that an unnamed path is known to be in. `certain` is false if the name is
    a best guess, good enough to deny and never to allow. `raw` is the absolute path before `..` was collapsed
    (`""`: the same as `name`): the kernel follows links first, so that is what facts resolve."""

    __slots__ = ("kind", "name", "text", "pattern", "under", "certain", "raw")

    def __init__(
        self,
        kind: Kind,
        name: str,
        text: str = "",
        *,
        pattern: bool = False,
        under: tuple[str, ...] = (),
        certain: bool = True,
        raw: str = "",
    ) -> None:
        self.kind = kind
        self.name = name
        self.text = text or name
        self.pattern = pattern
        self.under = under
        self.certain = certain
        self.raw = raw


def loses(target: Target) -> bool:
    """Whether git discards something with this TREE target."""
    return target.name.partition(":")[0].partition(" ")[0] in LOSING


class Effect(Value):
    """An operation on a target, and where in the call it came from.

    `invocation` is the index of the shell command it belongs to, -1 for native tools. `recursive`: everything
    below the target too. `lossless`: a DELETE that loses nothing: of a moved path or an empty folder. `dangers` are ids
    of shipped dangers that reading the call found (`remote-code`). `stays`: links below the target, or among the names
    it matches, are not followed. `visible`: paths below a hidden name are left out.
    An EXECUTE effect on a REPOSITORY target is dropped if facts prove that repository harmless; a WRITE effect on one
    (git's own store: the index, a ref) is then a write in the workspace, and else EXECUTE. EXECUTE on HOOKS (those of a
    folder's repository, `refs:/folder`) and on MODULES (files that an interpreter loads from a folder in place of its
    own library; `pure:/folder` for code that only computes) is dropped if facts prove that there are none. EXECUTE on
    SETTINGS (files that the program obeys) is dropped if facts prove that none of them exists. EXECUTE
    on CODE (a code file that was read, `0:/folder/x.sh`) is dropped if facts prove that this file runs. EXECUTE
    on a TREE (`checkout main:/folder`) is a write of the files that git would change, if facts have them; with a verb
    of LOSING it is a deletion."""

    __slots__ = (
        "operation",
        "target",
        "where",
        "invocation",
        "via",
        "recursive",
        "dangers",
        "lossless",
        "stays",
        "visible",
    )

    def __init__(
        self,
        operation: Operation,
        target: Target,
        where: str = "",
        *,
        invocation: int = -1,
        via: Via = Via.OPERAND,
        recursive: bool = False,
        dangers: tuple[str, ...] = (),
        lossless: bool = False,
        stays: bool = False,
        visible: bool = False,
    ) -> None:
        self.operation = operation
        self.target = target
        self.where = where
        self.invocation = invocation
        self.via = via
        self.recursive = recursive
        self.dangers = dangers
        self.lossless = lossless
        self.stays = stays
        self.visible = visible

    def opens(self) -> tuple[str, ...]:
        """The folders and globs below which the operation may follow links."""
        target = self.target
        if self.stays or target.kind is not Kind.PATH or self.operation not in FOLLOWING:
            return ()
        named = (target.name,) if self.recursive or target.pattern else ()
        return named if target.name else target.under

    def but(
        self,
        *,
        invocation: int | None = None,
        dangers: tuple[str, ...] | None = None,
        stays: bool | None = None,
        via: Via | None = None,
    ) -> Effect:
        return Effect(
            self.operation,
            self.target,
            self.where,
            invocation=self.invocation if invocation is None else invocation,
            via=self.via if via is None else via,
            recursive=self.recursive,
            dangers=self.dangers if dangers is None else dangers,
            lossless=self.lossless,
            stays=self.stays if stays is None else stays,
            visible=self.visible,
        )


class Invocation(Value):
    """One simple shell command after unwrapping, in the forms that rules compare.

    `words` are the program as written and its arguments, quotes resolved; a word that is not one known
    literal is shown as its source. `literal` says that every word is one known literal. `flags` holds every
    spelling of every option given (`-r`, `-R`, `--recursive`), clusters taken apart. `operands` are the words
    that are neither options, their values nor the subcommand. `source` is the command's own text in the call,
    `start` its offset there. `cwds` are the folders it may run in (`""`: not known). `forfeit` is why no allow
    rule may settle it (`""`: none), for example an assignment that changes what the program loads. `strays` are the
    positions in `words` of options that no table describes, or that run, load, remove or reach something: a shipped
    rule, or one saved from an answer, covers them only if it contains them itself. `unknown` are the unknown words that
    may be a subcommand: their positions, prefixes, and whether they may be options or several words. `readings` are all
    possible word lists, if some words are no literals and all their values are known.
    `file` is the code file that contains the command (`""`: it is in the call itself), `within` the index of the
    command that runs that code (-1: none)."""

    __slots__ = (
        "program",
        "words",
        "literal",
        "subcommand",
        "flags",
        "operands",
        "source",
        "start",
        "cwds",
        "forfeit",
        "strays",
        "unknown",
        "readings",
        "file",
        "within",
    )

    def __init__(
        self,
        program: str,
        words: tuple[str, ...],
        *,
        literal: bool = True,
        subcommand: tuple[str, ...] = (),
        flags: frozenset[str] = frozenset(),
        operands: tuple[str, ...] = (),
        source: str = "",
        start: int = 0,
        cwds: tuple[str, ...] = (),
        forfeit: str = "",
        strays: tuple[int, ...] = (),
        unknown: tuple[tuple[int, str, bool], ...] = (),
        readings: tuple[tuple[str, ...], ...] = (),
        file: str = "",
        within: int = -1,
    ) -> None:
        self.program = program
        self.words = words
        self.literal = literal
        self.subcommand = subcommand
        self.flags = flags
        self.operands = operands
        self.source = source
        self.start = start
        self.cwds = cwds
        self.forfeit = forfeit
        self.strays = strays
        self.unknown = unknown
        self.readings = readings
        self.file = file
        self.within = within

    def reading(self, words: tuple[str, ...]) -> Invocation:
        """The same command with the words of one of its readings."""
        shown = dict(zip(self.words, words, strict=True))
        return Invocation(
            self.program,
            words,
            literal=not any(mark in word for word in words for mark in "*?[{$`"),
            subcommand=self.subcommand,
            flags=self.flags,
            operands=tuple(shown.get(each, each) for each in self.operands),
            source=self.source,
            start=self.start,
            cwds=self.cwds,
            forfeit=self.forfeit,
            strays=self.strays,
            file=self.file,
            within=self.within,
        )


class Gap(Value):
    """Something that could not be analysed. `code` is a stable dotted id under `gap.`; `file` and `within` are as in
    Invocation."""

    __slots__ = ("code", "where", "advice", "text", "file", "within")

    def __init__(
        self, code: str, where: str = "", advice: str = "", text: str = "", *, file: str = "", within: int = -1
    ) -> None:
        self.code = code
        self.where = where
        self.advice = advice
        self.text = text
        self.file = file
        self.within = within


class Code(Value):
    """A code file that was read: its `text`, and the `digest` of that. `problem` is why there is no text (`""`: there
    is one): `absent`, `binary`, `long` or `unreadable`."""

    __slots__ = ("text", "digest", "problem")

    def __init__(self, text: str = "", digest: str = "", problem: str = "") -> None:
        self.text = text
        self.digest = digest
        self.problem = problem


class Arguments(Value):
    """The arguments of a call, for the conditions of rules. `only_reads` returns whether a text is SQL that is proved
    to only read; `annotations`: as in Call."""

    __slots__ = ("given", "only_reads", "annotations")

    def __init__(
        self,
        given: Mapping[str, object],
        only_reads: Callable[[str], bool],
        annotations: Mapping[str, bool] | None = None,
    ) -> None:
        self.given = given
        self.only_reads = only_reads
        self.annotations = annotations or {}

    def __hash__(self) -> int:
        return hash(tuple(self.given))

    def __repr__(self) -> str:
        return f"Arguments({dict(self.given)!r})"


class Lowering(Value):
    """Everything a call does, as far as it can be analysed.

    `tool` is the call's tool by its canonical name. `inert` says that the call is known and does nothing that
    needs judging. `text` is the raw shell text, for deny rules that span operators. `possible` are more effects that
    depend on unknown words: a person is asked if a rule matches one. `wants` are code files that it runs and that were
    not read yet, `read` those that were, with the digests of their texts, `changing` those that other code may change
    before they run. `job`: it starts a process that may outlive it. `recipes` are the tasks of the project that it
    runs: the index of the command, the manifest, a digest of the steps, and whether the steps are the whole task (else
    the digest is of the whole manifest). `manifests` are all files that were read for tasks, with the digests of their
    texts. `ends_in` are the folders that the shell may be in afterwards, if it left the first one (`""`: not known);
    `sets`: it then has other variables, functions or aliases. `given` are the call's arguments (None: not known, or not
    needed by any rule)."""

    __slots__ = (
        "tool",
        "effects",
        "invocations",
        "gaps",
        "inert",
        "text",
        "possible",
        "wants",
        "read",
        "changing",
        "job",
        "recipes",
        "manifests",
        "ends_in",
        "sets",
        "given",
    )

    def __init__(
        self,
        tool: str,
        effects: tuple[Effect, ...] = (),
        invocations: tuple[Invocation, ...] = (),
        gaps: tuple[Gap, ...] = (),
        *,
        inert: bool = False,
        text: str = "",
        possible: Lowering | None = None,
        wants: tuple[str, ...] = (),
        read: tuple[tuple[str, str], ...] = (),
        changing: tuple[str, ...] = (),
        job: bool = False,
        recipes: tuple[tuple[int, str, str, bool], ...] = (),
        manifests: tuple[tuple[str, str], ...] = (),
        ends_in: tuple[str, ...] = (),
        sets: bool = False,
        given: Arguments | None = None,
    ) -> None:
        self.tool = tool
        self.effects = effects
        self.invocations = invocations
        self.gaps = gaps
        self.inert = inert
        self.text = text
        self.possible = possible
        self.wants = wants
        self.read = read
        self.changing = changing
        self.job = job
        self.recipes = recipes
        self.manifests = manifests
        self.ends_in = ends_in
        self.sets = sets
        self.given = given

    def called_with(self, given: Arguments) -> Lowering:
        return Lowering(
            self.tool,
            self.effects,
            self.invocations,
            self.gaps,
            inert=self.inert,
            text=self.text,
            possible=self.possible,
            wants=self.wants,
            read=self.read,
            changing=self.changing,
            job=self.job,
            recipes=self.recipes,
            manifests=self.manifests,
            ends_in=self.ends_in,
            sets=self.sets,
            given=given,
        )

    def runners(self, index: int) -> list[int]:
        """The index of a command, and of those whose code contains it, the outermost last."""
        found = []
        while index >= 0:
            found.append(index)
            index = self.invocations[index].within
        return found

    def has_own_gaps(self) -> bool:
        """Whether something in the call itself could not be read, apart from code that it runs."""
        return any(gap.within < 0 for gap in self.gaps)
