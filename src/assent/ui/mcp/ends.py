"""The ends of a proxy on pipes: our own standard input and output, and a server as a child process. Read no message."""

from __future__ import annotations

import asyncio
import ctypes
import os
import queue
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress

from assent.ui.mcp import frames
from assent.ui.mcp.frames import Frame, Lines

CHUNK = 256 * 1024
BUFFER = 64 * 1024 * 1024  # bytes that wait for a slow reader before we wait with it
GRACE = 3.0  # seconds for a server to end after its input did, and again after each signal
PR_SET_PDEATHSIG = 1


class Stdio:
    """The client at our standard input and output.

    In threads, since a file or a terminal cannot be waited for, and what others share with us must not be changed."""

    def __init__(self, source: int = 0, sink: int = 1) -> None:
        self._source = source
        self._sink = sink
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[list[bytes | None] | None] = asyncio.Queue(64)
        self._out: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._unwritten = 0  # bytes
        self.gone = asyncio.Event()
        threading.Thread(target=self._read, daemon=True).start()
        self._writer = threading.Thread(target=self._write, daemon=True)
        self._writer.start()

    async def lines(self) -> AsyncIterator[bytes | None]:
        """The client's lines until it ends; None for one that was too long."""
        while (found := await self._lines.get()) is not None:
            for line in found:
                yield line

    async def send(self, value: object) -> None:
        data = frames.write(value)
        while self._unwritten > BUFFER and not self.gone.is_set():
            await asyncio.sleep(0.01)
        self._unwritten += len(data)
        self._out.put(data)

    async def close(self) -> None:
        """Let what was sent be written."""
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
        with suppress(RuntimeError):  # the loop is closed
            asyncio.run_coroutine_threadsafe(self._lines.put(lines), self._loop).result()

    def _write(self) -> None:
        try:
            while (data := self._out.get()) is not None:
                view = memoryview(data)
                while view:
                    view = view[os.write(self._sink, view) :]
                self._loop.call_soon_threadsafe(self._wrote, len(data))
        except OSError:
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self.gone.set)
        except RuntimeError:  # the loop is closed
            pass

    def _wrote(self, size: int) -> None:
        self._unwritten -= size


class Child:
    """A server that we started. It has a process group of its own, which ends with us."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, command: Sequence[str]) -> Child:
        """Raises OSError where it cannot be started."""
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,
            preexec_fn=_dies_with_us() if sys.platform == "linux" else None,
        )
        assert process.stdin is not None
        process.stdin.transport.set_write_buffer_limits(BUFFER)
        return cls(process)

    async def lines(self) -> AsyncIterator[bytes | None]:
        """The server's lines until it ends; None for one that was too long."""
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
        """The exit status, once it has ended; 128 and the number for a signal."""
        status = await self._process.wait()
        return status if status >= 0 else 128 - status

    async def close(self) -> int:
        """End its input, and the process where that is not enough; return its exit status."""
        stdin = self._process.stdin
        assert stdin is not None
        with suppress(OSError, RuntimeError):
            stdin.close()
        for number in (signal.SIGTERM, signal.SIGKILL):
            with suppress(TimeoutError):
                async with asyncio.timeout(GRACE):
                    await self._process.wait()
                break
            self.signal(number)
        status = await self.ended()
        self.signal(signal.SIGKILL)  # what it left behind in its group
        return status

    def signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


def _dies_with_us() -> Callable[[], object] | None:
    """Made before the fork, since little may be done after it."""
    try:
        prctl = ctypes.CDLL(None).prctl
    except (OSError, AttributeError):
        return None
    return lambda: prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def on_signals() -> asyncio.Future[int]:
    """Becomes the number of a signal that tells us to end."""
    loop = asyncio.get_running_loop()
    found: asyncio.Future[int] = loop.create_future()

    def told(number: int) -> None:
        if not found.done():
            found.set_result(number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, told, number)
    return found
