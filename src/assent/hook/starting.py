"""A hook that finds no server starts one in the background, if the user agreed to that. Does not wait for it.

One process at a time starts it, and a failed start is not repeated at once. It starts the script of `assent install
--start-server`, without the hook's environment, handles, folder, session and signals: an agent program controls the
hook, and must not control the server."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` without its enumerations
import fcntl
import os
import sys
from stat import S_ISLNK
from time import monotonic, sleep, time

RECORD_FILE = "server.start"  # locked while the server is started; says how the last start went
LOCK_FILE = "server.lock"  # locked by a running server
SCRIPT = "assent-server"  # in the folder of the launcher
FIRST, LONGEST = 60.0, 3600.0  # seconds until the next try after a failed start, doubled with each
BETWEEN = 0.05  # seconds between tries to take the lock
FAILED, STOPPED = "failed", "stopped"


def start(state: str) -> bool:
    """Start the server of a state folder, unless one runs, is being started, was stopped by a person, or failed to
    start a short time ago. Whether it was started; raises nothing."""
    try:
        return _start(state)
    except (OSError, ValueError):  # without a server the hook decides by itself
        return False


def _start(state: str) -> bool:
    script = os.path.join(state, "bin", SCRIPT)
    if not (_is_ours(state) and _is_ours(os.path.dirname(script)) and _is_ours(script)) or runs(state):
        return False
    record = open_record(state)
    try:
        if not took_lock(record):  # another process is starting it
            return False
        what, count, when = read(record)
        if not may_try(what, count, when, time()):
            return False
        write(record, FAILED, count + 1)  # until it listens, whatever happens to the process that starts it
        os.set_inheritable(record, True)  # it inherits the lock
        _spawn([sys.executable, "-IS", script, "start", str(record)], keep=record)
        return True
    finally:
        os.close(record)


def _is_ours(path: str) -> bool:
    """Whether only this user can have created a file."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return False
    return status.st_uid == os.geteuid() and not S_ISLNK(status.st_mode) and not status.st_mode & 0o077


def _spawn(words: list[str], *, keep: int) -> None:
    """Start a program in a new session, with an empty environment and only one handle."""
    others = [int(each) for each in os.listdir("/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd")]
    closed = [each for each in others if each > 2 and each != keep and _is_inherited(each)]
    null = [(os.POSIX_SPAWN_OPEN, each, os.devnull, os.O_RDWR, 0) for each in (0, 1, 2)]
    os.posix_spawn(
        words[0],
        words,
        {},
        file_actions=[*null, *((os.POSIX_SPAWN_CLOSE, each) for each in closed)],
        setsid=True,
        setsigmask=(),
        setsigdef=[each for each in range(1, _signal.NSIG) if each not in (_signal.SIGKILL, _signal.SIGSTOP, 32, 33)],
    )


def _is_inherited(handle: int) -> bool:
    try:
        return os.get_inheritable(handle)
    except OSError:  # the handle of the folder listing
        return False


def runs(state: str) -> bool:
    return _is_locked(os.path.join(state, LOCK_FILE))


def is_starting(state: str) -> bool:
    """Whether a process is starting the server now: until it listens, the record says that the start failed."""
    return _is_locked(os.path.join(state, RECORD_FILE))


def _is_locked(path: str) -> bool:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError as error:
        return not isinstance(error, FileNotFoundError)  # for example a link: no server is started
    try:
        return not took_lock(handle, fcntl.LOCK_SH)
    finally:
        os.close(handle)


def took_lock(handle: int, kind: int = fcntl.LOCK_EX) -> bool:
    """Take the lock of a file without waiting; False if another process has it."""
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def open_record(state: str) -> int:
    return os.open(os.path.join(state, RECORD_FILE), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


# ---------------------------------------------------------------- the record of starts


def read(record: int) -> tuple[str, int, float]:
    """The result of the last start: `failed`, `stopped` or `""`, how many failed in a row, and when."""
    words = os.pread(record, 256, 0).decode("ascii", "replace").split()
    if len(words) != 3 or words[0] not in (FAILED, STOPPED):
        return "", 0, 0.0
    return words[0], int(words[1]), float(words[2])


def write(record: int, what: str, count: int = 0) -> None:
    data = f"{what} {count} {int(time())}\n".encode() if what else b""
    os.ftruncate(record, 0)
    os.pwrite(record, data, 0)


def may_try(what: str, count: int, when: float, now: float) -> bool:
    """Whether the server may be started. A server stopped by a person stays stopped; setting the clock back does not
    delay a start."""
    return what != STOPPED and (what != FAILED or not 0 <= now - when < pause(count))


def pause(count: int) -> float:
    """Seconds until the next try after so many failed starts."""
    return min(FIRST * 2.0 ** min(count - 1, 20), LONGEST)


def note(state: str, what: str, *, patience: float = 0.0) -> None:
    """Note that a person stopped the server, or (`""`) that it may be started. Waits `patience` seconds for a process
    that is starting it, which writes the record at its end."""
    handle = open_record(state)
    until = monotonic() + patience
    try:
        while not took_lock(handle) and monotonic() < until:
            sleep(BETWEEN)
        write(handle, what)
    finally:
        os.close(handle)


def last(state: str) -> tuple[str, int, float]:
    """The record of the state folder, as `read` gives it."""
    try:
        handle = os.open(os.path.join(state, RECORD_FILE), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            return read(handle)
        finally:
            os.close(handle)
    except (OSError, ValueError):
        return "", 0, 0.0
