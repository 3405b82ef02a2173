"""The record of a walk: invocations, effects and gaps as they are found, and the limits. Visits nothing."""

from __future__ import annotations

from collections.abc import Sequence

from assent.contract import Effect, Gap, Invocation, Kind, Operation, Target, Via
from assent.effects.shell.command import FIRM, Arg, CommandEffects
from assent.effects.shell.job import ShellJob
from assent.effects.shell.redirects import Plumbing
from assent.effects.shell.tree import Arithmetic, Part
from assent.programs.traits import has

MOST_STEPS = 20_000
MOST_INVOCATIONS = 2_000
DEEPEST = 40

EXECUTE = Operation.EXECUTE
# Programs of others that git runs as subcommands, before it looks for an alias of that name.
_GIT_OTHERS = frozenset(
    "absorb annex branchless cliff crypt delta flow imerge machete review revise spice town".split()
)
_GIT_VALUES = frozenset("-C -c --git-dir --work-tree --namespace --config-env --attr-source".split())
NOWHERE = ("",)  # a folder on another machine
_GOES_ALONG = frozenset((Operation.FETCH, Operation.EXECUTE, Operation.DELEGATE))
_SETTLED = frozenset((Kind.REPOSITORY, Kind.HOOKS, Kind.MODULES, Kind.SETTINGS, Kind.TREE))


class LimitReached(Exception):
    """A limit is reached: what was seen so far stands, and a gap says that there is more."""


class WalkRecord:
    """`text` is what is being read now, `span` the place of the outermost command that it comes from (None: it is
    the call's own text), `at` that of the command being visited. `moved` are paths that an earlier part may have put
    something else at. `place`: as in Run."""

    __slots__ = ("text", "home", "effects", "invocations", "gaps", "steps", "depth", "span", "at", "moved", "place")

    def __init__(self, text: str, home: str) -> None:
        self.text = text
        self.home = home
        self.effects: list[Effect] = []
        self.invocations: list[Invocation] = []
        self.gaps: dict[tuple[str, str], Gap] = {}
        self.steps = 0
        self.depth = 0
        self.span: tuple[int, int] | None = None
        self.at = (0, len(text))
        self.moved: set[str] = set()
        self.place = "here"

    # ------------------------------------------------------------ limits

    def step(self) -> None:
        """Count a piece of work; too many end the walk."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise LimitReached

    def enter(self) -> bool:
        """Go one level deeper; False where that is too deep, which is a gap."""
        if self.depth >= DEEPEST:
            self.gap("gap.shell.limit", "this is nested too deep to be read: split the command")
            return False
        self.depth += 1
        return True

    def leave(self) -> None:
        self.depth -= 1

    # ------------------------------------------------------------ places

    def where(self, start: int, end: int) -> str:
        """A place in the call's own text."""
        if self.span is not None:
            start, end = self.span
        return f"command[{start}:{end}]"

    def shown(self, part: Part) -> str:
        """An expansion as it is written."""
        start, end = getattr(part, "start", 0), getattr(part, "end", 0)
        if end > start:
            return self.text[start:end]
        if type(part) is Arithmetic:
            return f"$(({part.text}))"
        name = getattr(part, "name", "")
        return f"${name}" if name else "$(…)"

    # ------------------------------------------------------------ the record

    def gap(self, code: str, advice: str, start: int = -1, end: int = -1) -> None:
        """Something that could not be settled."""
        if start < 0:
            start, end = self.at
        where = self.where(start, end)
        self.gaps.setdefault((code, where), Gap(code, where, advice, self.text[start:end][:200]))

    def record(self, job: ShellJob, sight: CommandEffects, effects: tuple[Effect, ...]) -> int:
        """Put a command with its effects and redirections on record; return its index."""
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
                subcommand=sight.subcommand,
                flags=sight.flags,
                operands=sight.operands,
                source=job.source,
                start=start,
                cwds=job.state.cwds if job.place == "here" else NOWHERE,
                forfeit=job.forfeit,
                strays=sight.strays,
                unknown=_open_words(job, program, sight, words is job.argv),
            )
        )
        where = f"command[{start}:{end}]"
        if job.place != "here":
            effects = _elsewhere(effects)
        if job.forfeit and not _runs(effects):
            effects = (*effects, Effect(EXECUTE, Target(Kind.PROGRAM, program)))
        moved = self.moved
        for effect in effects:
            target = self.doubted(effect.target) if moved else effect.target
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
            self.redirected(job.plumbing, index)
        return index

    def redirected(self, plumbing: Plumbing, index: int) -> None:
        """Put the effects of redirections on record."""
        for operation, target, dangers, where in plumbing.effects:
            if self.place != "here" and operation not in _GOES_ALONG and not dangers:
                continue
            if self.moved:
                target = self.doubted(target)
            self.effects.append(Effect(operation, target, where, invocation=index, via=Via.REDIRECT, dangers=dangers))

    def doubted(self, target: Target) -> Target:
        """A path at or below one that an earlier part may have put something else at is only a guess."""
        if target.kind is not Kind.PATH or not target.certain:
            return target
        if not self.overtaken(target.name):
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

    def overtaken(self, name: str) -> bool:
        """Whether a path is at or below one that an earlier part may have put something else at."""
        moved = self.moved
        if name in moved or "" in moved or "/" in moved:
            return True
        place = name.rfind("/")
        while place > 0:
            if name[:place] in moved:
                return True
            place = name.rfind("/", 0, place)
        return False

    def bare(self, effect: Effect) -> None:
        """Put an effect on record that belongs to no command."""
        self.effects.append(effect)


def alias_open(
    argv: list[str | Arg] | tuple[str | Arg, ...], program: str, sight: CommandEffects
) -> tuple[str | Arg, ...]:
    """The words of a command, with a subcommand that no table has as a word that is not known: an alias of git's may
    be any, and npm and Mercurial take the beginning of one for it."""
    if has(program, "own-aliases") and not sight.subcommand:
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


def _open_words(job: ShellJob, program: str, sight: CommandEffects, literal: bool) -> tuple[tuple[int, str, bool], ...]:
    if literal and (sight.subcommand or not has(program, "own-aliases")):
        return ()
    return _unknown(alias_open(job.argv, program, sight))


def _unknown(argv: list[str | Arg] | tuple[str | Arg, ...]) -> tuple[tuple[int, str, bool], ...]:
    """The words that may be a subcommand, or several words and options, with what they begin with."""
    return tuple(
        (place, word.prefix, word.splits and word.kind not in FIRM)
        for place, word in enumerate(argv)
        if place and not isinstance(word, str) and (word.kind not in FIRM or word.kind == "word")
    )


def _runs(effects: tuple[Effect, ...]) -> bool:
    """Whether it is said that a command runs code, whatever the host proves."""
    return any(e.operation is EXECUTE and e.target.kind not in _SETTLED for e in effects)


def _elsewhere(effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """On another machine or in a container local paths mean nothing; dangers still do."""
    out = []
    for effect in effects:
        if effect.operation in _GOES_ALONG:
            out.append(effect)
        elif effect.dangers:
            target = effect.target
            guess = Target(target.kind, target.name, target.text, pattern=target.pattern, certain=False)
            out.append(Effect(effect.operation, guess, recursive=effect.recursive, dangers=effect.dangers))
    return tuple(out)


def texts(words: Sequence[str | Arg]) -> Sequence[str]:
    """Words as rules and people see them: the same object where each is a literal."""
    for word in words:
        if type(word) is not str:
            return [word if isinstance(word, str) else word.text for word in words]
    return words  # type: ignore[return-value]  # each was looked at
