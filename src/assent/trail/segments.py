"""The files of the trail: what they are called, and opening them with care. Knows nothing of lines.

`permissions.jsonl` is written to; `permissions-N.jsonl` are older, N being the number of their first line; `head.json`
says how far the trail reaches; `torn-N.txt` holds what was found behind the last whole line."""

from __future__ import annotations

import os
from stat import S_IMODE, S_ISDIR, S_ISREG

from assent.contract import StoreError, re

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
