"""What a call does: operations on targets, the commands that do them, and gaps where that is not certain."""

from __future__ import annotations

from assent.contract.enums import READ_ONLY, Kind, Operation, Via
from assent.contract.value import Value

# In the name of a SETTINGS target: the program takes another file where the one that follows is missing.
OR_ANOTHER = "\0?{}\0"


FOLLOWING = READ_ONLY | {Operation.WRITE}


class Target(Value):
    """The thing an operation is done to.

    `name` is what rules compare: an absolute lexical path, a host, a program, a tool. `""` is a target
    that could not be named. `text` is how the call wrote it. `pattern` says that a path's name is a shell
    glob. `under` are folders that an unnamed path is known to lie in. `certain` is false where the name is
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


class Effect(Value):
    """An operation on a target, and where in the call it came from.

    `invocation` is the index of the shell command it belongs to, -1 for native tools. `recursive`: everything
    below the target too. `lossless`: a DELETE after which nothing is gone: it was moved, or is an empty folder.
    `dangers` are ids of shipped dangers that the reading itself saw (`remote-code`). `stays`: links below the target,
    or among the names that it stands for, are not followed. `visible`: what is below a hidden name is left out.
    An EXECUTE effect on a REPOSITORY target falls away where facts prove that repository harmless; a WRITE effect on
    one (git's own store: the index, a ref) is then a write in the workspace, and else EXECUTE. EXECUTE on HOOKS (those
    of a folder's repository, `refs:/folder`) and on MODULES (what an interpreter loads from a folder in place of its
    own library; `pure:/folder` for code that only computes) falls away where facts prove that there are none. EXECUTE
    on SETTINGS (files that the program obeys) falls away where facts prove that none of them is there. EXECUTE
    on a TREE (`checkout main:/folder`) is a write of the files that facts say git would change, where they can."""

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
        self, *, invocation: int | None = None, dangers: tuple[str, ...] | None = None, stays: bool | None = None
    ) -> Effect:
        return Effect(
            self.operation,
            self.target,
            self.where,
            invocation=self.invocation if invocation is None else invocation,
            via=self.via,
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
    places in `words` of options that no table describes, or that run, load, remove or reach something: a rule that is
    shipped or was saved from an answer covers them only where it spells them itself. `unknown` are the words that are
    not known and may be a subcommand: their places, what they begin with, whether they may be options or several."""

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


class Gap(Value):
    """Something that could not be analysed. `code` is a stable dotted id under `gap.`."""

    __slots__ = ("code", "where", "advice", "text")

    def __init__(self, code: str, where: str = "", advice: str = "", text: str = "") -> None:
        self.code = code
        self.where = where
        self.advice = advice
        self.text = text


class Lowering(Value):
    """Everything a call does, as far as it can be analysed.

    `tool` is the call's tool by its canonical name. `inert` says that the call is known and does nothing that
    needs judging. `text` is the raw shell text, for deny rules that span operators. `possible` is what it may do
    besides, with some values of words that are not known: a person is asked where a rule matches that."""

    __slots__ = ("tool", "effects", "invocations", "gaps", "inert", "text", "possible")

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
    ) -> None:
        self.tool = tool
        self.effects = effects
        self.invocations = invocations
        self.gaps = gaps
        self.inert = inert
        self.text = text
        self.possible = possible
