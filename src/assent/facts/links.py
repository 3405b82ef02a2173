"""Resolves paths: follows links as the kernel does, and finds folders in which names that differ only in case are one
name."""

from __future__ import annotations

import os
import posixpath
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from assent.contract import Pattern, keep

if TYPE_CHECKING:
    T = TypeVar("T")

MAX_PATH = 4096  # PATH_MAX: the kernel refuses a longer path
REMEMBERED = 256  # folders
MAX_LINKS = 40  # the limit of Linux before ELOOP
MOST_LISTED = 512  # names in a folder that are listed to find out which are absent

# In a locale other than UTF-8 a name has other bytes than in the agent's own process.
FOREIGN = sys.getfilesystemencoding() != "utf-8"

_TYPE, _LINK = 0o170000, 0o120000  # S_IFMT and S_IFLNK, spelled out: this is asked of every name of every path

_GONE = "\0"  # it does not exist, so no link can be below it
_DOTS = ("", ".", "..")
_UNKNOWN = ""  # no link target is empty, so this can mean "cannot be resolved"
_ORDINARY = "\0\0"
_SPECIAL = ("/proc/", "/dev/", "/System/Volumes")
_OF_PROCESSES = ("/dev/", "/proc/")
_ALWAYS = {"/System/Volumes/Data": "/"}  # a macOS firmlink: the same folder by a second name, yet no symbolic link

# Links of a process. Assent is not the process that will run the call, so it would read the wrong ones.
_PROCESS = Pattern(
    r"/proc/(?:self|thread-self|\d+)(?:/task/\d+)?(?:/(cwd|root|exe|(?:fd|map_files)(?:/[^/]+)?)(/.*)?)?$"
)
_DESCRIPTOR = Pattern(r"/dev/(?:stdin|stdout|stderr|fd|fd/\d+)$")


class Links:
    """The links of one moment: created for one call, or for several that were all sent before it, and dropped after
    them, so each folder is read once.

    With `given` links the file system is not read: there are no others."""

    __slots__ = ("_given", "_seen", "_paths", "_kept", "_found")

    def __init__(self, given: Mapping[str, str] | None = None) -> None:
        self._given = None if given is None else {source.rstrip("/"): target for source, target in given.items()}
        self._seen: dict[str, str | None] = {}
        self._paths: dict[str, str] = {}
        self._kept: dict[tuple[object, ...], tuple[Any]] = {}
        self._found: dict[str, os.stat_result] = {}

    def once(self, key: tuple[object, ...], compute: Callable[..., T], *given: object) -> T:
        """The cached result of a function in this moment. A key is for one function and its arguments."""
        found = self._kept.get(key)
        if found is None:
            found = self._kept[key] = (compute(*given),)
        return found[0]

    def known(self, key: tuple[object, ...]) -> object:
        """The value that `note` kept in this moment; None if there is none."""
        found = self._kept.get(key)
        return None if found is None else found[0]

    def note(self, key: tuple[object, ...], found: object) -> None:
        self._kept[key] = (found,)

    def given(self) -> Mapping[str, str] | None:
        """The links that were given; None if the file system is read."""
        return self._given

    def is_gone(self, path: str) -> bool:
        """Whether a canonical path that was read does not exist."""
        return self._seen.get(path) == _GONE

    def status(self, path: str) -> os.stat_result | None:
        """The status of what a path leads to; None if nothing is there, or it is out of reach."""
        leads = self.canonical(path)
        found = self._found.get(leads)
        return found if found is not None or self.is_gone(leads) else status(path)

    def note_absent(self, folder: str, names: Iterable[str]) -> None:
        """Note which of some names a canonical folder lacks, by one listing. That costs less than a stat of each of
        many names, most of them absent. A long listing, or a case-insensitive folder, tells nothing."""
        if self._given is not None or _folds(folder):
            return
        try:
            with os.scandir(folder) as entries:
                there = {entry.name for entry, _ in zip(entries, range(MOST_LISTED), strict=False)}
        except OSError:
            return
        if len(there) < MOST_LISTED:
            for name in names:
                if name not in there:
                    self._seen.setdefault(f"{folder}/{name}", _GONE)

    def given_in(self, folder: str) -> list[str] | None:
        """The names of the given links directly in a folder; None if the file system is read."""
        if self._given is None:
            return None
        start = folder.rstrip("/") + "/"
        return [path[len(start) :] for path in self._given if path.startswith(start) and "/" not in path[len(start) :]]

    def canonical(self, path: str) -> str:
        """Return the path that the kernel would open for an absolute path; a missing path keeps its name.

        `""` is a path that cannot be resolved: relative, too long, a loop of links, an unsearchable folder, a link
        that only the running process can read (`/proc/self/cwd`), a name with other bytes in this process's locale,
        or a lone surrogate, which programs encode differently."""
        known = self._paths.get(path)
        if known is not None:
            return known
        if path[:1] != "/" or len(path) > MAX_PATH:
            return ""
        cut = path.rfind("/")
        base = self._paths.get(path[:cut])
        if base is None:
            base = self._paths[path[:cut]] = self._folder(path[:cut])
        found = self._paths[path] = self._entry(base, path[cut + 1 :]) if base else ""
        return found

    def _folder(self, path: str) -> str:
        at = path.rfind("/")
        while at > 0:
            base = self._paths.get(path[:at])
            if base is not None:
                return self._walk(base, path[at + 1 :].split("/")) if base else ""
            at = path.rfind("/", 0, at)
        return path if self._is_plain(path) else self._walk("", path[1:].split("/"))

    def _is_plain(self, path: str) -> bool:
        """Whether a path contains no link, as most do."""
        seen = self._seen
        leading = _leading(path)
        for here in leading:
            if here not in seen:
                seen[here] = self._read(here)
            if seen[here] is not None:
                return False
        return bool(leading)

    def _entry(self, folder: str, name: str) -> str:
        """The target of a name in a canonical folder: mostly itself, since it is no link or does not exist."""
        if name not in _DOTS:
            here = f"{folder}/{name}" if folder != "/" else "/" + name
            seen = self._seen
            if here in seen:
                link = seen[here]
            elif seen.get(folder) == _GONE and not here.startswith(_SPECIAL):
                link = seen[here] = _GONE
            else:
                link = seen[here] = self._read(here)
            if link is None or link == _GONE:
                return here
        return self._walk(folder, [name])

    def _walk(self, done: str, names: list[str]) -> str:
        """Follow names from a canonical folder (`""` and `/`: the root)."""
        seen = self._seen
        if done == "/":
            done = ""
        at, hops, gone = 0, 0, False
        while at < len(names):
            name = names[at]
            at += 1
            if name in _DOTS:
                if name == "..":
                    if done.startswith(_OF_PROCESSES) and (_DESCRIPTOR.match(done) or _PROCESS.match(done)):
                        return ""  # the parent of a folder of the process that runs the call
                    done = done[: done.rfind("/")] if done else ""
                    gone = False
                continue
            here = f"{done}/{name}"
            if gone and not here.startswith(_SPECIAL):
                done = here
                continue
            if here not in seen:
                seen[here] = self._read(here)
            link = seen[here]
            if link is None:
                done = here
            elif link == _GONE:
                done, gone = here, True
            else:
                hops += 1
                if link == _UNKNOWN or hops > MAX_LINKS:
                    return ""
                if link.startswith("/"):
                    done = ""
                names = link.split("/") + names[at:]
                at = 0
        return done or "/"

    def _read(self, path: str) -> str | None:
        """The entry at a path whose folder is canonical: a link's target, None for no link, or a sentinel."""
        if path.startswith(_SPECIAL) and (special := _special(path)) is not _ORDINARY:
            return special
        if self._given is not None:
            return self._given.get(path)
        if not path.isascii() and (FOREIGN or not _is_whole(path)):
            return _UNKNOWN
        try:
            found = os.lstat(path)
            if found.st_mode & _TYPE == _LINK:
                return os.readlink(path)
            self._found[path] = found
            return None
        except (FileNotFoundError, NotADirectoryError):
            return _GONE
        except (OSError, ValueError):
            return _UNKNOWN


def status(path: str) -> os.stat_result | None:
    """The status of what a path leads to; None if nothing is there, or it is out of reach."""
    try:
        return os.stat(path)
    except (OSError, ValueError):
        return None


def names_in(folder: str) -> list[str]:
    """The names in a folder; none if it cannot be listed."""
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _is_whole(path: str) -> bool:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


_kept: dict[str, tuple[str, ...]] = {}


def _leading(path: str) -> tuple[str, ...]:
    """The folders of a path, itself the last; none if it is not in normal form. Depends only on the text, and sessions
    stay in a few folders, so it is cached."""
    known = _kept.get(path)
    if known is None:
        names = path.split("/")[1:]
        plain = not any(name in _DOTS for name in names)
        known = tuple("/" + "/".join(names[: count + 1]) for count in range(len(names))) if plain else ()
        keep(_kept, path, known, REMEMBERED)
    return known


def _special(path: str) -> str | None:
    """The entry at a path that means something else to another process, or is a link of another kind."""
    if path in _ALWAYS:
        return _ALWAYS[path]
    if not path.startswith(_OF_PROCESSES):
        return _ORDINARY
    if _DESCRIPTOR.match(path):
        return None  # a file that the shell opened there was judged then
    if path.startswith(("/dev/fd/", "/dev/stdin/", "/dev/stdout/", "/dev/stderr/")):
        return _UNKNOWN  # below a folder that was opened
    process = _PROCESS.match(path)
    if not process:
        return _ORDINARY
    name, below = process.groups()
    if below or name == "cwd":
        return _UNKNOWN
    return "/" if name == "root" else None


# ---------------------------------------------------------------- case, asked of the file system

_LOOKED_AT = 20  # names tried in one folder

_known: dict[str, bool] = {}


def folding(folders: Iterable[str]) -> tuple[str, ...]:
    """The case-insensitive folders among those given. Tested once for each folder in a process."""
    return tuple(folder for folder in folders if folder and _folds(folder))


def _folds(folder: str) -> bool:
    if folder not in _known:
        _known[folder] = _looks_folding(folder)
    return _known[folder]


def _looks_folding(folder: str) -> bool:
    """Try names in the folder, then its own name: the folder decides for those inside it, its parent for its own.

    A folder that does not exist is treated as the nearest one above it."""
    while not os.path.isdir(folder):
        parent = posixpath.dirname(folder)
        if parent == folder:
            return False
        folder = parent
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry, _ in zip(entries, range(_LOOKED_AT), strict=False)]
    except OSError:
        names = []
    for name in names:
        if name.swapcase() != name and name.swapcase() not in names:
            return _is_same(posixpath.join(folder, name), posixpath.join(folder, name.swapcase()))
    above, name = posixpath.split(folder)
    return name.swapcase() != name and _is_same(folder, posixpath.join(above, name.swapcase()))


def _is_same(one: str, other: str) -> bool:
    try:
        return os.path.samestat(os.lstat(one), os.lstat(other))
    except (OSError, ValueError):
        return False
