"""The ledger of a session: a file with one line for each call that may have changed something.

Many processes append lines, each by one write. If a ledger is unreadable or full, the session counts as having written
everything: that costs a question."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable

from assent.contract import StoreError, Value, dumps, keep, loads
from assent.state.files import read, state_folder
from assent.state.sessions import WRITTEN, path_of

MOST = 512 * 1024  # bytes
MOST_PATHS, LONGEST = 200, 16 * 1024  # paths of one call, bytes of one line
MOST_EXACT = 150  # files that a contained run changed; more count as all of its folders
REMEMBERED = 64  # ledgers
FIRST = "written by this session"  # in the first line; without it something was lost


class LedgerEntry(Value):
    """The possible changes of one call: `paths` are files, `below` folders in which any file may change, `moved` the
    paths to which it moves something. `unnamed`: it writes files in unknown folders; code that is not proved has only
    `/` in `below`. `job`: it starts a process that may outlive it. `within` are folders like `below`, until `settle`
    adds the actual changes there."""

    __slots__ = ("paths", "below", "moved", "unnamed", "job", "within")

    def __init__(
        self,
        paths: tuple[str, ...] = (),
        below: tuple[str, ...] = (),
        *,
        moved: tuple[str, ...] = (),
        unnamed: bool = False,
        job: bool = False,
        within: tuple[str, ...] = (),
    ) -> None:
        self.paths = paths
        self.below = below
        self.moved = moved
        self.unnamed = unnamed
        self.job = job
        self.within = within


class Ledger(Value):
    """The possible changes of a session: `paths` and `below` with the id of the last call that may have written there,
    `moved` are the paths to which something was moved, `unnamed` as in LedgerEntry. `whole` is false if the ledger is
    incomplete, and everything counts as written. `job`: a process of the session may still run."""

    __slots__ = ("paths", "below", "moved", "unnamed", "job", "whole")

    def __init__(
        self,
        paths: dict[str, str],
        below: dict[str, str],
        *,
        moved: frozenset[str] = frozenset(),
        unnamed: bool = False,
        job: bool,
        whole: bool,
    ) -> None:
        self.paths = paths
        self.below = below
        self.moved = moved
        self.unnamed = unnamed
        self.job = job
        self.whole = whole


LOST = Ledger({}, {}, job=True, whole=False)


def path(state: str, session: str) -> str:
    return path_of(state, f"{WRITTEN}\0{session}")


def note(state: str, session: str, id: str, entry: LedgerEntry) -> None:
    """Append the possible changes of the call of a record. Never raises: if that fails, the ledger is marked as lost if
    it can be written at all."""
    found: dict[str, object] = {"id": id}
    if len(entry.paths) > MOST_PATHS:
        found["all"] = True
    elif entry.paths:
        found["paths"] = entry.paths
    if entry.below:
        found["below"] = entry.below
    if entry.within:
        found["within"] = entry.within
    if entry.moved:
        found["moved"] = entry.moved
    if entry.unnamed:
        found["unnamed"] = True
    if entry.job:
        found["job"] = True
    line = dumps(found)
    if len(line) > LONGEST:
        line = dumps({"id": id, "all": True, "job": entry.job})
    _add(path(state, session), line)


def settle(state: str, session: str, id: str, paths: tuple[str, ...], below: tuple[str, ...]) -> None:
    """Append the actual changes of the call of a record in the folders `within` its entry. If they do not fit in a
    line, nothing is appended. Never raises."""
    line = dumps({"id": id, "exact": True, "paths": paths, "below": below})
    if len(paths) <= MOST_EXACT and len(line) <= LONGEST:
        _add(path(state, session), line)


def _add(place: str, line: str) -> None:
    try:
        _append(place, line + "\n")
    except (OSError, StoreError):
        _lose(place)


def _append(place: str, line: str) -> None:
    flags = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        handle = os.open(place, flags)
    except FileNotFoundError:
        folder = posixpath.dirname(place)
        state_folder(posixpath.dirname(folder))
        state_folder(folder)
        try:
            handle = os.open(place, flags | os.O_CREAT | os.O_EXCL, 0o600)
            line = f"{dumps({'for': FIRST})}\n{line}"
        except FileExistsError:  # another call was first
            handle = os.open(place, flags)
    try:
        data = line.encode("ascii")
        if os.fstat(handle).st_size < MOST and os.write(handle, data) < len(data):
            raise OSError(0, "the line was cut")
    finally:
        os.close(handle)


def _lose(place: str) -> None:
    """Empty a ledger after a failed append: without its first line it counts as lost."""
    try:  # noqa: SIM105 -- hooks do not load contextlib
        os.truncate(place, 0)
    except OSError:
        pass


def load(state: str, session: str, but: str = "") -> Ledger:
    """The ledger of a session, without the call of the record `but`. Never raises."""
    place = path(state, session)
    try:
        known = _known.get(place) if not but else None
        if known is not None and known[0] == _state(os.lstat(place)):
            return known[1]
        raw, status = read(place, MOST, os.O_NOFOLLOW)
    except FileNotFoundError:
        return Ledger({}, {}, job=False, whole=True)
    except (OSError, ValueError):
        return LOST
    found = _parsed(raw, but) if len(raw) < MOST else LOST
    if not but and len(raw) == status.st_size:
        keep(_known, place, (_state(status), found), REMEMBERED)
    return found


def changed_since(state: str, session: str, id: str) -> bool:
    """Whether the session noted something after the call of a record. False if unknown."""
    try:
        raw, _ = read(path(state, session), MOST, os.O_NOFOLLOW)
        lines = loads(b"[%s]" % raw[:-1].replace(b"\n", b","))
        ids = [str(entry.get("id", "")) for entry in lines if not entry.get("exact")]
    except (OSError, ValueError, AttributeError, RecursionError):
        return False
    return id in ids and ids[-1] != id


_known: dict[str, tuple[tuple[int, ...], Ledger]] = {}  # a cache by file and size: every append makes it longer


def _state(status: os.stat_result) -> tuple[int, ...]:
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_mode


def _parsed(raw: bytes, but: str) -> Ledger:
    paths: dict[str, str] = {}
    below: dict[str, str] = {}
    moved: set[str] = set()
    within: dict[str, Iterable[str]] = {}  # id → folders
    job = known = unnamed = False
    try:
        if not raw.endswith(b"\n"):
            return LOST
        for entry in loads(b"[%s]" % raw[:-1].replace(b"\n", b",")):
            id = entry.get("id", "")
            if entry.get("for") == FIRST:
                known = True
            elif not id or (entry.get("all") and id != but):
                return LOST
            elif id != but:
                if entry.get("exact"):
                    within.pop(id, None)
                else:
                    within[id] = entry.get("within", ())
                paths.update(_each(entry.get("paths", ()), id))
                below.update(_each(entry.get("below", ()), id))
                moved.update(entry.get("moved", ()))
                job = job or bool(entry.get("job"))
                unnamed = unnamed or bool(entry.get("unnamed"))
        for id, folders in within.items():
            below.update(_each(folders, id))
    except (ValueError, AttributeError, TypeError, RecursionError):
        return LOST
    found = Ledger(paths, below, moved=frozenset(moved), unnamed=unnamed, job=job, whole=True)
    return found if known else LOST


def _each(names: Iterable[str], id: str) -> Iterable[tuple[str, str]]:
    return ((name, id) for name in names)
