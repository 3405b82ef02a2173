"""Reads the files of code that a call runs, within bounds, and checks whether the call may change them before they run.

Follows links, as the programs that run them do."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from stat import S_ISREG

from assent.contract import Code, Kind, Lowering, Operation, keep, sha256
from assent.facts.links import Links
from assent.state.files import read

MOST_NAMES = 4000  # in a folder
LONGEST = 512 * 1024  # bytes of all files of one call
HEAD = 512  # bytes that tell a compiled program from a text
CHANGING = (Operation.WRITE, Operation.DELETE)
REMEMBERED, REMEMBERED_LENGTH = 128, 32 * 1024  # files, bytes of one

_known: dict[str, tuple[bytes, Code]] = {}  # files by path, as they were last read: the same bytes are the same text


class CodeFiles:
    """The files of code of one call: those that were read."""

    __slots__ = ("found", "_given", "_left", "_paths", "_written")

    def __init__(
        self, given: Mapping[str, str] | None = None, written: Callable[[], Iterable[str]] = lambda: ()
    ) -> None:
        """`given` replaces the host: these are all existing files. `written` are those of the session."""
        self.found: dict[str, Code] = {}
        self._written = written
        self._given = given
        self._left = LONGEST
        self._paths: list[str] = []  # those that were read, in order

    def add(self, paths: Iterable[str]) -> bool:
        """Read the files that were not read yet. Returns whether there were any."""
        new = [path for path in paths if path not in self.found]
        for path in new:
            self._add(path)
        return bool(new)

    def unchanged(self, written: Callable[[], Iterable[str]]) -> bool:
        """Whether every file, glob and folder has the same text now, read again. `written` are the files of the session
        now.

        Compares what is read and not sizes and times, which stay the same after some changes: within one tick of the
        clock, through a memory map, on a file system that sets times itself."""
        again = CodeFiles(self._given, written)
        return all(again._add(path) == self.found[path] for path in self._paths)

    def _add(self, path: str) -> Code:
        code = self.found[path] = self._read(path)
        self._paths.append(path)
        self._left -= len(code.text)
        return code

    def _read(self, path: str) -> Code:
        if path[:1] != "/":
            kind, _, place = path.partition(":")
            if kind == "session":
                return Code("\n".join(self._written()))
            return self._matches(place) if kind == "glob" else self._below(place)
        if path.endswith("/"):
            return self._names(path)
        if self._given is not None:
            text = self._given.get(path)
            return Code(problem="absent") if text is None else Code(text, sha256(text.encode()).hexdigest())
        try:
            raw = read(path, LONGEST)[0]
        except (FileNotFoundError, NotADirectoryError):
            return Code(problem="absent")
        except (OSError, ValueError):
            return Code(problem=_unread(path))
        if b"\0" in raw:
            return Code(problem="binary" if _is_program(raw[:HEAD]) else "unreadable")
        if len(raw) > self._left:
            return Code(problem="long")
        known = _known.get(path)
        if known is not None and known[0] == raw:
            return known[1]
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError:
            text = raw.decode("latin-1")  # a shell reads bytes; non-ASCII is in comments or texts
        code = Code(text, sha256(raw).hexdigest())
        if len(raw) <= REMEMBERED_LENGTH:
            keep(_known, path, (raw, code), REMEMBERED)
        return code

    def _matches(self, pattern: str) -> Code:
        """The files that a glob (`glob:/folder/*.sh`) matches, one path per line."""
        from assent.facts import globs

        if self._given is not None:
            found: tuple[str, ...] | None = globs.matching(pattern, self._given)
        else:
            found = globs.expand(pattern)
        return Code(problem="long") if found is None else Code("\n".join(found))

    def _below(self, folder: str) -> Code:
        """The files below a folder (`below:/folder`), one path per line."""
        if self._given is not None:
            return Code("\n".join(sorted(path for path in self._given if path.startswith(folder.rstrip("/") + "/"))))
        found: list[str] = []
        scanned = 0
        for place, folders, names in os.walk(folder):
            scanned += len(folders) + len(names)
            if scanned > MOST_NAMES:
                return Code(problem="long")
            found += [os.path.join(place, name) for name in names]
        return Code("\n".join(sorted(found)))

    def _names(self, folder: str) -> Code:
        """The names in a folder, one per line."""
        if self._given is not None:
            names = {path[len(folder) :].partition("/")[0] for path in self._given if path.startswith(folder)}
            return Code("\n".join(sorted(names))) if names else Code(problem="absent")
        try:
            found = os.listdir(folder)
        except (FileNotFoundError, NotADirectoryError):
            return Code(problem="absent")
        except (OSError, ValueError):
            return Code(problem="unreadable")
        return Code("\n".join(sorted(found))) if len(found) <= MOST_NAMES else Code(problem="long")


def _unread(path: str) -> str:
    """Why a file was not read."""
    try:
        if not S_ISREG(os.stat(path).st_mode):
            return "unreadable"
        with open(path, "rb", buffering=0) as file:
            return "binary" if _is_program(file.read(HEAD)) else "long"
    except OSError:
        return "unreadable"


def _is_program(head: bytes) -> bool:
    """Whether a file is compiled, by its first bytes: no shell reads such a file."""
    return b"\0" in head.partition(b"\n")[0] and not head.startswith(b"#!")


def replaced(name: str, lowering: Lowering, links: Links, *, portable: bool) -> str:
    """Why another part of the call may change a file of code that was read (`2:/folder/x.sh`: the call writes it twice,
    with known texts); `""` if no part does."""
    count, _, path = name.partition(":")
    real, writes = links.canonical(path), 0
    for effect in lowering.effects:
        target = effect.target
        if effect.operation not in CHANGING or target.kind is not Kind.PATH or "mode-change" in effect.dangers:
            continue
        leads = links.canonical(target.raw or target.name) if target.name else ""
        if not leads or not real or target.pattern or not target.certain:
            return "the call changes files that are not known before"
        if leads == real and effect.operation is Operation.WRITE and not effect.recursive:
            writes += 1
        elif leads == real or real.startswith(leads.rstrip("/") + "/"):
            return f"the call changes {target.text}"
    if writes != int(count):
        return "the call changes it"
    return "" if portable or not _has_other_names(path, lowering) else "it has another name, by a hard link"


def is_link(name: str, links: Links) -> bool:
    """Whether a file of code (`0:/folder/x.py`) is a link: modules are loaded from the folder of its target."""
    path = name.partition(":")[2]
    folder, _, last = path.rpartition("/")
    return links.canonical(path) != f"{links.canonical(folder or '/').rstrip('/')}/{last}"


def _has_other_names(path: str, lowering: Lowering) -> bool:
    """Whether a file has another name by which the call may change it."""
    if not any(effect.operation in CHANGING for effect in lowering.effects):
        return False
    try:
        return os.stat(path).st_nlink > 1
    except OSError:
        return False
