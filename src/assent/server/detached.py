"""Starts the server in the background, detached from the process that starts it, with a log of limited size."""

from __future__ import annotations

import io
import os
import signal
import sys
import time
import traceback
from contextlib import suppress

from assent.contract import AssentError, StoreError, display
from assent.hook import starting
from assent.server.listening import ServeOptions, running
from assent.state.files import state_folder

LOG_FILE = "server.log"
MOST = 256 * 1024  # bytes of the log; a longer one is moved to one older file
PATIENCE = 20.0  # seconds until it must listen
BETWEEN = 0.05  # seconds between checks
SHOWN = 300  # characters of its last line


def main(state: str, words: list[str]) -> int:
    """The script that hooks start: test whether the server can be loaded, or start it, with the inherited lock."""
    if words == ["try"]:
        from assent.server import app  # noqa: F401  # loads all that the server needs

        return 0
    if len(words) != 2 or words[0] != "start":
        return 2
    record = int(words[1])
    return 1 if launched(state, record, ServeOptions(), failures=starting.read(record)[1]) else 0


def start(state: str, options: ServeOptions) -> int:
    """Start the server for a person and wait until it listens; return its port. Raises StoreError."""
    if running(state) is not None:
        raise StoreError("a server runs already; see `assent status`, or stop it with `assent stop`")
    handle = starting.open_record(state_folder(state))
    with os.fdopen(handle, "rb+", buffering=0):
        if not starting.took_lock(handle):
            raise StoreError("a server is being started; see `assent status`")
        why = _detached(state, handle, options)
    found = running(state)
    if why or found is None:
        raise StoreError(f"the server did not start: {why or 'it ended'}; see `{os.path.join(state, LOG_FILE)}`")
    return found.port


def _detached(state: str, record: int, options: ServeOptions) -> str:
    """Start the server from an intermediate process in a new session; why it did not start."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        why = "it could not be started"
        try:
            os.close(reading)
            os.setsid()
            why = launched(state, record, options, failures=starting.read(record)[1] + 1)
        finally:
            os.write(writing, why.encode("utf-8", "replace"))
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        why = file.read().decode("utf-8", "replace")
    os.waitpid(child, 0)
    return why


def launched(state: str, record: int, options: ServeOptions, *, failures: int) -> str:
    """Start the server as a child that outlives this process, and wait until it listens; why it did not, `""` if it
    did. The record keeps the `failures` in a row, this one included, for the next hook."""
    os.chdir("/")
    os.umask(0o077)
    if running(state) is not None:
        starting.write(record, "")
        return "one runs already"
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        _become(state, options)
    why = _watched(state, child)
    starting.write(record, starting.FAILED if why else "", failures)
    return why


def _watched(state: str, child: int) -> str:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        ended, _ = os.waitpid(child, os.WNOHANG)
        if ended:
            return _last_line(state) or "it ended at once"
        found = running(state)
        if found is not None and found.pid == child:
            return ""
        time.sleep(BETWEEN)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return f"it did not listen within {PATIENCE:.0f} seconds"


def _become(state: str, options: ServeOptions) -> None:
    """Become the server. Never returns."""
    status = 1
    try:
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        null, log = os.open(os.devnull, os.O_RDONLY), opened(state)
        for handle, place in ((null, 0), (log, 1), (log, 2)):
            os.dup2(handle, place)
        os.closerange(3, 16)
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  # for as long as the process lives
        sys.stdout = sys.stderr = BoundedLog(1)
        print(time.strftime("%Y-%m-%d %H:%M:%S  the server starts in the background"))
        from assent.server import serving

        status = serving.keep(options, background=True)
    except AssentError as error:
        print(display.one_line(str(error)))
    except BaseException:
        traceback.print_exc()
    os._exit(status)


# ---------------------------------------------------------------- the log


def opened(state: str) -> int:
    """The log, opened to append; a long one is moved away first."""
    path = os.path.join(state, LOG_FILE)
    with suppress(OSError):
        if os.lstat(path).st_size > MOST // 2:
            os.replace(path, f"{path}.1")
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)


class BoundedLog(io.TextIOBase):
    """Writes text to a file, which is emptied before it grows too long."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def write(self, text: str) -> int:
        if os.fstat(self._handle).st_size > MOST:
            os.ftruncate(self._handle, 0)
        os.write(self._handle, text.encode("utf-8", "backslashreplace")[:MOST])
        return len(text)

    def writable(self) -> bool:
        return True


def _last_line(state: str) -> str:
    try:
        with open(os.path.join(state, LOG_FILE), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - 4096))
            lines = file.read().decode("utf-8", "replace").split("\n")
    except OSError:
        return ""
    return display.one_line(next((line.strip() for line in reversed(lines) if line.strip()), ""), SHOWN)
