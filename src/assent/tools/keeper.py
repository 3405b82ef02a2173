"""Runs one program and ends all that comes of it, however far it detached itself. A process of its own; imports nothing
of the package.

`python -I -S keeper.py FD WORD…`: FD is one end of a pair of sockets. Whoever holds the other end closes it, or dies,
to end everything; what is written to it before this process ends is `L` where the program left others running, and `D`
once nothing of it is left. This process inherits whatever loses its parent (a subreaper), so that a session, a group or
a double fork of its own is no way out."""

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
LOOK = 0.02  # seconds between looks
LINGER = 0.5  # seconds for what the program started to end by itself, once it has ended
GRACE = 1.0  # seconds to end in good order
LONGEST = 5.0  # seconds for all to be gone after that


def main() -> None:
    line = socket.socket(fileno=int(sys.argv[1]))
    os.set_inheritable(line.fileno(), False)
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    kept = prctl(SUBREAPER, 1, 0, 0, 0) == 0
    program = os.fork()
    if program == 0:
        _become(sys.argv[2:], prctl)
    # From here on nothing of ours holds the program's output open.
    with open(os.devnull, "r+b", buffering=0) as nothing:
        for number in (0, 1, 2):
            os.dup2(nothing.fileno(), number)
    ended: dict[int, int] = {}
    left = _until_over(line, program, ended)
    gone = _end(left, ended)
    with suppress(OSError):
        line.sendall((b"L" if left else b"") + (b"D" if gone and kept else b""))
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
    """Wait for the program, and for what it started a moment longer; what is left of it."""
    awake, until = _told_of_children(), 0.0
    while True:
        _reap(ended)
        if program in ended:
            until = until or time.monotonic() + LINGER
            if time.monotonic() > until or not descendants():
                break
        if line in select.select([line, awake], [], [], LOOK if until else None)[0]:  # nobody writes: it was closed
            break
        with suppress(BlockingIOError):
            awake.recv(4096)
    return [pid for pid, _ in descendants()]


def _reap(ended: dict[int, int]) -> None:
    """Note the status of each child that has ended."""
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            ended[pid] = status


def _told_of_children() -> socket.socket:
    """Becomes readable when a child ends."""
    awake, told = socket.socketpair()
    awake.setblocking(False)
    told.setblocking(False)
    signal.set_wakeup_fd(told.detach(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return awake


def _end(left: list[int], ended: dict[int, int]) -> bool:
    """End everything, in good order first. True once nothing is left."""
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
            time.sleep(LOOK)
    return False


def _signal(number: int) -> None:
    """INVARIANT: only a process that is still the one that was found is signalled: numbers are used again."""
    for pid, start in descendants():
        with suppress(OSError):
            handle = os.pidfd_open(pid)
            try:
                if _stat(pid)[1] == start:
                    signal.pidfd_send_signal(handle, number)
            finally:
                os.close(handle)


def descendants() -> list[tuple[int, int]]:
    """What lives below this process: numbers and times of birth. What was not waited for yet does not live."""
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
    """The parent of a process, its time of birth, and whether it lives."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    return int(fields[1]), int(fields[19]), fields[0] not in (b"Z", b"X")


def _leave(status: int | None) -> None:
    """End as the program did."""
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
