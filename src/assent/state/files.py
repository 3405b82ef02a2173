"""Files of Assent's own state: made with care, read within bounds, replaced whole, changed by one process at a time.

Knows nothing of what is in them. Used by the stages that keep something, and by nothing pure."""

from __future__ import annotations

import errno
import fcntl
import os
from stat import S_IMODE, S_ISREG

from assent.contract import StoreError


def read(path: str, limit: int, flags: int = 0) -> tuple[bytes, os.stat_result]:
    """Return a file's bytes and its status from one handle, opened with these flags too; OSError where it is no regular
    file or too long.

    Never waits on a pipe or a device."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | flags)
    try:
        status = os.fstat(handle)
        if not S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        chunks: list[bytes] = []
        left = limit + 1
        while left > 0 and (chunk := os.read(handle, min(left, 1 << 20))):
            chunks.append(chunk)
            left -= len(chunk)
    finally:
        os.close(handle)
    if left <= 0:
        raise OSError(errno.EFBIG, f"it is longer than {limit} bytes")
    return b"".join(chunks), status


def state_folder(path: str) -> str:
    """Make a folder of Assent's own, open to its owner only, and return it; what is there already is closed too."""
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        status = os.stat(path)
        if status.st_uid != os.geteuid():
            raise StoreError(f"`{path}` belongs to another user; choose another folder with ASSENT_HOME")
        if S_IMODE(status.st_mode) & 0o077:
            os.chmod(path, 0o700)
    except OSError as error:
        raise StoreError(f"`{path}` cannot be made: {error.strerror}; check its folder's permissions") from None
    return path


def replace_text(path: str, text: str) -> None:
    """Write a state file whole or not at all, readable by its owner only."""
    replace(path, text.encode("utf-8"), 0o600)


def replace(path: str, data: bytes, mode: int) -> None:
    """Write a file whole or not at all, also where the one before is a program that runs. Raises StoreError."""
    beside = f"{path}.{os.getpid()}-{os.urandom(3).hex()}.new"
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fchmod(handle, mode)
                os.fsync(handle)
            os.replace(beside, path)
        except BaseException:
            os.unlink(beside)
            raise
    except OSError as error:
        raise StoreError(f"`{path}` cannot be written: {error.strerror}") from None


class held:
    """One process at a time between reading and writing; `path` is a lock file in a folder that exists."""

    __slots__ = ("_handle", "_path")

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        try:
            self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreError(f"`{self._path}` cannot be made: {error.strerror}") from None
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX)
        except BaseException:
            os.close(self._handle)
            raise

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)
