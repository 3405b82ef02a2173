"""Where a path leads: links followed as the kernel follows them; and in which folders names that differ only in case
are one name."""

from __future__ import annotations

import os
import posixpath
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from assent.contract import Pattern, keep

if TYPE_CHECKING:
    T = TypeVar("T")

MAX_PATH = 4096  # PATH_MAX: a longer one is refused by the kernel itself
REMEMBERED = 256  # folders
MAX_LINKS = 40  # as many as Linux follows before it says ELOOP

# A process whose locale is not of UTF-8 asks the kernel for other bytes than those which the agent's own process means.
FOREIGN = sys.getfilesystemencoding() != "utf-8"

_TYPE, _LINK = 0o170000, 0o120000  # S_IFMT and S_IFLNK, spelled out: this is asked of every name of every path

_GONE = "\0"  # nothing is there, so no link can be below it
_DOTS = ("", ".", "..")
_UNKNOWN = ""  # no link target is empty, so this can mean "cannot be resolved"
_ORDINARY = "\0\0"
_SPECIAL = ("/proc/", "/dev/", "/System/Volumes")
_OF_PROCESSES = ("/dev/", "/proc/")
_ALWAYS = {"/System/Volumes/Data": "/"}  # a macOS firmlink: the same folder by a second name, yet no symbolic link

# Links of a process. Assent is not the process that will run the call: what it reads there is of the wrong one.
_PROCESS = Pattern(
    r"/proc/(?:self|thread-self|\d+)(?:/task/\d+)?(?:/(cwd|root|exe|(?:fd|map_files)(?:/[^/]+)?)(/.*)?)?$"
)
_DESCRIPTOR = Pattern(r"/dev/(?:stdin|stdout|stderr|fd|fd/\d+)$")


class Links:
    """The links of one moment: created for one call, or for several that were all sent before it, and dropped after
    them, so that each folder is read once.

    With `given` links the file system is not read: those are all the links there are."""

    __slots__ = ("_given", "_seen", "_paths", "_kept")

    def __init__(self, given: Mapping[str, str] | None = None) -> None:
        self._given = None if given is None else {source.rstrip("/"): target for source, target in given.items()}
        self._seen: dict[str, str | None] = {}
        self._paths: dict[str, str] = {}
        self._kept: dict[tuple[object, ...], tuple[Any]] = {}

    def once(self, key: tuple[object, ...], compute: Callable[..., T], *given: object) -> T:
        """What a function returned first in this moment. A key is for one function and what it is given."""
        found = self._kept.get(key)
        if found is None:
            found = self._kept[key] = (compute(*given),)
        return found[0]

    def known(self, key: tuple[object, ...]) -> object:
        """What `note` kept in this moment; None where that is nothing."""
        found = self._kept.get(key)
        return None if found is None else found[0]

    def note(self, key: tuple[object, ...], found: object) -> None:
        self._kept[key] = (found,)

    def given(self) -> Mapping[str, str] | None:
        """The links that were given; None where the file system is read."""
        return self._given

    def is_gone(self, path: str) -> bool:
        """Whether a canonical path that was looked at is not there."""
        return self._seen.get(path) == _GONE

    def given_in(self, folder: str) -> list[str] | None:
        """The names of the given links that lie directly in a folder; None where the file system is read."""
        if self._given is None:
            return None
        start = folder.rstrip("/") + "/"
        return [path[len(start) :] for path in self._given if path.startswith(start) and "/" not in path[len(start) :]]

    def canonical(self, path: str) -> str:
        """Return the path that the kernel would open for an absolute path; what is not there yet keeps its name.

        `""` is a path that cannot be resolved: relative, too long, a loop of links, a folder that may not be searched,
        a link that only the running process can read (`/proc/self/cwd`), a name that is other bytes in this process's
        locale, or half a character, which others write as they like."""
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
        """Whether a path leads through folders to itself: the way of most."""
        seen = self._seen
        leading = _leading(path)
        for here in leading:
            if here not in seen:
                seen[here] = self._read(here)
            if seen[here] is not None:
                return False
        return bool(leading)

    def _entry(self, folder: str, name: str) -> str:
        """Where a name in a canonical folder leads: mostly to itself, since it is no link or is not there."""
        if name not in _DOTS:
            here = f"{folder}/{name}" if folder != "/" else "/" + name
            seen = self._seen
            if here in seen:
                link = seen[here]
            elif seen.get(folder) == _GONE and not here.startswith(_SPECIAL):
                return here
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
                        return ""  # what is above a folder of the process that runs the call
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
        """What is at a path whose folder is canonical: a link's target, None for no link, or a sentinel."""
        if path.startswith(_SPECIAL) and (special := _special(path)) is not _ORDINARY:
            return special
        if self._given is not None:
            return self._given.get(path)
        if not path.isascii() and (FOREIGN or not _is_whole(path)):
            return _UNKNOWN
        try:
            if os.lstat(path).st_mode & _TYPE != _LINK:
                return None
            return os.readlink(path)
        except (FileNotFoundError, NotADirectoryError):
            return _GONE
        except (OSError, ValueError):
            return _UNKNOWN


def status(path: str) -> os.stat_result | None:
    """The status of what a path leads to; None where nothing is there, or it is out of reach."""
    try:
        return os.stat(path)
    except (OSError, ValueError):
        return None


def names_in(folder: str) -> list[str]:
    """The names in a folder; none where it cannot be listed."""
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
    """The folders that a path leads through, itself the last; none where it is not in normal form. The text alone
    decides that, and sessions stay in a few folders, so it is computed once."""
    known = _kept.get(path)
    if known is None:
        names = path.split("/")[1:]
        plain = not any(name in _DOTS for name in names)
        known = tuple("/" + "/".join(names[: count + 1]) for count in range(len(names))) if plain else ()
        keep(_kept, path, known, REMEMBERED)
    return known


def _special(path: str) -> str | None:
    """What is at a path that means something else to another process, or is a link by another name."""
    if path in _ALWAYS:
        return _ALWAYS[path]
    if not path.startswith(_OF_PROCESSES):
        return _ORDINARY
    if _DESCRIPTOR.match(path):
        return None  # whatever the shell opened there was judged when it was opened
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
    """Those of the folders in which case does not tell names apart. Tried once for each folder in a process."""
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
