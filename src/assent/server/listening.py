"""The sockets of the server, and the lock that allows one server for each state folder.

The system releases the lock when the process ends. So the socket file of a server that crashed is recognized, and
removed."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
import stat
import time
from contextlib import suppress
from dataclasses import dataclass

from assent.contract import StoreError
from assent.state.files import state_folder

LOCK_FILE = "server.lock"
SOCKET_FILE = "server.sock"
BACKLOG = 4096
TRIES = 5
LONGEST = 100  # bytes of a socket's path that every system allows
PORT = 8765


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """How a server starts. `socket` `""` is the one in the state folder, `config` `""` the user's own file; `open`
    opens the page."""

    port: int = PORT
    socket: str = ""
    mode: str = ""
    config: str = ""
    open: bool = False


@dataclass(frozen=True, slots=True)
class Running:
    """A running server, from its lock file."""

    pid: int
    port: int
    socket: str


class Listening:
    def __init__(self, state: str, *, port: int, path: str = "", any_port: bool = False) -> None:
        """`any_port`: take any other port if this one is taken."""
        self.path = os.path.abspath(path) if path else os.path.join(state_folder(state), SOCKET_FILE)
        self._lock = _locked(os.path.join(state_folder(state), LOCK_FILE))
        try:
            self.unix = _unix(self.path)
            self._identity = _identity(self.path)
            self.tcp = _tcp(port, any_port)
            self.port: int = self.tcp.getsockname()[1]
            text = json.dumps({"pid": os.getpid(), "port": self.port, "socket": self.path}).encode()
            os.ftruncate(self._lock, 0)
            os.pwrite(self._lock, text, 0)
        except BaseException:
            os.close(self._lock)
            raise

    def close(self) -> None:
        """Remove the socket file, if it is still ours, and release the lock."""
        with suppress(OSError):
            if _identity(self.path) == self._identity:
                os.unlink(self.path)
        for each in (self.unix, self.tcp):
            each.close()
        with suppress(OSError):
            os.ftruncate(self._lock, 0)
            os.close(self._lock)


def running(state: str) -> Running | None:
    """The server that runs in a state folder; None if none does."""
    try:
        handle = os.open(os.path.join(state, LOCK_FILE), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:  # a server holds it
        with suppress(ValueError, KeyError, TypeError):
            found = json.loads(os.pread(handle, 4096, 0) or b"{}")
            return Running(int(found["pid"]), int(found["port"]), str(found["socket"]))
    finally:
        os.close(handle)
    return None


def _locked(path: str) -> int:
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise StoreError(f"`{path}` cannot be opened: {error.strerror}") from None
    for _ in range(TRIES):
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return handle
        time.sleep(0.05)  # `running` holds it for a moment
    os.close(handle)
    raise StoreError("a server runs already; see `assent status`, or stop it with `assent stop`")


def _unix(path: str) -> socket.socket:
    """A socket that only the user can connect to. Removes only the file of a crashed server."""
    if len(os.fsencode(path)) > LONGEST:
        raise StoreError(f"`{path}` is too long for a socket; give a shorter one with --socket")
    with suppress(FileNotFoundError):
        status = os.lstat(path)
        if not stat.S_ISSOCK(status.st_mode) or status.st_uid != os.geteuid():
            raise StoreError(f"`{path}` exists and is not a socket of yours; move it, or give another with --socket")
        if _answers(path):
            raise StoreError(f"another program listens on `{path}`; give another with --socket")
        os.unlink(path)
    found = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        found.bind(path)
        found.listen(BACKLOG)
    except OSError as error:
        found.close()
        raise StoreError(f"`{path}` cannot be used as a socket: {error.strerror}; give another with --socket") from None
    finally:
        os.umask(before)
    return found


def _answers(path: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        return probe.connect_ex(path) not in (errno.ECONNREFUSED, errno.ENOENT)


def _tcp(port: int, any_port: bool = False) -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind(("127.0.0.1", port))
        found.listen(BACKLOG)
    except OSError as error:
        found.close()
        if any_port and port:
            return _tcp(0)
        raise StoreError(f"port {port} cannot be used: {error.strerror}; give another with --port") from None
    return found


def _identity(path: str) -> tuple[int, int]:
    status = os.lstat(path)
    return (status.st_dev, status.st_ino)
