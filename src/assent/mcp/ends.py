"""The transports of a proxy on pipes: standard input and output, and a server as a child process. Reads no messages."""

from __future__ import annotations

import asyncio
import errno
import os
import queue
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress

import assent
from assent.mcp import frames
from assent.mcp.frames import Frame, Lines

CHUNK = 256 * 1024
BUFFER = 64 * 1024 * 1024  # bytes that are buffered for a slow reader
GRACE = 3.0  # seconds for a server to end after its input did
ENDING = 10.0  # seconds for a supervisor to end everything
UNTAKEN = 64  # reads of standard input not yet taken by the proxy
UNREAD = 1024 * 1024  # bytes for a standard error that nobody reads
SUPERVISOR = os.path.join(os.path.dirname(assent.__file__), "tools", "supervisor.py")


class Stdio:
    """The client at our standard input and output.

    In threads: a file or a terminal cannot be polled, and other processes may share these descriptors, so they must not
    be made non-blocking."""

    def __init__(self, source: int = 0, sink: int = 1) -> None:
        self._source = source
        self._sink = sink
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[list[bytes | None] | None] = asyncio.Queue()
        self._room = threading.Semaphore(UNTAKEN)
        self._out: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._unwritten = 0  # bytes
        self.gone = asyncio.Event()
        threading.Thread(target=self._read, daemon=True).start()
        self._writer = threading.Thread(target=self._write, daemon=True)
        self._writer.start()

    async def lines(self) -> AsyncIterator[bytes | None]:
        while (found := await self._lines.get()) is not None:
            self._room.release()
            for line in found:
                yield line

    async def send(self, value: object) -> None:
        data = frames.write(value)
        while self._unwritten > BUFFER and not self.gone.is_set():
            await asyncio.sleep(0.01)
        self._unwritten += len(data)
        self._out.put(data)

    async def close(self) -> None:
        """Wait until everything sent is written."""
        self._out.put(None)
        await asyncio.to_thread(self._writer.join, GRACE)

    def _read(self) -> None:
        cutter = Lines()
        try:
            while data := os.read(self._source, CHUNK):
                self._hand(list(cutter.feed(data)))
        except OSError:
            pass
        self._hand(None)

    def _hand(self, lines: list[bytes | None] | None) -> None:
        # No coroutine: if a closed loop never ran it, it warns on standard error, which aborts an exiting interpreter.
        self._room.acquire()
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._lines.put_nowait, lines)

    def _write(self) -> None:
        try:
            while (data := self._out.get()) is not None:
                _write_all(self._sink, data)
                self._loop.call_soon_threadsafe(self._wrote, len(data))
        except OSError:
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self.gone.set)
        except RuntimeError:  # the loop is closed
            pass

    def _wrote(self, size: int) -> None:
        self._unwritten -= size


def _write_all(sink: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(sink, view) :]


class Errors:
    """Our standard error, in a thread, so that a stalled reader never blocks the proxy. Output that cannot be written
    is dropped."""

    def __init__(self, sink: int = 2) -> None:
        self._sink = sink
        self._out: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._waiting = 0  # bytes
        self._dropped = 0
        threading.Thread(target=self._write, daemon=True).start()

    def say(self, data: bytes) -> None:
        with self._lock:
            if self._waiting + len(data) > UNREAD:
                self._dropped += len(data)
                return
            if self._dropped:
                data = b"\nassent mcp-proxy: %d bytes that nobody read were dropped\n" % self._dropped + data
                self._dropped = 0
            self._waiting += len(data)
        self._out.put(data)

    def close(self, seconds: float = 1.0) -> None:
        """Wait until everything is written, within this time."""
        end = time.monotonic() + seconds
        while self._waiting and time.monotonic() < end:
            time.sleep(0.01)

    def _write(self) -> None:
        while True:
            data = self._out.get()
            with suppress(OSError):
                _write_all(self._sink, data)
            with self._lock:
                self._waiting -= len(data)


class Child:
    """A server that we started, under a supervisor: all its processes end with it, and with us."""

    def __init__(self, process: asyncio.subprocess.Process, supervisor: socket.socket, errors: Errors) -> None:
        self._process = process
        self._supervisor = supervisor
        self._draining = asyncio.create_task(self._drain(errors))

    @classmethod
    async def start(cls, command: Sequence[str], errors: Errors) -> Child:
        """Raises OSError if it cannot be started."""
        if shutil.which(command[0]) is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), command[0])
        ours, theirs = socket.socketpair()
        with theirs:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", SUPERVISOR, str(theirs.fileno()), *command),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        assert process.stdin is not None
        process.stdin.transport.set_write_buffer_limits(BUFFER)
        return cls(process, ours, errors)

    async def _drain(self, errors: Errors) -> None:
        assert self._process.stderr is not None
        while data := await self._process.stderr.read(CHUNK):
            errors.say(data)

    async def lines(self) -> AsyncIterator[bytes | None]:
        assert self._process.stdout is not None
        cutter = Lines()
        while data := await self._process.stdout.read(CHUNK):
            for line in cutter.feed(data):
                yield line

    async def send(self, frame: Frame) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        if stdin.is_closing() or self._process.returncode is not None:
            raise BrokenPipeError("the server has ended")
        stdin.write(frames.write(frame.body))
        await stdin.drain()

    async def ended(self) -> int:
        """The exit status, once it has ended; 128 plus the number for a signal."""
        status = await self._process.wait()
        return status if status >= 0 else 128 - status

    async def close(self) -> int:
        """Close its input, and end the process if that is not enough; return its exit status."""
        stdin = self._process.stdin
        assert stdin is not None
        with suppress(OSError, RuntimeError):
            stdin.close()
        for seconds in (GRACE, ENDING):
            with suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), seconds)
            self._supervisor.close()  # which then ends everything
        with suppress(ProcessLookupError):
            self._process.kill()
        self._draining.cancel()
        return await self.ended()


def on_signals() -> asyncio.Future[int]:
    """A future that gets the number of the first termination signal."""
    loop = asyncio.get_running_loop()
    found: asyncio.Future[int] = loop.create_future()

    def end(number: int) -> None:
        if not found.done():
            found.set_result(number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, end, number)
    return found
