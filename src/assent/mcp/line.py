"""The connection of one HTTP request to us, and the shapes of its answer. Passes nothing on."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from assent.engine import http
from assent.engine.http_message import HttpError, MessageHead, written
from assent.engine.server_events import StreamEvent
from assent.mcp import frames
from assent.mcp.frames import INVALID

JSON, STREAM = "application/json", "text/event-stream"


class Declined(Exception):
    """A request that is not served."""

    def __init__(self, status: int, words: str, id: object = None, code: int = INVALID) -> None:
        super().__init__(words)
        self.status = status
        self.body = frames.failure(id, code, words)


class RequestConnection:
    """The connection of one request. What was begun as a stream goes on as one."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self._writer = writer
        self._streams = False
        self._begun = False

    async def body(self, head: MessageHead) -> bytes:
        try:
            return await http.whole(http.read_body(self.reader, head, answer=False), frames.LONGEST)
        except HttpError as error:
            raise Declined(413 if "longer" in str(error) else 400, str(error)) from None

    async def gone(self) -> None:
        """Returns when the client hung up. One that sends more before its answer is not served further."""
        with suppress(OSError):
            await self.reader.read(1)

    async def answer(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """The whole answer; in a stream, its last event."""
        if self._streams:
            if body.strip():
                await self.event(StreamEvent(body.rstrip(b"\n"), "message"))
            return
        if self._begun:
            return
        self._begun = True
        found = {**headers, "Content-Length": str(len(body)), "Connection": "close"}
        await self._write(written(f"HTTP/1.1 {status} {'OK' if status < 300 else 'No'}", found) + body)

    async def message(self, body: object) -> None:
        await self.answer(200, {"Content-Type": JSON}, frames.write(body))

    async def stream(self, headers: Mapping[str, str]) -> None:
        """Begin a stream of events, unless one has begun."""
        if not self._streams:
            self._streams = self._begun = True
            found = {**headers, "Content-Type": STREAM, "Cache-Control": "no-store", "Connection": "close"}
            await self._write(written("HTTP/1.1 200 OK", found))

    async def sign(self) -> None:
        await self.stream({})
        await self._write(b": a person is asked\n\n")

    async def event(self, event: StreamEvent) -> None:
        await self._write(event.written())

    async def _write(self, data: bytes) -> None:
        with suppress(OSError):
            self._writer.write(data)
            await self._writer.drain()
