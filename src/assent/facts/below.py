"""A bounded walk below a folder: the links that lead out of it, and the names in it.

A program that follows links can leave the folder, so a folder confines nothing."""

from __future__ import annotations

import errno
import os

from assent.contract import Below
from assent.facts.links import Links

MOST_ENTRIES = 100_000  # names that are read for one call
MOST_LEADING = 1_000  # links that lead out of a folder
# System trees: everybody may read their files, and no user can make links in them.
SYSTEM = (
    *("/usr/", "/bin/", "/sbin/", "/lib/", "/lib32/", "/lib64/", "/opt/", "/nix/store/", "/snap/", "/gnu/store/"),
    *("/System/", "/Library/Developer/", "/Applications/"),
)
_PROCESSES = ("/proc/", "/dev/")
_NOBODYS = frozenset({errno.ELOOP, errno.EACCES, errno.ENOENT, errno.ENOTDIR})


class Budget:
    """How many names may still be read for a call. `names`: return them in addition to the links."""

    __slots__ = ("left", "names")

    def __init__(self, *, names: bool) -> None:
        self.left = MOST_ENTRIES
        self.names = names


def below(root: str, links: Links, budget: Budget) -> Below:
    """The links and names below an absolute path. A complete walk is cached within one moment."""
    key = ("below", root, budget.names)
    found = links.known(key)
    if found is None:
        found = _TreeWalk(links, budget).look(root)
        if found.whole:
            links.note(key, found)
    assert isinstance(found, Below)
    return found


def fixed(pattern: str) -> str:
    """The folder that holds all matches of a shell glob."""
    for index, letter in enumerate(pattern):
        if letter in "*?[@!+({\\":
            return pattern[: pattern.rfind("/", 0, index)] or "/"
    return pattern


class _TreeWalk:
    __slots__ = ("_budget", "_given", "_links", "_seen", "_waiting", "leads", "linked", "names", "whole")

    def __init__(self, links: Links, budget: Budget) -> None:
        self._links = links
        self._budget = budget
        self._given = links.given()
        self._seen: set[str] = set()
        self._waiting: list[str] = []
        self.leads: dict[str, bool] = {}
        self.names: list[str] = []
        self.whole = True
        self.linked = False

    def look(self, root: str) -> Below:
        first = self._links.canonical(root)
        if not first or (first + "/").startswith(_PROCESSES):
            return Below(whole=False)
        if first == "/" and self._given is None:  # has all processes below it, and more names than are read
            return Below(whole=False, linked=True)
        self.linked = first != root
        self._enter(first)
        while self._waiting and self.whole:
            folder = self._waiting.pop()
            if self._given is None:
                self._scan(folder, first)
            else:
                self._take(folder, first)
        return Below(
            leads=tuple(self.leads.items()),
            names=tuple(self.names) if self._budget.names else (),
            whole=self.whole,
            listed=self.whole and self._given is None,
            linked=self.linked,
        )

    def _enter(self, folder: str) -> None:
        if folder not in self._seen:
            self._seen.add(folder)
            self._waiting.append(folder)

    def _take(self, folder: str, root: str) -> None:
        start = folder.rstrip("/") + "/"
        for path in self._given or ():
            if path.startswith(start):
                self._link(path, root)

    def _scan(self, folder: str, root: str) -> None:
        budget, wanted = self._budget, self._budget.names
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    budget.left -= 1
                    if budget.left < 0:
                        self.whole = False
                        return
                    if entry.is_symlink():
                        self._link(entry.path, root)
                    elif entry.is_dir(follow_symlinks=False):
                        self._enter(entry.path)
                    if wanted:
                        self.names.append(entry.path)
        except OSError as error:
            if error.errno not in _NOBODYS:  # the call cannot read what cannot be opened here
                self.whole = False

    def _link(self, path: str, root: str) -> None:
        self.linked = True
        leads = self._links.canonical(path)
        if not leads:
            self.whole = self.whole and not self._is_open(path)
            return
        if leads == root or leads.startswith(root.rstrip("/") + "/") or leads in self.leads:
            return
        folder = self._given is not None or os.path.isdir(leads)
        self.leads[leads] = folder
        if len(self.leads) > MOST_LEADING or (folder and (leads + "/").startswith(_PROCESSES)):
            self.whole = False
        elif folder and not leads.startswith(SYSTEM):
            self._enter(leads)

    def _is_open(self, path: str) -> bool:
        """Whether a link that cannot be resolved opens something."""
        if self._given is not None:
            return True
        try:
            os.stat(path)
        except OSError as error:
            return error.errno not in _NOBODYS
        except ValueError:
            pass
        return True
