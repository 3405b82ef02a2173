"""Runs one program in a session of its own, within time and memory, and ends all of its group. Judges nothing.

It has no terminal and no input but what it is given. Nothing of the group outlives the call."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from assent.contract.value import Value
from assent.tools.tool import Problem, Stop

PIECE = 64 * 1024
LOOK = 0.05  # seconds between looks at whether it is over
LINGER = 0.5  # seconds for what it started to let go of the pipe, once the program itself has ended
GRACE = 1.0  # seconds to end in good order


class Ended(Value):
    """How a program ended. `size` is the length of all its output, of which `output` holds beginning and end."""

    __slots__ = ("status", "output", "size", "cut", "late", "left")

    def __init__(self, status: int, output: bytes, size: int, *, cut: int = 0, late: bool, left: bool) -> None:
        self.status = status
        self.output = output
        self.size = size
        self.cut = cut  # where in `output` something is left out; 0 where nothing is
        self.late = late  # it was ended because its time was over
        self.left = left  # it left programs behind that held its output open


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
) -> Ended:
    """Run a program in the folder behind a handle. Raises Problem where it cannot be started, Stopped where told to."""
    try:
        program = subprocess.Popen(
            words,
            stdin=subprocess.PIPE if given else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=f"/proc/self/fd/{folder}",  # the folder itself, whatever its name leads to by now
            env=dict(environ),
            start_new_session=True,  # a group of its own, and no terminal to open
        )
    except (OSError, ValueError) as error:
        raise Problem(f"`{words[0]}` cannot be started: {error}") from None
    watched = _Watched(program, Kept(head, tail))
    try:
        if given:
            _feed(program, given)
        late, left = watched.until(time.monotonic() + seconds, stop)
    finally:
        watched.end()
    if stop:
        raise Stopped
    output, cut = watched.kept.result()
    return Ended(program.returncode, output, watched.kept.size, cut=cut, late=late, left=left)


def _feed(program: subprocess.Popen[bytes], given: bytes) -> None:
    """Hand over input that fits into a pipe, or to a program that reads it first."""
    assert program.stdin is not None
    with suppress(OSError), program.stdin as pipe:
        pipe.write(given)


class _Watched:
    def __init__(self, program: subprocess.Popen[bytes], kept: Kept) -> None:
        assert program.stdout is not None
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

    def end(self) -> None:
        """End the whole group, also where the program itself is gone."""
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

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._program.pid, number)
