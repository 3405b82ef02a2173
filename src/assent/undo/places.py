"""Opens a path from the root of the file system, folder by folder, without following links."""

from __future__ import annotations

import errno
import os
import posixpath
import stat
from collections.abc import Iterator
from contextlib import contextmanager

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class LinkInTheWay(OSError):
    """A folder of a path is a link now, or no folder."""


class Folders:
    """Handles on folders; the last one stays open: most paths have the same folder as the one before."""

    def __init__(self) -> None:
        self._last = ""
        self._handle = -1

    def at(self, folder: str, *, make: bool = False) -> int:
        """A handle on an absolute folder until the next call; `make` as in `opened`. Raises OSError."""
        if folder != self._last or self._handle < 0:
            self.close()
            self._handle = _reached(folder, make=make)
            self._last = folder
        return self._handle

    def close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
        self._handle = -1


@contextmanager
def opened(folder: str, *, make: bool = False) -> Iterator[int]:
    """A handle on an absolute folder. `make`: missing folders are created. Raises OSError."""
    handle = _reached(folder, make=make)
    try:
        yield handle
    finally:
        os.close(handle)


def _reached(folder: str, *, make: bool) -> int:
    handle = os.open("/", FOLDER)
    for name in folder.split("/"):
        if name:
            try:
                inner = _step(handle, name, make=make)
            finally:
                os.close(handle)
            handle = inner
    return handle


def _step(handle: int, name: str, *, make: bool) -> int:
    if name in (".", ".."):
        raise LinkInTheWay(errno.EINVAL, "a path with dots is not followed")
    try:
        return os.open(name, FOLDER, dir_fd=handle)
    except FileNotFoundError:
        if not make:
            raise
        os.mkdir(name, 0o777, dir_fd=handle)
        return os.open(name, FOLDER, dir_fd=handle)
    except OSError as error:
        if error.errno == errno.ENOTDIR and not stat.S_ISLNK(
            os.stat(name, dir_fd=handle, follow_symlinks=False).st_mode
        ):
            raise  # a file: nothing is below it
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):
            raise LinkInTheWay(error.errno, "a folder of it is a link now, or no folder") from None
        raise


def split(path: str) -> tuple[str, str]:
    """The folder and the name of an absolute path; OSError for a relative path and for the root."""
    folder, name = posixpath.split(path)
    if not path.startswith("/") or name in ("", ".", ".."):
        raise LinkInTheWay(errno.EINVAL, "not an absolute path of a file or folder")
    return folder, name
