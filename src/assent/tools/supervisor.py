"""Runs one program and ends all its descendants, however far they detached themselves. Run as a script; imports nothing
of the package.

`python -I -S supervisor.py FD WORD…`: FD is one end of a socket pair. Whoever holds the other end closes it, or dies,
to end everything. Before this process ends it writes `L` if the program left others running, and `D` once nothing of it
is left. This process inherits whatever loses its parent (a subreaper), so that a new session, a process group or a
double fork does not escape it."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import socket
import sys
import time
from contextlib import suppress

SUBREAPER, DEATH = 36, 1  # of prctl
POLL = 0.02  # seconds between checks
LINGER = 0.5  # seconds for its descendants to end by themselves, once the program has ended
GRACE = 1.0  # seconds between SIGTERM and SIGKILL
LONGEST = 5.0  # seconds for all to end after that


def main() -> None:
    line = socket.socket(fileno=int(sys.argv[1]))
    os.set_inheritable(line.fileno(), False)
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    adopts = prctl(SUBREAPER, 1, 0, 0, 0) == 0
    program = os.fork()
    if program == 0:
        _become(sys.argv[2:], prctl)
    # From here on this process does not hold the program's output open.
    with open(os.devnull, "r+b", buffering=0) as null:
        for number in (0, 1, 2):
            os.dup2(null.fileno(), number)
    ended: dict[int, int] = {}
    left = _until_over(line, program, ended)
    gone = _end(left, ended)
    with suppress(OSError):
        line.sendall((b"L" if left else b"") + (b"D" if gone and adopts else b""))
    line.close()
    _leave(ended.get(program))


def _become(words: list[str], prctl: object) -> None:
    try:
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores
            signal.signal(number, signal.SIG_DFL)
        os.setsid()
        assert callable(prctl)
        prctl(DEATH, signal.SIGKILL, 0, 0, 0)
        os.execvp(words[0], words)
    finally:
        os._exit(127)


def _until_over(line: socket.socket, program: int, ended: dict[int, int]) -> list[int]:
    """Wait for the program, and a moment longer for its descendants; those that are left."""
    awake, until = _child_events(), 0.0
    while True:
        _reap(ended)
        if program in ended:
            until = until or time.monotonic() + LINGER
            if time.monotonic() > until or not descendants():
                break
        if line in select.select([line, awake], [], [], POLL if until else None)[0]:  # nobody writes: it was closed
            break
        with suppress(BlockingIOError):
            awake.recv(4096)
    return [pid for pid, _ in descendants()]


def _reap(ended: dict[int, int]) -> None:
    with suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            ended[found[0]] = found[1]


def _child_events() -> socket.socket:
    """A socket that becomes readable when a child ends."""
    awake, wakes = socket.socketpair()
    awake.setblocking(False)
    wakes.setblocking(False)
    signal.set_wakeup_fd(wakes.detach(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return awake


def _end(left: list[int], ended: dict[int, int]) -> bool:
    """End everything, with SIGTERM first. True once nothing is left."""
    if left:
        _signal(signal.SIGTERM)
    end = time.monotonic()
    for number, seconds in ((0, GRACE if left else 0.0), (signal.SIGKILL, LONGEST)):
        end += seconds
        while True:
            if number:
                _signal(number)
            _reap(ended)
            if not descendants():
                _reap(ended)
                return True
            if time.monotonic() >= end:
                break
            time.sleep(POLL)
    return False


def _signal(number: int) -> None:
    """INVARIANT: only a process that is still the one that was found is signalled: numbers are reused."""
    for pid, start in descendants():
        with suppress(OSError):
            handle = os.pidfd_open(pid)
            try:
                if _stat(pid)[1] == start:
                    signal.pidfd_send_signal(handle, number)
            finally:
                os.close(handle)


def descendants() -> list[tuple[int, int]]:
    """The living descendants of this process: numbers and start times. Zombies do not count."""
    parents: dict[int, list[tuple[int, int]]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError, ValueError, IndexError):
                parent, start, lives = _stat(int(name))
                if lives or parent != os.getpid():
                    parents.setdefault(parent, []).append((int(name), start if lives else -1))
    found: list[tuple[int, int]] = []
    waiting = [os.getpid()]
    while waiting:
        for pid, start in parents.get(waiting.pop(), ()):
            waiting.append(pid)
            if start >= 0:
                found.append((pid, start))
    return found


def _stat(pid: int) -> tuple[int, int, bool]:
    """The parent of a process, its start time, and whether it is no zombie."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    return int(fields[1]), int(fields[19]), fields[0] not in (b"Z", b"X")


def _leave(status: int | None) -> None:
    if status is None:
        os._exit(1)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        with suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


if __name__ == "__main__":
    main()
