"""HTTP/1.1 over asyncio's streams, as much as MCP needs. Knows no message.

Strict where two readers could differ: a length given twice or in two ways, a folded header, a bare line end."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from urllib.parse import urlsplit

from assent.contract.value import Value

HEAD = 64 * 1024  # bytes of a head
CHUNK = 64 * 1024
CONNECT = 30.0  # seconds
STATUS = re.compile(r"HTTP/1\.[01] ([1-5]\d\d)(?: .*)?")
REQUEST = re.compile(r"(GET|POST|DELETE|OPTIONS|HEAD|PUT|PATCH) (/[\x21-\x7e]*) HTTP/1\.[01]")
FIELD = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x20-\x7e\t\x80-\xff]*)")
ONCE = frozenset("content-length transfer-encoding host origin content-type mcp-session-id authorization".split())

Headers = Mapping[str, str]


class HttpError(ConnectionError):
    """What came is not HTTP as we read it."""


class Head(Value):
    """The first line and the headers of a request or a response; names of headers in lower case."""

    __slots__ = ("first", "headers")

    def __init__(self, first: str, headers: dict[str, str]) -> None:
        self.first = first
        self.headers = headers

    @property
    def status(self) -> int:
        found = STATUS.fullmatch(self.first)
        if found is None:
            raise HttpError("this is no HTTP response")
        return int(found[1])

    @property
    def kind(self) -> str:
        """The media type of the body."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


async def read_head(reader: asyncio.StreamReader) -> Head | None:
    """The next head, None where the other side has ended."""
    try:
        raw = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise HttpError("the head was cut short") from None
        return None
    except (asyncio.LimitOverrunError, ValueError):
        raise HttpError("the head is too long") from None
    if len(raw) > HEAD:
        raise HttpError("the head is too long")
    first, *lines = raw[:-4].decode("latin-1").split("\r\n")
    headers: dict[str, str] = {}
    for line in lines:
        found = FIELD.fullmatch(line)
        if found is None:
            raise HttpError("a header cannot be read")
        name, value = found[1].lower(), found[2].strip()
        if name in headers:
            if name in ONCE:
                raise HttpError(f"the header `{name}` is given twice")
            value = f"{headers[name]}, {value}"
        headers[name] = value
    return Head(first, headers)


async def read_body(reader: asyncio.StreamReader, head: Head, *, answer: bool) -> AsyncIterator[bytes]:
    """The body after a head, piece by piece. `answer`: one without a length lasts until the line ends."""
    coding, length = head.headers.get("transfer-encoding"), head.headers.get("content-length")
    if coding is not None:
        if coding.lower() != "chunked" or length is not None:
            raise HttpError("the length of the body is in doubt")
        async for piece in _chunks(reader):
            yield piece
    elif length is not None:
        if not length.isascii() or not length.isdigit() or len(length) > 15:
            raise HttpError("the length of the body is no number")
        left = int(length)
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


def written(first: str, headers: Headers) -> bytes:
    """A head as bytes. A value that would break it is refused."""
    lines = [first, *(f"{name}: {value}" for name, value in headers.items())]
    if any(not each.isprintable() and re.search(r"[\x00-\x08\x0a-\x1f\x7f]", each) for each in lines):
        raise HttpError("a header holds a control character")
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


# ---------------------------------------------------------------- a client


class Address(Value):
    """Where an `http:` or `https:` address leads."""

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
    """One request and its answer, on a connection of its own. Closing it early tells the other side to stop."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self.head = Head("", {})

    async def send(self, method: str, target: str, headers: Headers, body: bytes = b"") -> None:
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
    """A connection to a server. Raises OSError."""
    context = ssl.create_default_context() if address.secure else None
    async with asyncio.timeout(CONNECT):
        reader, writer = await asyncio.open_connection(address.host, address.port, ssl=context, limit=HEAD)
    return Exchange(reader, writer)
