"""Runs one program in a new session, within bounds of time and output, and ends all that it started.

It has no terminal and no input but what it is given. A `supervised` program is run by `supervisor.py`, a process that
also ends what detached itself, and ends everything if this process dies."""

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
from dataclasses import dataclass
from threading import Event

from assent.tools import supervisor
from assent.tools.tool import Problem

PIECE = 64 * 1024
POLL = 0.05  # seconds between checks whether it is over
LINGER = 0.5  # seconds for what it started to let go of the pipe, once the program itself has ended
GRACE = 1.0  # seconds to end in good order
ENDING = 10.0  # seconds for a supervisor to end everything
SUPERVISOR = os.path.abspath(supervisor.__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a program ended. `size` is the length of all its output; `output` holds the beginning and the end."""

    status: int
    output: bytes
    size: int
    cut: int  # offset in `output` of the part that is left out; 0 if none is
    late: bool  # it was ended because it timed out
    left: bool  # it left programs running
    gone: bool  # all that it started is known to have ended


class Stopped(Exception):
    """The call was cancelled."""


class OutputBuffer:
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
            del self._last[: len(self._last) - self._tail]

    def result(self) -> tuple[bytes, int]:
        last = bytes(self._last[-self._tail :]) if self._tail else b""
        cut = len(self._first) if self.size > len(self._first) + len(last) else 0
        return bytes(self._first) + last, cut


def run(
    words: Sequence[str],
    *,
    folder: int,
    environ: Mapping[str, str],
    seconds: float,
    stop: Event,
    given: bytes = b"",
    head: int,
    tail: int,
    supervised: bool = False,
) -> Ended:
    """Run a program in the folder of a handle. Raises Problem if it cannot be started, Stopped once `stop` is set."""
    ours, theirs = socket.socketpair()
    before = [sys.executable, "-I", "-S", SUPERVISOR, str(theirs.fileno())] if supervised else []
    try:
        program = subprocess.Popen(
            [*before, *words],
            pass_fds=(theirs.fileno(),) if supervised else (),
            stdin=subprocess.PIPE if given else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=f"/proc/self/fd/{folder}",  # the folder itself, whatever its name points to by now
            env=dict(environ),
            start_new_session=True,  # a process group, and no terminal to open
        )
    except (OSError, ValueError) as error:
        ours.close()
        raise Problem(f"`{words[0]}` cannot be started: {error}") from None
    finally:
        theirs.close()
    buffer = OutputBuffer(head, tail)
    watched = _Watched(program, buffer, ours if supervised else None)
    try:
        if program.stdin is not None:  # input that fits into a pipe, or to a program that reads it first
            with suppress(OSError), program.stdin as pipe:
                pipe.write(given)
        late, left = watched.wait(time.monotonic() + seconds, stop)
    finally:
        status = watched.end()
        ours.close()
    if stop.is_set():
        raise Stopped
    output, cut = buffer.result()
    left, gone = (b"L" in status and not late, b"D" in status) if supervised else (left, True)
    return Ended(status=program.returncode, output=output, size=buffer.size, cut=cut, late=late, left=left, gone=gone)


class _Watched:
    """A program whose output is read while it runs. `supervisor` is our end of the socket pair, if there is one."""

    def __init__(
        self, program: subprocess.Popen[bytes], buffer: OutputBuffer, supervisor: socket.socket | None
    ) -> None:
        assert program.stdout is not None
        self._supervisor = supervisor
        self._program = program
        self._pipe = program.stdout
        self._buffer = buffer
        self._open = True
        os.set_blocking(self._pipe.fileno(), False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._pipe, selectors.EVENT_READ)

    def wait(self, end: float, stop: Event) -> tuple[bool, bool]:
        """Read until it is over; whether it timed out, and whether it left something running."""
        linger: float | None = None
        while not stop.is_set():
            now = time.monotonic()
            if self._exited():
                if not self._open:
                    return False, False
                linger = now + LINGER if linger is None else linger
                if now > linger:
                    return False, True
            elif now > end:
                return True, False
            self._read(POLL)
        return False, False

    def _exited(self) -> bool:
        """INVARIANT: the program is not waited for before its group was ended, so that its number is not reused."""
        try:
            return os.waitid(os.P_PID, self._program.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:  # other code in this process waits for all children
            return True

    def _read(self, seconds: float) -> bool:
        """Read what comes within some time; false if nothing came."""
        if not self._open:
            time.sleep(min(seconds, 0.01))
        elif self._selector.select(seconds):
            with suppress(BlockingIOError):
                data = os.read(self._pipe.fileno(), PIECE)
                self._open = bool(data)
                self._buffer.add(data)
                return self._open
        return False

    def end(self) -> bytes:
        """End all of it, even if the program itself has ended; return the supervisor's report."""
        if self._supervisor is not None:
            with suppress(OSError):
                self._supervisor.shutdown(socket.SHUT_WR)
            until = time.monotonic() + ENDING
        else:
            self._signal(signal.SIGTERM)
            until = time.monotonic() + GRACE
        while not self._exited() and time.monotonic() < until:
            self._read(POLL)
        self._signal(signal.SIGKILL)
        self._program.wait()
        while time.monotonic() < until and self._read(0):
            pass
        self._selector.close()
        self._pipe.close()
        if self._supervisor is not None:
            self._supervisor.settimeout(GRACE)
            with suppress(OSError):
                return self._supervisor.recv(16)
        return b""

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._program.pid, number)
