"""HTTP/1.1 and server-sent events over asyncio's streams: for MCP, and for clients of the gate server."""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from assent.contract import Value
from assent.engine import http_message
from assent.engine.http_message import MOST_HEAD, HttpError, MessageHead, parse_head, written

CHUNK = 64 * 1024
CONNECT = 30.0  # seconds
REQUEST = re.compile(r"(GET|POST|DELETE|OPTIONS|HEAD|PUT|PATCH) (/[\x21-\x7e]*) HTTP/1\.[01]")


async def read_head(reader: asyncio.StreamReader) -> MessageHead | None:
    """The next head; None if the other side has closed the connection."""
    try:
        raw = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise HttpError("the head was cut short") from None
        return None
    except (asyncio.LimitOverrunError, ValueError):
        raise HttpError("the head is too long") from None
    if len(raw) > MOST_HEAD:
        raise HttpError("the head is too long")
    return parse_head(raw[:-4])


async def read_body(reader: asyncio.StreamReader, head: MessageHead, *, answer: bool) -> AsyncIterator[bytes]:
    """The body after a head, in pieces. `answer`: one without a length lasts until the connection ends."""
    coding, left = head.headers.get("transfer-encoding"), head.length
    if coding is not None:
        if coding.lower() != "chunked" or left is not None:
            raise HttpError("the length of the body is in doubt")
        async for piece in _chunks(reader):
            yield piece
    elif left is not None:
        while left:
            piece = await _some(reader, min(left, CHUNK))
            left -= len(piece)
            yield piece
    elif answer:
        while piece := await reader.read(CHUNK):
            yield piece


async def _chunks(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while left := _chunk_size(await _line(reader)):
        while left:
            piece = await _some(reader, min(left, CHUNK))
            left -= len(piece)
            yield piece
        if await _line(reader):
            raise HttpError("a chunk has no end")
    while await _line(reader):
        pass


def _chunk_size(line: bytes) -> int:
    size = line.partition(b";")[0].strip()
    if not re.fullmatch(rb"[0-9A-Fa-f]{1,8}", size):
        raise HttpError("a chunk has no size")
    return int(size, 16)


async def _line(reader: asyncio.StreamReader) -> bytes:
    try:
        return (await reader.readuntil(b"\r\n"))[:-2]
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        raise HttpError("the body was cut short") from None


async def _some(reader: asyncio.StreamReader, most: int) -> bytes:
    piece = await reader.read(most)
    if not piece:
        raise HttpError("the body was cut short")
    return piece


async def whole(pieces: AsyncIterator[bytes], limit: int) -> bytes:
    """A body that must not be longer than a limit."""
    found, size = [], 0
    async for piece in pieces:
        size += len(piece)
        if size > limit:
            raise HttpError(f"the body is longer than {limit} bytes")
        found.append(piece)
    return b"".join(found)


# ---------------------------------------------------------------- a client


class Address(Value):
    __slots__ = ("secure", "host", "port", "target")

    def __init__(self, url: str) -> None:
        found = urlsplit(url)
        if found.scheme not in ("http", "https") or not found.hostname or found.username or not url.isascii():
            raise ValueError(f"`{url}` is no plain http or https address")
        self.secure = found.scheme == "https"
        self.host = found.hostname
        self.port = found.port or (443 if self.secure else 80)
        self.target = (found.path or "/") + (f"?{found.query}" if found.query else "")

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.secure else 80) else f"{host}:{self.port}"


class Exchange:
    """One request and its answer on one connection. Closing it early stops the other side."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self.head = MessageHead("", {})

    async def send(self, method: str, target: str, headers: Mapping[str, str], body: bytes = b"") -> None:
        """Send a request and read the head of its answer."""
        given = {**headers, "Connection": "close", "Accept-Encoding": "identity"}
        if method == "POST":
            given["Content-Length"] = str(len(body))
        self._writer.write(written(f"{method} {target} HTTP/1.1", given) + body)
        await self._writer.drain()
        while True:
            head = await read_head(self._reader)
            if head is None:
                raise HttpError("the server hung up without an answer")
            if head.status >= 200:
                break
        self.head = head
        if head.headers.get("content-encoding", "identity").lower() != "identity":
            raise HttpError("the answer is compressed, which was not asked for")

    def body(self) -> AsyncIterator[bytes]:
        return read_body(self._reader, self.head, answer=True)

    def close(self) -> None:
        with suppress(OSError, RuntimeError):
            self._writer.close()


async def connect(address: Address) -> Exchange:
    context = ssl.create_default_context() if address.secure else None
    async with asyncio.timeout(CONNECT):
        reader, writer = await asyncio.open_connection(address.host, address.port, ssl=context, limit=MOST_HEAD)
    return Exchange(reader, writer)


async def connect_unix(path: str) -> Exchange:
    """A connection to the gate server, on the socket of this user. Raises OSError."""
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        line.setblocking(False)
        async with asyncio.timeout(http_message.CONNECT):
            await asyncio.get_running_loop().sock_connect(line, path)
        http_message.check_peer(line)
        reader, writer = await asyncio.open_unix_connection(sock=line, limit=MOST_HEAD)
    except BaseException:
        line.close()
        raise
    return Exchange(reader, writer)


@dataclass(frozen=True, slots=True)
class StreamEvent:
    data: bytes
    name: str = ""
    id: str = ""
    retry: int | None = None

    def written(self) -> bytes:
        lines = [f"event: {self.name}".encode()] if self.name else []
        if self.id:
            lines.append(f"id: {self.id}".encode())
        if self.retry is not None:
            lines.append(f"retry: {self.retry}".encode())
        lines += [b"data: " + each for each in self.data.split(b"\n")]
        return b"\n".join(lines) + b"\n\n"


class EventReader:
    """Cuts a stream of bytes into events. Raises HttpError past the limit."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._rest: list[bytes] = []  # of a line that has no end yet
        self._returned = False  # the last line ended in a carriage return: a line feed after it belongs to it
        self._clear()

    def _clear(self) -> None:
        self._data: list[bytes] = []
        self._name, self._id = "", ""
        self._retry: int | None = None
        self._size = 0

    def feed(self, data: bytes) -> Iterator[StreamEvent]:
        if self._returned and data:
            data = data.removeprefix(b"\n")
            self._returned = False
        *lines, rest = re.split(rb"\r\n|\n|\r", data)
        if lines:
            self._returned = data.endswith(b"\r")
            lines[0] = b"".join((*self._rest, lines[0]))
            self._rest = []
        self._rest.append(rest)
        for line in lines:
            self._size += len(line)
            self._check(0)
            if line:
                self._field(line)
                continue
            event = StreamEvent(b"\n".join(self._data), self._name, self._id, self._retry)
            spoke = bool(self._data or self._id)
            self._clear()
            if spoke:
                yield event
        self._check(sum(map(len, self._rest)))

    def _check(self, more: int) -> None:
        if self._size + more > self._longest:
            raise HttpError(f"an event is longer than {self._longest} bytes")

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name in (b"data", b"\xef\xbb\xbfdata"):
            self._data.append(value)
        elif name == b"event":
            self._name = _plain(value)
        elif name == b"id":
            self._id = _plain(value)
        elif name == b"retry" and value.isdigit() and len(value) < 9:
            self._retry = int(value)


def _plain(value: bytes) -> str:
    text = value.decode("utf-8", "replace")
    return text if text.isprintable() and len(text) <= 1024 else ""
