"""Runs one program in a session of its own, within time and memory, and ends all that it started. Judges nothing.

It has no terminal and no input but what it is given. A `kept` program is run by `keeper.py`, a process that ends what
detaches itself too, and everything where this process dies."""

from __future__ import annotations

import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from assent.contract import Value
from assent.tools import keeper
from assent.tools.tool import Problem, Stop

PIECE = 64 * 1024
LOOK = 0.05  # seconds between looks at whether it is over
LINGER = 0.5  # seconds for what it started to let go of the pipe, once the program itself has ended
GRACE = 1.0  # seconds to end in good order
ENDING = 10.0  # seconds for a keeper to end everything
KEEPER = os.path.abspath(keeper.__file__)


class Ended(Value):
    """How a program ended. `size` is the length of all its output, of which `output` holds beginning and end."""

    __slots__ = ("status", "output", "size", "cut", "late", "left", "gone")

    def __init__(
        self, status: int, output: bytes, size: int, *, cut: int = 0, late: bool, left: bool, gone: bool = True
    ) -> None:
        self.status = status
        self.output = output
        self.size = size
        self.cut = cut  # where in `output` something is left out; 0 where nothing is
        self.late = late  # it was ended because its time was over
        self.left = left  # it left programs behind
        self.gone = gone  # all that it started is known to have ended


class Stopped(Exception):
    """Nobody wants the result any more."""


class Kept:
    """The beginning and the end of an output, however long it is."""

    def __init__(self, head: int, tail: int) -> None:
        self._head, self._tail = head, tail
        self._first = bytearray()
        self._last = bytearray()
        self.size = 0

    def add(self, data: bytes) -> None:
        self.size += len(data)
        room = self._head - len(self._first)
        if room > 0:
            self._first += data[:room]
            data = data[room:]
        self._last += data
        if len(self._last) > 2 * self._tail + PIECE:
            del self._last[: -self._tail]

    def result(self) -> tuple[bytes, int]:
        """What is kept, and where something is left out."""
        last = bytes(self._last[-self._tail :]) if self._tail else b""
        cut = len(self._first) if self.size > len(self._first) + len(last) else 0
        return bytes(self._first) + last, cut


def run(
    words: Sequence[str],
    *,
    folder: int,
    environ: Mapping[str, str],
    seconds: float,
    stop: Stop,
    given: bytes = b"",
    head: int,
    tail: int,
    kept: bool = False,
) -> Ended:
    """Run a program in the folder behind a handle. Raises Problem where it cannot be started, Stopped where told to."""
    ours, theirs = socket.socketpair()
    before = [sys.executable, "-I", "-S", KEEPER, str(theirs.fileno())] if kept else []
    try:
        program = subprocess.Popen(
            [*before, *words],
            pass_fds=(theirs.fileno(),) if kept else (),
            stdin=subprocess.PIPE if given else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=f"/proc/self/fd/{folder}",  # the folder itself, whatever its name leads to by now
            env=dict(environ),
            start_new_session=True,  # a group of its own, and no terminal to open
        )
    except (OSError, ValueError) as error:
        ours.close()
        raise Problem(f"`{words[0]}` cannot be started: {error}") from None
    finally:
        theirs.close()
    watched = _Watched(program, Kept(head, tail), ours if kept else None)
    try:
        if given:
            _feed(program, given)
        late, left = watched.until(time.monotonic() + seconds, stop)
    finally:
        told = watched.end()
        ours.close()
    if stop:
        raise Stopped
    output, cut = watched.kept.result()
    left, gone = (b"L" in told and not late, b"D" in told) if kept else (left, True)
    return Ended(program.returncode, output, watched.kept.size, cut=cut, late=late, left=left, gone=gone)


def _feed(program: subprocess.Popen[bytes], given: bytes) -> None:
    """Hand over input that fits into a pipe, or to a program that reads it first."""
    assert program.stdin is not None
    with suppress(OSError), program.stdin as pipe:
        pipe.write(given)


class _Watched:
    def __init__(self, program: subprocess.Popen[bytes], kept: Kept, keeper: socket.socket | None = None) -> None:
        assert program.stdout is not None
        self._keeper = keeper
        self._program = program
        self._pipe = program.stdout
        self.kept = kept
        self._open = True
        os.set_blocking(self._pipe.fileno(), False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._pipe, selectors.EVENT_READ)

    def until(self, end: float, stop: Stop) -> tuple[bool, bool]:
        """Read until it is over: whether its time was, and whether it left something behind."""
        linger: float | None = None
        while not stop:
            now = time.monotonic()
            if self._exited():
                if not self._open:
                    return False, False
                linger = now + LINGER if linger is None else linger
                if now > linger:
                    return False, True
            elif now > end:
                return True, False
            self._read(LOOK)
        return False, False

    def _exited(self) -> bool:
        """INVARIANT: the program is not waited for before its group was ended, so that its number is still its own."""
        try:
            return os.waitid(os.P_PID, self._program.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:  # somebody else in this process waits for all children
            return True

    def _read(self, seconds: float) -> bool:
        """Take what is there within some time; false where nothing was."""
        if not self._open:
            time.sleep(min(seconds, 0.01))
            return False
        if not self._selector.select(seconds):
            return False
        try:
            data = os.read(self._pipe.fileno(), PIECE)
        except BlockingIOError:
            return False
        self._open = bool(data)
        self.kept.add(data)
        return self._open

    def end(self) -> bytes:
        """End all of it, also where the program itself is gone. What the keeper told, where there is one."""
        if self._keeper is not None:
            with suppress(OSError):
                self._keeper.shutdown(socket.SHUT_WR)
            until = time.monotonic() + ENDING
        else:
            self._signal(signal.SIGTERM)
            until = time.monotonic() + GRACE
        while not self._exited() and time.monotonic() < until:
            self._read(LOOK)
        self._signal(signal.SIGKILL)
        self._program.wait()
        while time.monotonic() < until and self._read(0):
            pass
        self._selector.close()
        self._pipe.close()
        return self._told()

    def _told(self) -> bytes:
        if self._keeper is None:
            return b""
        self._keeper.settimeout(GRACE)
        try:
            return self._keeper.recv(16)
        except OSError:
            return b""

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._program.pid, number)
