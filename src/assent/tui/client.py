"""HTTP to the server over its socket, as a signed-in person.

The cookie and the key of the session are in the memory of this process only."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from assent.contract import StoreError
from assent.engine import http, http_message
from assent.engine.http import EventReader, Exchange, StreamEvent
from assent.server import local
from assent.server.access import INBOX
from assent.server.listening import Running

PATIENCE = 10.0  # seconds for an answer of the server
SILENCE = 35.0  # the server pings its stream more often than this
LARGEST = 64 * 1024 * 1024  # bytes of an answer, or of one event
SIGNED_OUT = "not-allowed"  # the code of a request that only a signed-in person may make
NO_SERVER = "no server runs; start one with `assent serve` in another terminal"

Find = Callable[[], Running | None]
Data = dict[str, Any]
T = TypeVar("T")


class Client:
    """One person's session with the server of this user. Finds the server for each request: it may have restarted
    elsewhere. Raises StoreError if nobody answers, AccessError with the server's code if it refuses."""

    def __init__(self, find: Find) -> None:
        self._find = find
        self._cookie = self._key = ""
        self.who = ""

    async def sign_in(self, code: str) -> None:
        """Start a session with a one-time code that the person typed."""
        headers, data = await self._once("POST", "/v1/session", {"code": code, "channel": INBOX}, PATIENCE)
        self._cookie = headers.get("set-cookie", "").partition(";")[0]
        self._key = str(data.get("key", ""))
        self.who = str(data.get("who", ""))

    async def ask(self, method: str, path: str, body: object = None, *, patience: float = PATIENCE) -> Data:
        return (await self._once(method, path, body, patience))[1]

    async def events(self) -> AsyncIterator[tuple[str, Data]]:
        """The server's events. Ends when the server ends the stream; raises when nothing comes any more."""
        exchange = await self._send("GET", "/v1/events", None, PATIENCE)
        try:
            if exchange.head.status != 200:
                local.answered(exchange.head.status, await _within(PATIENCE, _whole(exchange)))
            reader, pieces = EventReader(LARGEST), exchange.body()
            while (found := await _within(SILENCE, _some(pieces, reader))) is not None:
                for event in found:
                    yield event.name or "message", local.table(event.data)
        finally:
            exchange.close()

    def end_now(self, id: str = "", digest: str = "") -> None:
        """Before this process ends: dismiss a question, and sign out. Does not wait long, and raises nothing."""
        found = self._find() if self._cookie else None
        if found is None:
            return
        if id:
            self._now(found, "POST", f"/v1/held/{id}/dismiss", json.dumps({"digest": digest}))
        self._now(found, "DELETE", "/v1/session", "")
        self._cookie = self._key = ""

    def _now(self, found: Running, method: str, path: str, body: str) -> None:
        with suppress(OSError):
            http_message.request(found.socket, method, path, body.encode(), seconds=2.0, headers=self._headers())

    # Requests

    async def _once(self, method: str, path: str, body: object, patience: float) -> tuple[Mapping[str, str], Data]:
        exchange = await self._send(method, path, body, patience)
        try:
            raw = await _within(patience, _whole(exchange))
        finally:
            exchange.close()
        return exchange.head.headers, local.answered(exchange.head.status, raw)

    async def _send(self, method: str, path: str, body: object, patience: float) -> Exchange:
        """Send a request, and read the head of the answer."""
        found = self._find()
        if found is None:
            raise StoreError(NO_SERVER)
        exchange = await _within(PATIENCE, http.connect_unix(found.socket))
        headers = {"Host": "localhost", "Content-Type": "application/json", **self._headers()}
        raw = b"" if body is None else json.dumps(body).encode()
        try:
            await _within(patience, exchange.send(method, path, headers, raw))
        except BaseException:
            exchange.close()
            raise
        return exchange

    def _headers(self) -> dict[str, str]:
        return {"Cookie": self._cookie, "Assent-Key": self._key} if self._cookie else {}


async def _within(seconds: float, waiting: Awaitable[T]) -> T:
    """The awaited result; raises StoreError if the connection breaks or nothing comes."""
    try:
        return await asyncio.wait_for(waiting, seconds)
    except TimeoutError:
        raise StoreError(f"the server did not answer within {seconds:.0f} seconds") from None
    except (OSError, EOFError, ValueError) as error:
        raise StoreError(f"the connection to the server broke: {error or 'it was closed'}") from None


async def _whole(exchange: Exchange) -> bytes:
    return await http.whole(exchange.body(), LARGEST)


async def _some(pieces: AsyncIterator[bytes], reader: EventReader) -> list[StreamEvent] | None:
    """The events that the next bytes complete; None at the end of the stream."""
    piece = await anext(pieces, b"")
    return list(reader.feed(piece)) if piece else None
