"""Resolves a program named without a folder by the PATH of the command: the folders there that the agent can write, and
their files. Most folders in PATH belong to the system, and cost nothing."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from assent.contract import Effect, Invocation, Kind, Lowering, Operation, Pattern, Target, keep
from assent.programs.traits import has

if TYPE_CHECKING:
    from assent.facts.session_history import SessionHistory

CLOSED, OPEN, RELATIVE, OWN = "closed", "open", "relative", "own"
HELPER = ""  # the key for programs that others start
REMEMBERED = 64  # values of PATH
_SYSTEM = ("/usr/", "/bin/", "/sbin/", "/opt/", "/nix/", "/snap/", "/Library/", "/System/", "/Applications/")
_SCRATCH = ("/tmp/", "/var/tmp/", "/dev/shm/", "/private/tmp/", "/private/var/", "/var/folders/", "/run/user/")
_INSTALLED = Pattern(r".*/(?:node_modules/\.bin|\.?venv/bin|\.nox/[^/]+/bin|\.tox/[^/]+/bin|vendor/bin)")
_known: dict[tuple[str, tuple[str, ...]], tuple[tuple[str, str], ...]] = {}


def folders(path: str, roots: tuple[str, ...], *, portable: bool = False) -> tuple[tuple[str, str], ...]:
    """The folders of PATH up to the last one that the agent can write, each with its kind: `closed` is the system's,
    `open` is in the workspace or a temporary folder, `relative` depends on the cwd, `own` is any other: files there
    that the session did not write are the person's."""
    found = _known.get((path, roots))
    if found is None or portable:
        listed = [(place.rstrip("/") or place, _kind(place, roots, portable)) for place in path.split(":")]
        while listed and listed[-1][1] == CLOSED:
            listed.pop()
        found = tuple(listed)
        if not portable:
            keep(_known, (path, roots), found, REMEMBERED)
    return found


def _kind(place: str, roots: tuple[str, ...], portable: bool) -> str:
    if place[:1] != "/":
        return RELATIVE
    system = f"{place}/".startswith(_SYSTEM)
    real = place if portable or system else os.path.realpath(place)
    for each in dict.fromkeys((place.rstrip("/"), real)):
        if any(f"{each}/".startswith(root.rstrip("/") + "/") for root in roots) or f"{each}/".startswith(_SCRATCH):
            return OWN if _INSTALLED.fullmatch(each) else OPEN
    return CLOSED if system else OWN


def replaced(
    lowering: Lowering,
    searched: tuple[tuple[str, str], ...],
    history: SessionHistory | None,
    given: Collection[str] | None,
) -> dict[str, str]:
    """The replaced programs of a call, each with the file that runs instead: from the workspace or a temporary folder,
    written by the session, or possibly written by the call itself. With `given` files the host is not observed. Under
    HELPER is a file that replaces a program started by others."""
    if given is None and _is_usual(lowering, searched):
        return {}
    search = _Search(lowering, searched, history, given)
    names: dict[str, set[str]] = {}
    starts, shared = False, any(kind in (OPEN, RELATIVE) for _, kind in searched)
    for command in lowering.invocations:
        name = command.words[0] if command.words else ""
        if name and "/" not in name:
            names.setdefault(name, set()).update(command.cwds)
            starts = starts or (shared and not has(name, "starts-nothing"))
    found = {name: file for name, cwds in names.items() if (file := search.file(name, cwds))}
    if starts and (helper := search.helper(lowering.invocations)):
        found[HELPER] = helper
    return found


def _is_usual(lowering: Lowering, searched: tuple[tuple[str, str], ...]) -> bool:
    """Whether all folders but the system's are the person's own and hold none of the programs, and the call writes
    nothing: most calls."""
    own = [folder for folder, kind in searched if kind == OWN]
    if len(own) + sum(kind == CLOSED for _, kind in searched) < len(searched):
        return False
    if any(map(_writes, lowering.effects)):
        return False
    names = {command.words[0] for command in lowering.invocations if command.words}
    return not any(os.access(f"{folder}/{name}", os.F_OK) for name in names if "/" not in name for folder in own)


class _Search:
    """The programs in one call's PATH."""

    __slots__ = ("folders", "history", "given", "writes", "trees")

    def __init__(
        self,
        lowering: Lowering,
        searched: tuple[tuple[str, str], ...],
        history: SessionHistory | None,
        given: Collection[str] | None,
    ) -> None:
        self.folders = searched
        self.history = history
        self.given = given
        self.writes = [each for each in lowering.effects if _writes(each)]
        self.trees = any(each.target.kind is Kind.TREE for each in lowering.effects)

    def file(self, name: str, cwds: Iterable[str]) -> str:
        """The file that runs for a program name; `""` if it is the known one."""
        for folder, kind in self.folders:
            place = f"{folder or '.'}/{name}"
            if kind == CLOSED:
                if self.given is not None or os.access(place, os.F_OK):
                    return ""
            elif kind == RELATIVE:
                if any(not cwd or self.is_there(f"{cwd}/{place}", open=True) for cwd in cwds):
                    return place
            elif kind == OPEN:
                if self.is_there(place, open=True):
                    return place
            elif self.exists(place):
                return place if self.is_own(place) or self.is_written(place, open=False) else ""
            elif self.is_written(place, open=False):
                return place
        return ""

    def is_there(self, place: str, *, open: bool) -> bool:
        return self.exists(place) or self.is_written(place, open=open)

    def exists(self, place: str) -> bool:
        if self.given is not None:
            return os.path.normpath(place) in self.given
        return os.access(place, os.F_OK) and not os.path.isdir(place)

    def is_own(self, place: str) -> bool:
        """Whether the session may have written an existing file."""
        if self.history is None:
            return False
        written, real = self.history.written(), os.path.realpath(place)
        if not written.whole or written.unnamed or {place, real} & written.paths.keys():
            return True
        below = (each.rstrip("/") for each in written.below if each != "/")  # code that ran may have written anywhere
        return any(each.startswith(folder + "/") for folder in below for each in (place, real))

    def is_written(self, place: str, *, open: bool) -> bool:
        """Whether the call itself may write a file. `open`: also by other names of its folder, and by a checkout."""
        if not self.writes and not (open and self.trees):
            return False
        if open and self.trees:
            return True
        names = {os.path.normpath(place)}
        if open and self.given is None:
            names.add(os.path.realpath(place))
        return any(_may_be(each, name, links=open and self.given is None) for each in self.writes for name in names)

    def helper(self, commands: Iterable[Invocation]) -> str:
        """A file of the workspace that replaces a system program."""
        cwds = dict.fromkeys(cwd for command in commands for cwd in command.cwds if cwd)
        for place, (folder, kind) in enumerate(self.folders):
            places = [folder] if kind == OPEN else [f"{cwd}/{folder or '.'}" for cwd in cwds if kind == RELATIVE]
            earlier = [each for each, kind in self.folders[:place] if kind == CLOSED]
            for each in places:
                for name in self.names(each):
                    if not self._is_of_system(name, earlier) and self._is_of_system(name):
                        return f"{each}/{name}"
        return ""

    def names(self, folder: str) -> list[str]:
        """The names in a folder, and those that the call writes there."""
        folder = os.path.normpath(folder)
        found = [path.rpartition("/")[2] for path in self.given or () if path.rpartition("/")[0] == folder]
        if self.given is None:
            try:
                found = os.listdir(folder)
            except OSError:
                found = []
        paths = (each.target.name.rpartition("/") for each in self.writes)
        return [*found, *(name for place, _, name in paths if place == folder)]

    def _is_of_system(self, name: str, among: list[str] | None = None) -> bool:
        if self.given is not None:
            return among is None
        return any(os.access(f"{each}/{name}", os.F_OK) for each in (_USUAL if among is None else among))


_USUAL = ("/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin", "/sbin", "/opt/homebrew/bin")


def _writes(effect: Effect) -> bool:
    kind = effect.target.kind is Kind.PATH
    return kind and effect.operation is Operation.WRITE and "mode-change" not in effect.dangers


def _may_be(effect: Effect, place: str, *, links: bool) -> bool:
    """Whether a write may be to that path, or to a whole folder above it."""
    target: Target = effect.target
    if not target.name:
        return not target.under or any(place.startswith(each.rstrip("/") + "/") for each in target.under)
    if not target.certain:
        return True
    if target.pattern:
        from fnmatch import fnmatchcase  # loads `re`

        return fnmatchcase(place, target.name) or (effect.recursive and fnmatchcase(place, f"{target.name}/*"))
    found = {target.name, os.path.realpath(target.name)} if links else {target.name}
    return place in found or (effect.recursive and any(place.startswith(each.rstrip("/") + "/") for each in found))
