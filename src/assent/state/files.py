"""Files of Assent's own configuration and state: their places, bounded reading, atomic replacement, locking.
Independent of their content."""

from __future__ import annotations

import errno
import fcntl
import os
import posixpath
from collections.abc import Mapping
from stat import S_IMODE, S_ISREG, S_IWGRP, S_IWOTH
from typing import Any

from assent.contract import PolicyError, StoreError, loads


def read(path: str, limit: int, flags: int = 0) -> tuple[bytes, os.stat_result]:
    """Return a file's bytes and its status from one handle, opened with these additional flags; OSError if it is no
    regular file or too long.

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
    """Make a folder of Assent's own, open to its owner only, and return it; restricts an existing one too."""
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        status = os.stat(path)
        if status.st_uid != os.geteuid():
            raise StoreError(f"`{path}` belongs to another user; choose another folder with ASSENT_HOME")
        if S_IMODE(status.st_mode) & 0o077:
            os.chmod(path, 0o700)
    except OSError as error:
        raise StoreError(f"`{path}` cannot be created: {error.strerror}; check its folder's permissions") from None
    return path


def replace_text(path: str, text: str) -> None:
    """Write a state file whole or not at all, readable by its owner only."""
    replace(path, text.encode("utf-8"), 0o600)


def replace(path: str, data: bytes, mode: int) -> None:
    """Write a file whole or not at all, even if the old one is a running program. Raises StoreError."""
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
    """Lock out other processes between reading and writing; `path` is a lock file in a folder that exists."""

    __slots__ = ("_handle", "_path")

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        try:
            self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreError(f"`{self._path}` cannot be created: {error.strerror}") from None
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX)
        except BaseException:
            os.close(self._handle)
            raise

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)


def locked(state: str, name: str) -> held:
    """Hold a lock file in the state folder; creates its folder."""
    path = posixpath.join(state_folder(state), name)
    state_folder(posixpath.dirname(path))
    return held(path)


def stored(path: str, limit: int) -> Any:
    """The JSON in a state file; an empty list if there is no file. Raises StoreError if it cannot be read."""
    try:
        return loads(read(path, limit)[0])
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise StoreError(f"`{path}` cannot be read: {error.strerror}; repair it or remove it") from None
    except (ValueError, RecursionError):
        raise StoreError(f"`{path}` is not JSON; repair it or remove it") from None


# ---------------------------------------------------------------- configuration

MANAGED_FILE = "/etc/assent/policy.toml"
USER_FILE = "config.toml"
PROJECT_FILE = ".assent.toml"
PACKS_FILE = "packs.json"
MAX_CONFIG = 4 * 1024 * 1024
READS = 10  # attempts, while another process creates or removes the file


def assent_home(environ: Mapping[str, str], home: str) -> str:
    """The folder of the user's configuration and state: `ASSENT_HOME`, else `.assent` in the home folder.

    `""` if neither names an absolute folder; a relative `ASSENT_HOME` is a mistake, never a guess."""
    named = environ.get("ASSENT_HOME", "")
    if named and not named.startswith("/"):
        raise PolicyError(f"`ASSENT_HOME` is `{named}`, not an absolute path", suggestion="give an absolute path")
    return posixpath.normpath(named) if named else posixpath.join(home, ".assent") if home.startswith("/") else ""


def user_file(folder: str) -> str:
    return posixpath.join(folder, USER_FILE)


def project_file(root: str) -> str:
    return posixpath.join(root, PROJECT_FILE)


def packs_file(folder: str) -> str:
    return posixpath.join(folder, PACKS_FILE)


def own_paths(folder: str, roots: tuple[str, ...]) -> tuple[str, ...]:
    """Assent's own files and folders, which no call may touch."""
    return tuple(
        path for path in (posixpath.dirname(MANAGED_FILE), folder, *(project_file(root) for root in roots)) if path
    )


def config_text(path: str, *, managed: bool = False) -> str | None:
    """Return a configuration file's text; None if there is no such file.

    Any other failure is a PolicyError: an unreadable file must not count as empty. A managed file must be out of reach
    of everyone but its owner and root."""
    try:
        raw, status = _present(path)
        if managed:
            _guarded(path, status)
            _guarded(posixpath.dirname(path), os.stat(posixpath.dirname(path)))
    except FileNotFoundError:
        if os.path.islink(path):
            raise PolicyError("a dangling link", file=path, suggestion="remove it or restore it") from None
        return None
    except NotADirectoryError:
        return None
    except OSError as error:
        raise PolicyError(
            f"cannot be read: {error.strerror}", file=path, suggestion="make it a readable file, or move it away"
        ) from None
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise PolicyError(
            "not UTF-8 text", file=path, line=raw.count(b"\n", 0, error.start) + 1, suggestion="save it as UTF-8"
        ) from None


def _present(path: str) -> tuple[bytes, os.stat_result]:
    for _ in range(READS):
        try:
            return read(path, MAX_CONFIG)
        except FileNotFoundError:
            if not os.path.lexists(path) or os.path.islink(path):
                raise
    raise OSError(0, "it keeps appearing and disappearing")


def _guarded(path: str, status: os.stat_result) -> None:
    if status.st_uid != 0:
        raise PolicyError("a managed policy must belong to root", file=path, suggestion=f"sudo chown root {path}")
    if S_IMODE(status.st_mode) & (S_IWGRP | S_IWOTH):
        raise PolicyError(
            "a managed policy must not be writable by others", file=path, suggestion=f"sudo chmod go-w {path}"
        )
