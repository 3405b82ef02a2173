"""The files of the trail: their names, opening them safely, and the head and the mark, which find lost lines.

`permissions.jsonl` is written to; `permissions-N.jsonl` are older, N being the number of their first line; `torn-N.txt`
has the bytes found after the last complete line. `head.json` has the length of the trail, so that a cut tail is found:
one line of a fixed length, written in place.

The mark is a second head outside the folder, so that removing or replacing the folder is found. It may lag behind the
head by some lines, and never moves back. If a new trail begins although the mark counts lines, that mark is renamed and
stays until a person removes it."""

from __future__ import annotations

import os
from stat import S_IMODE, S_ISDIR, S_ISREG

from assent.contract import StoreError, Value, loads, re
from assent.trail.line import NO_HASH

CURRENT = "permissions.jsonl"
HEAD = "head.json"
LOCK = "lock"
LENGTH = 256  # bytes of a head
EVERY = 64  # lines after which a writer advances the mark
_OLD = r"permissions-([0-9]{1,18})\.jsonl"
_SAFE = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


def old_name(first: int) -> str:
    return f"permissions-{first:012d}.jsonl"


def old_segments(folder: str) -> list[tuple[int, str]]:
    """The older segments, as (number of the first line, path), in order."""
    try:
        names = os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise _failed(folder, error) from None
    return sorted((int(found[1]), os.path.join(folder, name)) for name in names if (found := re.fullmatch(_OLD, name)))


def segments(folder: str) -> list[str]:
    """The paths of all segments, oldest first; none if there is no trail."""
    current = os.path.join(folder, CURRENT)
    return [*(path for _, path in old_segments(folder)), *([current] if os.path.lexists(current) else [])]


def own_folder(folder: str) -> None:
    """Make the trail's folder, open to its owner only. Raises StoreError if it is a link or another user's."""
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        status = os.lstat(folder)
        if not S_ISDIR(status.st_mode):
            raise FileExistsError
        if status.st_uid != os.geteuid():
            raise StoreError(f"`{folder}` belongs to another user; choose another folder with ASSENT_HOME")
        if S_IMODE(status.st_mode) & 0o077:
            os.chmod(folder, 0o700)
    except FileExistsError:
        raise StoreError(f"`{folder}` is a link or a file, not a folder; move it away") from None
    except OSError as error:
        raise _failed(folder, error) from None


def open_own(path: str, flags: int) -> int:
    """Open a file of the trail: no link is followed, and it must be a regular file of this user."""
    try:
        handle = os.open(path, flags | _SAFE, 0o600)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _failed(path, error) from None
    try:
        status = os.fstat(handle)
        regular = S_ISREG(status.st_mode)
        if not regular or status.st_uid != os.geteuid():
            reason = "belongs to another user" if regular else "is not a regular file"
            raise StoreError(f"`{path}` {reason}; move it away")
        if S_IMODE(status.st_mode) & 0o077 and flags & (os.O_WRONLY | os.O_RDWR):
            os.fchmod(handle, 0o600)
    except BaseException:
        os.close(handle)
        raise
    return handle


def write_whole(path: str, content: bytes) -> None:
    """Write a new file; it must not exist."""
    handle = open_own(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        with open(handle, "wb") as file:
            file.write(content)
    except OSError as error:
        raise _failed(path, error) from None


def _failed(path: str, error: OSError) -> StoreError:
    return StoreError(f"the trail cannot be used: `{path}`: {error.strerror}; check the disk and its permissions")


class Head(Value):
    """The length of the trail: `count` lines in all, the last one's `hash`, and the end `offset` of the current
    segment, whose first line is number `first`."""

    __slots__ = ("count", "hash", "offset", "first")

    def __init__(self, count: int = 0, hash: str = NO_HASH, offset: int = 0, first: int = 1) -> None:
        self.count = count
        self.hash = hash
        self.offset = offset
        self.first = first

    def encode(self) -> bytes:
        values = (self.count, self.hash.encode(), self.offset, self.first)
        return (b'{"v":1,"count":%d,"hash":"%b","offset":%d,"first":%d}' % values).ljust(LENGTH - 1) + b"\n"


def decode(raw: bytes) -> Head | None:
    """The head that bytes encode; None if they are not exactly a writer's form."""
    try:
        value = loads(raw)
        head = Head(value["count"], value["hash"], value["offset"], value["first"])
        return head if head.encode() == raw and len(raw) == LENGTH else None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def read_head(path: str) -> bytes | None:
    """The bytes of a head or a mark; None if there is none."""
    try:
        handle = open_own(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    with open(handle, "rb", 0) as file:
        return file.read(LENGTH * 2)


def mark_path(folder: str) -> str:
    return f"{folder.rstrip('/')}.mark"


def lost_path(folder: str) -> str:
    """The mark of an earlier trail."""
    return f"{mark_path(folder)}.lost"


def read_mark(folder: str, *, lost: bool = False) -> Head | None:
    """The mark of a trail; None if there is none that can be read. `lost`: that of the trail before it."""
    raw = read_head(lost_path(folder) if lost else mark_path(folder))
    return None if raw is None else decode(raw)


def keep_lost_mark(folder: str) -> None:
    """A trail begins: an existing mark with lines belongs to a lost one. The first such mark is kept."""
    known = read_mark(folder)
    if known is not None and known.count:
        if os.path.lexists(lost_path(folder)):
            os.unlink(mark_path(folder))
        else:
            os.rename(mark_path(folder), lost_path(folder))


def move_mark(folder: str, head: Head) -> None:
    """Advance the mark to a head. A mark with more lines stays: then lines are missing, and `verify` says so."""
    with open(open_own(mark_path(folder), os.O_RDWR | os.O_CREAT), "r+b", 0) as file:
        known = decode(os.pread(file.fileno(), LENGTH * 2, 0))
        if known is None or known.count < head.count:
            os.pwrite(file.fileno(), head.encode(), 0)
