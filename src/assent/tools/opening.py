"""Files by their canonical path, opened name by name and never through a link. Judges nothing.

The gate judges the canonical path. Whatever is a link by the time that path is opened was put there since, so it is not
followed: what is opened is what was judged."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from stat import S_IMODE, S_ISDIR, S_ISREG

from assent.tools.tool import Problem

LARGEST = 16 * 1024 * 1024  # bytes of a file that is read or written
KERNEL = ("/proc", "/sys", "/dev")  # no files there, but the insides of processes and devices
PASS = getattr(os, "O_PATH", os.O_RDONLY)  # to go through a folder is not to list it


class Place:
    """A file or folder that a call names. `path` is where it really is, `given` as it was named, absolute."""

    __slots__ = ("path", "given")

    def __init__(self, path: str, given: str) -> None:
        self.path = path
        self.given = given

    def input(self, key: str) -> dict[str, object]:
        """The place as arguments that the gate judges. INVARIANT: both forms, so that rules on either hold."""
        if self.path == os.path.normpath(self.given):
            return {key: self.path}
        return {key: self.path, "requested": self.given}


def resolve(text: str, folder: str) -> Place:
    """Where a path leads that a model wrote. Raises Problem where it leads nowhere that tools go."""
    if not text.strip() or "\0" in text:
        raise Problem("the path is empty" if not text.strip() else "the path holds a null character")
    given = os.path.join(folder, os.path.expanduser(text) if text == "~" or text.startswith("~/") else text)
    try:
        path = os.path.realpath(given)
    except OSError as error:
        raise Problem(f"`{text}` cannot be looked at: {error.strerror}") from None
    if path in KERNEL or path.startswith(tuple(f"{each}/" for each in KERNEL)):
        raise Problem(f"`{text}` is no file but a part of the running system; these tools do not open it")
    return Place(path, given)


def inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


@contextmanager
def folder(path: str, *, make: bool = False) -> Iterator[int]:
    """A handle of a folder by its canonical path. `make`: the folders on the way that are missing are made."""
    handle = os.open("/", PASS | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in filter(None, path.split("/")):
            below = _below(handle, name, path, make)
            os.close(handle)
            handle = below
        yield handle
    finally:
        os.close(handle)


def _below(handle: int, name: str, path: str, make: bool) -> int:
    flags = PASS | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(name, flags, dir_fd=handle)
    except FileNotFoundError:
        if not make:
            raise Problem(f"`{path}` does not exist") from None
    except OSError as error:
        raise _refused(error, path, name) from None
    try:
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=handle)
        return os.open(name, flags, dir_fd=handle)
    except OSError as error:
        raise _refused(error, path, name) from None


def _refused(error: OSError, path: str, name: str) -> Problem:
    if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):
        return Problem(f"`{path}` was not opened: `{name}` on the way is a link or no folder by now; look again")
    return Problem(f"`{path}` cannot be opened: {error.strerror}")


@contextmanager
def file(path: str, flags: int = os.O_RDONLY) -> Iterator[tuple[int, int]]:
    """Handles of a regular file by its canonical path and of its folder. Raises Problem; never waits for a pipe."""
    above, name = os.path.split(path)
    with folder(above) as within:
        try:
            handle = os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=within)
        except FileNotFoundError:
            raise Problem(f"`{path}` does not exist") from None
        except OSError as error:
            if error.errno == errno.EISDIR:
                raise Problem(f"`{path}` is a folder; use `glob` to list it") from None
            if error.errno in (errno.ELOOP, errno.EMLINK):
                raise Problem(f"`{path}` was not opened: it is a link by now; look again") from None
            raise Problem(f"`{path}` cannot be opened: {error.strerror}") from None
        try:
            mode = os.fstat(handle).st_mode
            if S_ISDIR(mode):
                raise Problem(f"`{path}` is a folder; use `glob` to list it")
            if not S_ISREG(mode):
                raise Problem(f"`{path}` is not a regular file")
            yield handle, within
        finally:
            os.close(handle)


def content(handle: int, path: str) -> bytes:
    """The bytes of an open file. Raises Problem where there are too many."""
    chunks: list[bytes] = []
    left = LARGEST + 1
    while left > 0 and (chunk := os.read(handle, min(left, 1 << 20))):
        chunks.append(chunk)
        left -= len(chunk)
    if left <= 0:
        size = os.fstat(handle).st_size
        raise Problem(f"`{path}` is too long ({size} bytes, at most {LARGEST}); use `bash` with `sed -n` or `grep`")
    return b"".join(chunks)


def read(path: str) -> bytes:
    with file(path) as (handle, _):
        return content(handle, path)


def create(path: str, raw: bytes) -> None:
    """Write a file that is not there yet. Raises Problem where one is."""
    above, name = os.path.split(path)
    with folder(above, make=True) as within:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            handle = os.open(name, flags, 0o666, dir_fd=within)
        except FileExistsError:
            raise Problem(f"`{path}` is there by now; read it first, then write") from None
        except OSError as error:
            raise Problem(f"`{path}` cannot be made: {error.strerror}") from None
        try:
            _fill(handle, raw)
        except OSError as error:
            with suppress(OSError):
                os.unlink(name, dir_fd=within)
            raise Problem(f"`{path}` cannot be written: {error.strerror}") from None


def replace(path: str, before: bytes, after: bytes) -> None:
    """Write a file anew, whole or not at all, where its bytes are still these. Its permissions stay."""
    name = os.path.basename(path)
    with file(path, os.O_RDWR) as (handle, within):
        if content(handle, path) != before:
            raise Problem(f"`{path}` changed meanwhile; read it again")
        status = os.fstat(handle)
        beside = f".{name[:100]}.{os.urandom(6).hex()}.new"
        try:
            _beside(beside, within, after, status)
            try:
                now = os.stat(name, dir_fd=within, follow_symlinks=False)
                if (now.st_dev, now.st_ino, now.st_mtime_ns) != (status.st_dev, status.st_ino, status.st_mtime_ns):
                    raise Problem(f"`{path}` changed meanwhile; read it again")
                os.replace(beside, name, src_dir_fd=within, dst_dir_fd=within)
            except BaseException:
                os.unlink(beside, dir_fd=within)
                raise
        except OSError as error:
            raise Problem(f"`{path}` cannot be written: {error.strerror}") from None


def _beside(name: str, within: int, raw: bytes, like: os.stat_result) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(name, flags, 0o600, dir_fd=within)
    try:
        with suppress(OSError):
            os.fchown(handle, like.st_uid, like.st_gid)
        os.fchmod(handle, S_IMODE(like.st_mode) & 0o777)
        _fill(handle, raw)
    except BaseException:
        os.unlink(name, dir_fd=within)
        raise


def _fill(handle: int, raw: bytes) -> None:
    """Write everything, and close."""
    with os.fdopen(handle, "wb") as out:
        out.write(raw)
        out.flush()
        os.fsync(handle)
