"""The compiled policy: the mode and the rules of every layer, bound to a workspace, and a prefilter for paths."""

from __future__ import annotations

from collections.abc import Iterable

from assent.contract import keep
from assent.policy.globs import PathGlob
from assent.policy.index import PathIndex
from assent.policy.modes import Mode
from assent.policy.rules import Rule
from assent.policy.ruleset import RuleSet


class Policy:
    """`paths` tells which paths no floor, deny or ask rule can match. `seeks`: there are rules on reading files
    that are not shipped."""

    __slots__ = ("mode", "floor", "deny", "ask", "allow", "paths", "seeks")

    def __init__(
        self,
        mode: Mode,
        floor: RuleSet,
        deny: RuleSet,
        ask: RuleSet,
        allow: RuleSet,
        *,
        paths: PathPrefilter | None = None,
        seeks: bool = True,
    ) -> None:
        self.mode = mode
        self.floor = floor
        self.deny = deny
        self.ask = ask
        self.allow = allow
        self.seeks = seeks
        self.paths = paths or PathPrefilter.over(rules.paths for rules in (floor, deny, ask))


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
    """The folders and names that path rules are filed under, of all layers together.

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
        """As `holds`, for a folder: computed once for all paths in it."""
        found = self.all or any(map(self._names_one, folder.split("/"))) or self._opens(folder)
        keep(self._known, folder, found, REMEMBERED)
        return found

    def _opens(self, folder: str) -> bool:
        """Whether a rule that is filed under a folder above this one may match it, or something in it."""
        at = folder.rfind("/")
        while at > 0:
            if any(PathGlob(text).opens(folder) for text in self.folders.get(folder[:at], ())):
                return True
            at = folder.rfind("/", 0, at)
        return False

    def _near(self, path: str) -> bool:
        """The same for a path directly in a folder that rules are filed under."""
        found = self._close.get(path)
        if found is None:
            found = any(PathGlob(text).opens(path) for text in self.folders[path[: path.rfind("/")]])
            keep(self._close, path, found, REMEMBERED)
        return found

    def _names_one(self, name: str) -> bool:
        ends = name[-3:] in self.tails or name[name.rfind(".") :] in self.tails
        return ends or name in self.names or name[:3] in self.heads
