"""The files of the trail: what they are called, and opening them with care. Knows nothing of lines.

`permissions.jsonl` is written to; `permissions-N.jsonl` are older, N being the number of their first line; `head.json`
says how far the trail reaches; `torn-N.txt` holds what was found behind the last whole line."""

from __future__ import annotations

import os
from stat import S_IMODE, S_ISDIR, S_ISREG

from assent.contract import StoreError, Value, loads, re
from assent.trail.line import NO_HASH

CURRENT = "permissions.jsonl"
HEAD = "head.json"
LOCK = "lock"
_OLD = r"permissions-([0-9]{1,18})\.jsonl"
_SAFE = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


def old_name(first: int) -> str:
    """The name of a segment that is no longer written to."""
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
    """The paths of all segments, oldest first; none where there is no trail."""
    found = [path for _, path in old_segments(folder)]
    current = os.path.join(folder, CURRENT)
    return [*found, current] if os.path.lexists(current) else found


def own_folder(folder: str) -> None:
    """Make the trail's folder, open to its owner only. Raises StoreError where it is a link or another user's."""
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        status = os.lstat(folder)
        if not S_ISDIR(status.st_mode):
            raise StoreError(f"`{folder}` is a link or a file, not a folder; move it away")
        if status.st_uid != os.geteuid():
            raise StoreError(f"`{folder}` belongs to another user; choose another folder with ASSENT_HOME")
        if S_IMODE(status.st_mode) & 0o077:
            os.chmod(folder, 0o700)
    except FileExistsError:
        raise StoreError(f"`{folder}` is a link or a file, not a folder; move it away") from None
    except OSError as error:
        raise _failed(folder, error) from None


def open_own(path: str, flags: int) -> int:
    """Open a file of the trail: no link is followed, and it must be a regular file of this user's own."""
    try:
        handle = os.open(path, flags | _SAFE, 0o600)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _failed(path, error) from None
    try:
        status = os.fstat(handle)
        if not S_ISREG(status.st_mode):
            raise StoreError(f"`{path}` is not a regular file; move it away")
        if status.st_uid != os.geteuid():
            raise StoreError(f"`{path}` belongs to another user; move it away")
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
        while content:
            content = content[os.write(handle, content) :]
    except OSError as error:
        raise _failed(path, error) from None
    finally:
        os.close(handle)


def _failed(path: str, error: OSError) -> StoreError:
    return StoreError(f"the trail cannot be used: `{path}`: {error.strerror}; check the disk and its permissions")


LENGTH = 256


class Head(Value):
    """The state of the trail after its last line."""

    __slots__ = ("count", "hash", "offset", "first")

    def __init__(self, count: int = 0, hash: str = NO_HASH, offset: int = 0, first: int = 1) -> None:
        self.count = count
        self.hash = hash
        self.offset = offset
        self.first = first

    def encode(self) -> bytes:
        text = b'{"v":1,"count":%d,"hash":"%b","offset":%d,"first":%d}' % (
            self.count,
            self.hash.encode(),
            self.offset,
            self.first,
        )
        return text.ljust(LENGTH - 1) + b"\n"


def decode(raw: bytes) -> Head | None:
    """The head that bytes stand for; None where they are not exactly what a writer writes."""
    try:
        value = loads(raw)
        head = Head(value["count"], value["hash"], value["offset"], value["first"])
        return head if head.encode() == raw else None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def read_head(folder: str) -> bytes | None:
    """The bytes of the head; None where there is none."""
    try:
        handle = open_own(os.path.join(folder, HEAD), os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        return os.pread(handle, LENGTH * 2, 0)
    finally:
        os.close(handle)


EVERY = 64  # lines after which a writer moves the mark on


def mark_path(folder: str) -> str:
    return f"{folder.rstrip('/')}.mark"


def lost_path(folder: str) -> str:
    """The mark of a trail that was there before this one."""
    return f"{mark_path(folder)}.lost"


def put_aside(folder: str) -> None:
    """A trail begins: a mark that knows of lines is that of another, which is gone. The first such one is kept."""
    known = read_mark(folder)
    if known is None or not known.count:
        return
    if os.path.lexists(lost_path(folder)):
        os.unlink(mark_path(folder))
    else:
        os.rename(mark_path(folder), lost_path(folder))


def read_mark(folder: str, *, lost: bool = False) -> Head | None:
    """The mark of a trail; None where there is none that can be read. `lost`: of the one before it."""
    try:
        handle = open_own(lost_path(folder) if lost else mark_path(folder), os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        return decode(os.pread(handle, LENGTH * 2, 0))
    finally:
        os.close(handle)


def move_mark(folder: str, head: Head) -> None:
    """Move the mark on to a head. One that is further stays: then lines are missing, and `verify` says so."""
    handle = open_own(mark_path(folder), os.O_RDWR | os.O_CREAT)
    try:
        known = decode(os.pread(handle, LENGTH * 2, 0))
        if known is None or known.count < head.count:
            os.pwrite(handle, head.encode(), 0)
    finally:
        os.close(handle)
