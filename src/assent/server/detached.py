"""The server in the background: apart from whoever started it, watched until it listens, with a log that stays small.

Serves nothing itself."""

from __future__ import annotations

import fcntl
import io
import os
import signal
import sys
import time
import traceback

from assent.contract import AssentError, StoreError, display
from assent.hook import starting
from assent.server.listening import running
from assent.server.serve_options import ServeOptions
from assent.state.files import state_folder

LOG_FILE = "server.log"
MOST = 256 * 1024  # bytes of the log; what is older goes into one file beside it
PATIENCE = 20.0  # seconds until it must listen
BETWEEN = 0.05  # seconds between looks
SHOWN = 300  # letters of what it said last


def main(state: str, words: list[str]) -> int:
    """What the script does: try whether everything is here, or start the server, holding the lock it was given."""
    if words == ["try"]:
        from assent.server import app  # noqa: F401  # with all that it needs

        return 0
    if len(words) != 2 or words[0] != "start":
        return 2
    record = int(words[1])
    return 1 if launched(state, record, ServeOptions(), failures=starting.read(record)[1]) else 0


def start(state: str, options: ServeOptions) -> int:
    """Start the server for a person, who waits until it listens. Returns its port; raises StoreError."""
    if running(state) is not None:
        raise StoreError("a server runs already; see `assent status`, or end it with `assent stop`")
    handle = os.open(
        os.path.join(state_folder(state), starting.RECORD_FILE), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600
    )
    with os.fdopen(handle, "rb+", buffering=0):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StoreError("a server is being started; see `assent status`") from None
        why = _apart(state, handle, options)
    found = running(state)
    if why or found is None:
        raise StoreError(f"the server did not start: {why or 'it ended'}; see `{os.path.join(state, LOG_FILE)}`")
    return found.port


def _apart(state: str, record: int, options: ServeOptions) -> str:
    """Start it from a process between, in a session of its own; why it did not start."""
    reading, writing = os.pipe()
    between = os.fork()
    if between == 0:
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
    os.waitpid(between, 0)
    return why


def launched(state: str, record: int, options: ServeOptions, *, failures: int) -> str:
    """Start the server as a child that outlives this process, and watch until it listens; why it did not, `""` where it
    did. The record tells the next hook: `failures` in a row, with this one."""
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
            return _last_words(state) or "it ended at once"
        found = running(state)
        if found is not None and found.pid == child:
            return ""
        time.sleep(BETWEEN)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return f"it did not listen within {PATIENCE:.0f} seconds"


def _become(state: str, options: ServeOptions) -> None:
    """Be the server, and never return."""
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
    """The log, opened to be added to; one that has grown is put aside first."""
    path = os.path.join(state, LOG_FILE)
    try:
        if os.lstat(path).st_size > MOST // 2:
            os.replace(path, f"{path}.1")
    except OSError:
        pass
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)


class BoundedLog(io.TextIOBase):
    """Text into a file that begins anew where it would grow too long."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def write(self, text: str) -> int:
        if os.fstat(self._handle).st_size > MOST:
            os.ftruncate(self._handle, 0)
        os.write(self._handle, text.encode("utf-8", "backslashreplace")[:MOST])
        return len(text)

    def writable(self) -> bool:
        return True


def _last_words(state: str) -> str:
    """The last line of the log."""
    try:
        with open(os.path.join(state, LOG_FILE), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - 4096))
            lines = file.read().decode("utf-8", "replace").split("\n")
    except OSError:
        return ""
    said = [line.strip() for line in lines if line.strip()]
    return display.one_line(said[-1], SHOWN) if said else ""
