"""Speaks HTTP to the server over its socket, as a signed-in person. Knows nothing of what is said.

The cookie and the key of the session are in the memory of this process only."""

from __future__ import annotations

import asyncio
import http.client
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from typing import Any

from assent.contract.errors import AccessError, StoreError
from assent.server.access import INBOX
from assent.server.listening import Running
from assent.server.local import Connection

PATIENCE = 10.0  # seconds for an answer of the server
SILENCE = 35.0  # the server pings its stream more often than this
SIGNED_OUT = "not-allowed"  # the code of a request that only a signed-in person may make
NO_SERVER = "no server runs; start one with `assent serve` in another terminal"

Find = Callable[[], Running | None]
Data = dict[str, Any]


class Client:
    """One person's session with the server of this user. Looks the server up for each request: it may come back
    elsewhere. Raises StoreError where nobody answers, AccessError with the server's code where it refuses."""

    def __init__(self, find: Find) -> None:
        self._find = find
        self._cookie = self._key = ""
        self.who = ""

    async def sign_in(self, code: str) -> None:
        """Begin a session with a one-time code that the person typed."""
        headers, data = await self._once("POST", "/v1/session", {"code": code, "channel": INBOX}, PATIENCE)
        self._cookie = headers.get("set-cookie", "").partition(";")[0]
        self._key = str(data.get("key", ""))
        self.who = str(data.get("who", ""))

    async def ask(self, method: str, path: str, body: object = None, *, patience: float = PATIENCE) -> Data:
        """One request and what the server gives."""
        return (await self._once(method, path, body, patience))[1]

    async def events(self) -> AsyncIterator[tuple[str, Data]]:
        """The server's events as they come. Ends when the server ends the stream, raises when it falls silent."""
        reader, writer = await self._connect()
        try:
            status, headers = await _within(PATIENCE, self._send(reader, writer, "GET", "/v1/events", None))
            if status != 200:
                raise _refusal(status, await _within(PATIENCE, _body(reader, headers)))
            text = b""
            while piece := await _within(SILENCE, _chunk(reader)):
                *blocks, text = (text + piece).split(b"\n\n")
                for block in blocks:
                    yield _event(block)
        finally:
            writer.close()

    def end_now(self, id: str = "", digest: str = "") -> None:
        """Before this process ends: put a question away and sign out. Does not wait for long, and raises nothing."""
        found = self._find() if self._cookie else None
        if found is None:
            return
        if id:
            self._now(found, "POST", f"/v1/held/{id}/dismiss", json.dumps({"digest": digest}))
        self._now(found, "DELETE", "/v1/session", "")
        self._cookie = self._key = ""

    def _now(self, found: Running, method: str, path: str, body: str) -> None:
        connection = Connection(found.socket, 2.0)
        with suppress(OSError, http.client.HTTPException):
            connection.request(method, path, body, self._headers(body.encode()))
            connection.getresponse().read()
        connection.close()

    # How it is done

    async def _once(self, method: str, path: str, body: object, patience: float) -> tuple[Mapping[str, str], Data]:
        reader, writer = await self._connect()
        try:
            status, headers = await _within(patience, self._send(reader, writer, method, path, body))
            raw = await _within(patience, _body(reader, headers))
        finally:
            writer.close()
        if status >= 400:
            raise _refusal(status, raw)
        return headers, _data(raw)

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        found = self._find()
        if found is None:
            raise StoreError(NO_SERVER)
        reader, writer = await _within(PATIENCE, asyncio.open_unix_connection(found.socket))
        return reader, writer

    async def _send(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, method: str, path: str, body: object
    ) -> tuple[int, Mapping[str, str]]:
        raw = b"" if body is None else json.dumps(body).encode()
        head = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in self._headers(raw).items())]
        writer.write("\r\n".join([*head, "", ""]).encode("latin-1") + raw)
        await writer.drain()
        return await _head(reader)

    def _headers(self, raw: bytes) -> dict[str, str]:
        found = {"Host": "localhost", "Connection": "close", "Content-Length": str(len(raw))}
        if raw:
            found["Content-Type"] = "application/json"
        if self._cookie:
            found |= {"Cookie": self._cookie, "Assent-Key": self._key}
        return found


async def _within(seconds: float, waiting: Any) -> Any:
    """What is waited for, or StoreError where the line breaks or nothing comes."""
    try:
        return await asyncio.wait_for(waiting, seconds)
    except TimeoutError:
        raise StoreError(f"the server did not answer within {seconds:.0f} seconds") from None
    except (OSError, EOFError, ValueError) as error:
        raise StoreError(f"the line to the server broke: {error or 'it was closed'}") from None


async def _head(reader: asyncio.StreamReader) -> tuple[int, Mapping[str, str]]:
    """The status and the headers of an answer, their names in lower case."""
    words = (await reader.readline()).split()
    if len(words) < 2:
        raise EOFError("the server closed it")
    headers: dict[str, str] = {}
    while line := (await reader.readline()).strip():
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    return int(words[1]), headers


async def _body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if "content-length" in headers:
        return await reader.readexactly(int(headers["content-length"]))
    pieces = []
    while piece := await _chunk(reader):
        pieces.append(piece)
    return b"".join(pieces)


async def _chunk(reader: asyncio.StreamReader) -> bytes:
    """One piece of a body that is sent in pieces; empty at its end."""
    size = int((await reader.readline()).split(b";")[0] or b"0", 16)
    piece = await reader.readexactly(size)
    await reader.readline()
    return piece


def _data(raw: bytes) -> Data:
    try:
        found = json.loads(raw)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise StoreError("the server said something that is not understood; is it another version?")
    return found


def _refusal(status: int, raw: bytes) -> AccessError:
    why = _data(raw).get("error", {})
    return AccessError(str(why.get("message", f"refused ({status})")), code=str(why.get("code", "")))


def _event(block: bytes) -> tuple[str, Data]:
    name, data = "message", b"{}"
    for line in block.split(b"\n"):
        kind, _, value = line.partition(b": ")
        if kind == b"event":
            name = value.decode("ascii", "replace")
        elif kind == b"data":
            data = value
    return name, _data(data)
