"""A hook that found no server starts one in the background, where the user agreed to that. Waits for nothing.

Keeps apart who starts it (one process at a time), and when it is tried again after it failed. What it starts is the
script that `assent install --start-server` wrote, with nothing of the hook's own environment, handles, folder, session
or signals: an agent program steers the hook, and must not steer the server."""

from __future__ import annotations

import fcntl
import os
import sys
from stat import S_ISLNK
from time import monotonic, sleep, time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import signal as _signal
else:
    import _signal

RECORD_FILE = "server.start"  # a lock while somebody starts the server, and how it went the last time
LOCK_FILE = "server.lock"  # held by a server that lives
SCRIPT = "assent-server"  # in the folder of the launcher
FIRST, LONGEST = 60.0, 3600.0  # seconds until the next try after a failed start, doubled with each
BETWEEN = 0.05  # seconds between looks at who starts it
FAILED, STOPPED = "failed", "stopped"


def start(state: str) -> bool:
    """Start the server of a state folder, unless one lives, is being started, was stopped by a person, or failed to
    start a moment ago. Whether it was started; raises nothing."""
    try:
        return _start(state)
    except (OSError, ValueError):  # without a server the hook decides by itself
        return False


def _start(state: str) -> bool:
    script = os.path.join(state, "bin", SCRIPT)
    if not (_is_ours(state) and _is_ours(os.path.dirname(script)) and _is_ours(script)) or lives(state):
        return False
    record = os.open(os.path.join(state, RECORD_FILE), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        if not _took_lock(record):  # somebody is starting it
            return False
        what, count, when = read(record)
        if not may_try(what, count, when, time()):
            return False
        write(record, FAILED, count + 1)  # until it has listened, whatever becomes of who starts it
        os.set_inheritable(record, True)  # the lock goes with it
        _spawn([sys.executable, "-IS", script, "start", str(record)], keep=record)
        return True
    finally:
        os.close(record)


def _is_ours(path: str) -> bool:
    """Whether nobody else can have put it there."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return False
    return status.st_uid == os.geteuid() and not S_ISLNK(status.st_mode) and not status.st_mode & 0o077


def _spawn(words: list[str], *, keep: int) -> None:
    """Start a program in a session of its own, with an empty environment, and with no handle but one."""
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
    except OSError:  # the one by which the folder was listed
        return False


def lives(state: str) -> bool:
    """Whether a server of the folder lives: it holds its lock."""
    try:
        handle = os.open(os.path.join(state, LOCK_FILE), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


# ---------------------------------------------------------------- how it went


def read(record: int) -> tuple[str, int, float]:
    """What became of the last start: `failed`, `stopped` or `""`, how many failed in a row, and when."""
    words = os.pread(record, 256, 0).decode("ascii", "replace").split()
    if len(words) != 3 or words[0] not in (FAILED, STOPPED):
        return "", 0, 0.0
    return words[0], int(words[1]), float(words[2])


def write(record: int, what: str, count: int = 0) -> None:
    data = f"{what} {count} {int(time())}\n".encode() if what else b""
    os.ftruncate(record, 0)
    os.pwrite(record, data, 0)


def may_try(what: str, count: int, when: float, now: float) -> bool:
    """Whether the server may be started anew. What a person stopped stays so; a clock that went back is no reason."""
    if what == STOPPED:
        return False
    return what != FAILED or not 0 <= now - when < pause(count)


def pause(count: int) -> float:
    """Seconds until the next try after so many that failed."""
    return min(FIRST * 2.0 ** min(count - 1, 20), LONGEST)


def note(state: str, what: str, *, patience: float = 0.0) -> None:
    """Remember that a person stopped the server, or (`""`) that it may be started. Whoever is starting one is waited
    for, with `patience`, in seconds: at its end it says itself how that went."""
    handle = os.open(os.path.join(state, RECORD_FILE), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    until = monotonic() + patience
    try:
        while not _took_lock(handle) and monotonic() < until:
            sleep(BETWEEN)
        write(handle, what)
    finally:
        os.close(handle)


def _took_lock(handle: int) -> bool:
    """Take the lock; False where somebody has it."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def is_starting(state: str) -> bool:
    """Whether somebody is starting the server right now: until it listens, the record says that it failed."""
    try:
        handle = os.open(os.path.join(state, RECORD_FILE), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def last(state: str) -> tuple[str, int, float]:
    """What became of the last start, from the folder's record."""
    try:
        handle = os.open(os.path.join(state, RECORD_FILE), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return "", 0, 0.0
    try:
        return read(handle)
    except ValueError:
        return "", 0, 0.0
    finally:
        os.close(handle)
