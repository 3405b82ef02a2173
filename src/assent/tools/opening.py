"""Opens files by their canonical path, name by name and never through a link.

The gate judges the canonical path. A link that is met while that path is opened was put there since, so it is not
followed: the judged file is opened, or none."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from stat import S_IMODE, S_ISDIR, S_ISREG

from assent.tools.tool import Problem

LARGEST = 16 * 1024 * 1024  # bytes of a file that is read or written
KERNEL = ("/proc", "/sys", "/dev")  # processes and devices, not files
WAY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC  # to go through a folder is not to list it
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
PROBED = 8192  # bytes that are searched for null characters
CHANGED = "changed in the meantime; read it again"


@dataclass(frozen=True, slots=True)
class ResolvedPath:
    """A file or folder that a call names. `path` is canonical, `given` is as it was named, absolute."""

    path: str
    given: str

    def input(self, key: str) -> dict[str, object]:
        """As arguments that the gate judges. INVARIANT: both forms, so that rules on either hold."""
        same = self.path == os.path.normpath(self.given)
        return {key: self.path} if same else {key: self.path, "requested": self.given}


def resolve(text: str, folder: str) -> ResolvedPath:
    """The canonical path of a path that a model wrote. Raises Problem if the tools do not go there."""
    if not text.strip() or "\0" in text:
        raise Problem("the path is empty" if not text.strip() else "the path holds a null character")
    given = os.path.join(folder, os.path.expanduser(text) if text == "~" or text.startswith("~/") else text)
    try:
        path = os.path.realpath(given)
    except OSError as error:
        raise Problem(f"`{text}` cannot be resolved: {error.strerror}") from None
    if any(inside(path, each) for each in KERNEL):
        raise Problem(f"`{text}` is no file but a part of the running system; these tools do not open it")
    return ResolvedPath(path, given)


def inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


@contextmanager
def folder(path: str, *, make: bool = False) -> Iterator[int]:
    """A handle of a folder by its canonical path. `make`: missing folders on the way are made."""
    handle = os.open("/", WAY)
    try:
        for name in filter(None, path.split("/")):
            below = _below(handle, name, path, make)
            os.close(handle)
            handle = below
        yield handle
    finally:
        os.close(handle)


def _below(handle: int, name: str, path: str, make: bool) -> int:
    try:
        with suppress(FileNotFoundError):
            return os.open(name, WAY | os.O_NOFOLLOW, dir_fd=handle)
        if not make:
            raise Problem(f"`{path}` does not exist")
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=handle)
        return os.open(name, WAY | os.O_NOFOLLOW, dir_fd=handle)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):
            raise Problem(f"`{path}` was not opened: `{name}` on the way is a link or no folder by now") from None
        raise Problem(f"`{path}` cannot be opened: {error.strerror}") from None


@contextmanager
def file(path: str, flags: int = os.O_RDONLY) -> Iterator[tuple[int, int]]:
    """Handles of a regular file by its canonical path and of its folder. Raises Problem; never waits for a pipe."""
    above, name = os.path.split(path)
    with folder(above) as within:
        try:
            handle = os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=within)
        except FileNotFoundError:
            raise Problem(f"`{path}` does not exist") from None
        except IsADirectoryError:
            raise Problem(f"`{path}` is a folder; use `glob` to list it") from None
        except OSError as error:
            link = error.errno in (errno.ELOOP, errno.EMLINK)
            reason = "was not opened: it is a link by now" if link else f"cannot be opened: {error.strerror}"
            raise Problem(f"`{path}` {reason}") from None
        try:
            mode = os.fstat(handle).st_mode
            if not S_ISREG(mode):
                is_folder = "a folder; use `glob` to list it"
                raise Problem(f"`{path}` is {is_folder if S_ISDIR(mode) else 'not a regular file'}")
            yield handle, within
        finally:
            os.close(handle)


def content(handle: int, path: str) -> bytes:
    """The bytes of an open file. Raises Problem if there are too many."""
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


def binary(raw: bytes) -> bool:
    return b"\0" in raw[:PROBED]


def create(path: str, raw: bytes) -> None:
    """Write a new file. Raises Problem if one exists."""
    above, name = os.path.split(path)
    with folder(above, make=True) as within:
        try:
            handle = os.open(name, NEW, 0o666, dir_fd=within)
        except FileExistsError:
            raise Problem(f"`{path}` exists by now; read it first, then write") from None
        except OSError as error:
            raise Problem(f"`{path}` cannot be created: {error.strerror}") from None
        try:
            _fill(handle, raw)
        except OSError as error:
            with suppress(OSError):
                os.unlink(name, dir_fd=within)
            raise Problem(f"`{path}` cannot be written: {error.strerror}") from None


def replace(path: str, before: bytes, after: bytes) -> None:
    """Replace a file's content, whole or not at all, if its bytes are still these. Its permissions stay."""
    name = os.path.basename(path)
    with file(path, os.O_RDWR) as (handle, within):
        if content(handle, path) != before:
            raise Problem(f"`{path}` {CHANGED}")
        status = os.fstat(handle)
        temporary = f".{name[:100]}.{os.urandom(6).hex()}.new"
        try:
            new = os.open(temporary, NEW, 0o600, dir_fd=within)
            try:
                with suppress(OSError):
                    os.fchown(new, status.st_uid, status.st_gid)
                os.fchmod(new, S_IMODE(status.st_mode) & 0o777)
                _fill(new, after)
                now = os.stat(name, dir_fd=within, follow_symlinks=False)
                if (now.st_dev, now.st_ino, now.st_mtime_ns) != (status.st_dev, status.st_ino, status.st_mtime_ns):
                    raise Problem(f"`{path}` {CHANGED}")
                os.replace(temporary, name, src_dir_fd=within, dst_dir_fd=within)
            except BaseException:
                os.unlink(temporary, dir_fd=within)
                raise
        except OSError as error:
            raise Problem(f"`{path}` cannot be written: {error.strerror}") from None


def _fill(handle: int, raw: bytes) -> None:
    with os.fdopen(handle, "wb") as out:
        out.write(raw)
        out.flush()
        os.fsync(handle)
