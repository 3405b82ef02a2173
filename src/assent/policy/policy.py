"""The compiled policy: mode and rules of every layer, bound to a workspace, with prefilters for paths and commands."""

from __future__ import annotations

from collections.abc import Iterable

from assent.contract import Invocation, Layer, keep
from assent.policy.globs import PathGlob
from assent.policy.index import CommandIndex, PathIndex
from assent.policy.modes import Mode
from assent.policy.rules import Rule
from assent.policy.ruleset import RuleSet


class Policy:
    """`paths` and `commands` are the prefilters for floor, deny and ask rules. `seeks`: a rule on reading files is not
    shipped. `hosts`: rules on hosts, listed when a call first needs them."""

    __slots__ = ("mode", "floor", "deny", "ask", "allow", "paths", "commands", "seeks", "hosts")

    def __init__(
        self,
        mode: Mode,
        floor: RuleSet,
        deny: RuleSet,
        ask: RuleSet,
        allow: RuleSet,
        *,
        paths: PathPrefilter | None = None,
        commands: CommandPrefilter | None = None,
        seeks: bool = True,
    ) -> None:
        self.mode = mode
        self.floor = floor
        self.deny = deny
        self.ask = ask
        self.allow = allow
        self.seeks = seeks
        self.hosts: list[tuple[Rule, Layer]] | None = None
        self.paths = paths or PathPrefilter.over(rules.paths for rules in (floor, deny, ask))
        self.commands = commands or CommandPrefilter.over(rules.commands for rules in (floor, deny, ask))


def compile_policy(
    mode: Mode,
    *,
    floor: Iterable[Rule],
    deny: Iterable[Rule],
    ask: Iterable[Rule],
    allow: Iterable[Rule],
    roots: tuple[str, ...],
    home: str,
    fold: bool = False,
    seeks: bool = True,
) -> Policy:
    """Bind rules to the workspace `roots` and the `home` folder."""
    return Policy(mode, *(RuleSet(rules, roots, home, fold=fold) for rules in (floor, deny, ask, allow)), seeks=seeks)


REMEMBERED = 1024  # folders; a session works in a few


class PathPrefilter:
    """The folders and names of the path rules of all layers.

    `folders` are in order, each with the globs that begin there; `all` says that a rule may match any path."""

    __slots__ = ("folders", "names", "heads", "tails", "all", "_sorted", "_known", "_close")

    def __init__(
        self, folders: dict[str, list[str]], names: set[str], heads: set[str], tails: set[str], all: bool
    ) -> None:
        self.folders = folders
        self.names = names
        self.heads = heads
        self.tails = tails
        self.all = all
        self._sorted = list(folders)
        self._known: dict[str, bool] = {}
        self._close: dict[str, bool] = {}

    @classmethod
    def over(cls, layers: Iterable[PathIndex]) -> PathPrefilter:
        folders: dict[str, list[str]] = {}
        names, heads, tails = set[str](), set[str](), set[str]()
        all = False
        for index in layers:
            opening, *others = index.keys()
            for folder, globs in opening:
                folders.setdefault(folder, []).extend(globs)
            for mine, theirs in zip((names, heads, tails), others, strict=True):
                mine.update(theirs)
            all = all or index.reaches_all()
        return cls(dict(sorted(folders.items())), names, heads, tails, all)

    def holds(self, path: str) -> bool:
        """Whether a rule may match the path, or a folder above it."""
        cut = path.rfind("/")
        folder, name = path[:cut], path[cut + 1 :]
        known = self._known.get(folder)
        if known is None:
            known = self._look(folder)
        return known or self._names_one(name) or path in self.folders or (folder in self.folders and self._near(path))

    def holds_below(self, folder: str) -> bool:
        """Whether a rule has a literal path below the folder."""
        start = folder.rstrip("/") + "/"
        import bisect

        place = bisect.bisect_left(self._sorted, start)
        return place < len(self._sorted) and self._sorted[place].startswith(start)

    def _look(self, folder: str) -> bool:
        """`holds` for a folder, computed once for all paths in it."""
        found = self.all or any(map(self._names_one, folder.split("/"))) or self._opens(folder)
        keep(self._known, folder, found, REMEMBERED)
        return found

    def _opens(self, folder: str) -> bool:
        """Whether a rule filed under a folder above this one may match it, or something in it."""
        at = folder.rfind("/")
        while at > 0:
            if any(PathGlob(text).opens(folder) for text in self.folders.get(folder[:at], ())):
                return True
            at = folder.rfind("/", 0, at)
        return False

    def _near(self, path: str) -> bool:
        """The same for a path directly in a folder that has rules."""
        found = self._close.get(path)
        if found is None:
            found = any(PathGlob(text).opens(path) for text in self.folders[path[: path.rfind("/")]])
            keep(self._close, path, found, REMEMBERED)
        return found

    def _names_one(self, name: str) -> bool:
        ends = name[-3:] in self.tails or name[name.rfind(".") :] in self.tails
        return ends or name in self.names or name[:3] in self.heads


NEEDLES = 8  # texts searched one by one; with more, every command may match


class CommandPrefilter:
    """The programs of the command rules of all layers. Every other rule needs one of `needles` in a command; `all` says
    that a rule may match any command."""

    __slots__ = ("programs", "needles", "all")

    def __init__(self, programs: set[str], needles: list[str], all: bool) -> None:
        self.programs = programs
        self.needles = needles
        self.all = all

    @classmethod
    def over(cls, layers: Iterable[CommandIndex]) -> CommandPrefilter:
        keys = [index.keys() for index in layers]
        needles = _shared(list(dict.fromkeys(text for _, needed, _ in keys for text in needed)))
        many = len(needles) > NEEDLES
        programs = {program for found, _, _ in keys for program in found}
        return cls(programs, [] if many else needles, many or any(all for _, _, all in keys))

    def holds(self, invocation: Invocation) -> bool:
        """Whether a rule may match a command."""
        if self.all or invocation.program in self.programs or self._begins(invocation):
            return True
        texts = (invocation.program, invocation.source, *invocation.words)
        return any(needle in text for needle in self.needles for text in texts)

    def _begins(self, invocation: Invocation) -> bool:
        """Whether the command begins with a program of a rule, in any spelling."""
        program, source = invocation.program, invocation.source
        plain = source.startswith(program) and source[len(program) : len(program) + 1] in ("", " ")
        if plain and invocation.words[:1] == (program,) and " " not in program:
            return False
        starts = [text.split(None, 1)[0] for text in (program, *invocation.words[:1], source) if text.strip()]
        return any(start.rpartition("/")[2] in self.programs for start in starts)


def _shared(needles: list[str]) -> list[str]:
    """A set of texts such that every needle contains one: the needles if they are few, else three letters that many
    share."""
    if len(needles) <= NEEDLES:
        return needles
    grams = {needle: {needle[at : at + 3] for at in range(len(needle) - 2)} for needle in needles}
    found = [needle for needle in needles if not grams[needle]]
    left = [needle for needle in needles if grams[needle]]
    while left and len(found) <= NEEDLES:
        counts: dict[str, int] = {}
        for gram in (gram for needle in left for gram in grams[needle]):
            counts[gram] = counts.get(gram, 0) + 1
        best = min(counts, key=lambda gram: (-counts[gram], gram))
        found.append(best)
        left = [needle for needle in left if best not in grams[needle]]
    return found
