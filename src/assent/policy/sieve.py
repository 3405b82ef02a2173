"""Tells at once that no floor, deny or ask rule can speak of a part of a call: most parts are of that sort.

INVARIANT: what it lets by, no rule reaches. What it holds back is looked at rule by rule. Matches nothing itself."""

from __future__ import annotations

from bisect import bisect_left

from assent.contract.memory import keep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from assent.policy.index import CommandIndex, PathIndex

REMEMBERED = 1024  # folders; a session works in a few


class PathSieve:
    """The folders and names that path rules are filed under, of all layers together."""

    __slots__ = ("_layers", "_folders", "_sorted", "_names", "_heads", "_tails", "_all", "_known")

    def __init__(self, layers: Iterable[PathIndex]) -> None:
        self._layers = tuple(layers)
        self._folders: set[str] = set()
        self._names: set[str] = set()
        self._heads: set[str] = set()
        self._tails: set[str] = set()
        self._all = False
        self._known: dict[str, bool] = {}
        for index in self._layers:
            folders, names, heads, tails = index.keys()
            self._folders.update(folders)
            self._names.update(names)
            self._heads.update(heads)
            self._tails.update(tails)
            self._all = self._all or index.reaches_all()
        self._sorted = sorted(self._folders)

    def holds(self, path: str) -> bool:
        """Whether a rule may speak of the path, or of a folder above it."""
        cut = path.rfind("/")
        folder, name = path[:cut], path[cut + 1 :]
        known = self._known.get(folder)
        if known is None:
            known = self._look(folder)
        return known or self._names_one(name) or path in self._folders

    def holds_below(self, folder: str) -> bool:
        """Whether a rule may speak of something below the folder, by a place that is written out that far."""
        start = folder.rstrip("/") + "/"
        place = bisect_left(self._sorted, start)
        return place < len(self._sorted) and self._sorted[place].startswith(start)

    def _look(self, folder: str) -> bool:
        """As `holds`, of a folder: asked once for all that lies in it."""
        found = self._all or any(map(self._names_one, folder.split("/")))
        found = found or any(index.opens(folder) for index in self._layers)
        keep(self._known, folder, found, REMEMBERED)
        return found

    def _names_one(self, name: str) -> bool:
        return name in self._names or name[:3] in self._heads or name[-3:] in self._tails


class CommandSieve:
    """The programs that command rules are filed under, of all layers together."""

    __slots__ = ("_programs", "_all", "spans")

    def __init__(self, layers: Iterable[CommandIndex]) -> None:
        self._programs: set[str] = set()
        self._all = False
        self.spans = False
        for index in layers:
            self._programs.update(index.programs())
            self._all = self._all or index.reaches_all()
            self.spans = self.spans or index.spans

    def holds(self, program: str) -> bool:
        """Whether a rule may speak of a command of that program."""
        return self._all or program in self._programs
