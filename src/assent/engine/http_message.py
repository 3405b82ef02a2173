"""HTTP/1.1 without an event loop: strict reading and writing of heads, and one request over a Unix socket.

Strict where two readers could differ: a header given twice, a folded header, a bare line end. Loads nothing that a hook
does not need."""

from __future__ import annotations

import _socket  # the C core of `socket`
import os
import socket
import time
from collections.abc import Callable, Mapping
from sys import byteorder

from assent.contract import Value

MOST_HEAD = 64 * 1024  # bytes of a head
LENGTH_DIGITS = 9
TOKEN = b"!#$%&'*+.^_`|~-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
CONTROLS = bytes((*range(9), *range(10, 32), 127))
ONCE = ("content-length", "transfer-encoding", "host", "origin", "content-type", "mcp-session-id", "authorization")


class HttpError(ConnectionError):
    """The input is not valid HTTP."""


class MessageHead(Value):
    """The first line and the headers of a request or a response; names of headers in lower case."""

    __slots__ = ("first", "headers")

    def __init__(self, first: str, headers: dict[str, str]) -> None:
        self.first = first
        self.headers = headers

    @property
    def status(self) -> int:
        version, _, rest = self.first.partition(" ")
        code = rest.partition(" ")[0]
        numeric = len(code) == 3 and code.isascii() and code.isdigit() and "1" <= code[0] <= "5"
        if version not in ("HTTP/1.0", "HTTP/1.1") or not numeric or "\n" in self.first:
            raise HttpError("this is no HTTP response")
        return int(code)

    @property
    def length(self) -> int | None:
        given = self.headers.get("content-length")
        if given is None:
            return None
        if not given.isascii() or not given.isdigit() or len(given) > LENGTH_DIGITS:
            raise HttpError("the length of the body is no number")
        return int(given)

    @property
    def kind(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


def parse_head(raw: bytes) -> MessageHead:
    """The head in these bytes, without the empty line at its end. Raises HttpError."""
    first, *lines = raw.split(b"\r\n")
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(b":")
        if not name or not colon or name.translate(None, TOKEN) or _has_controls(value):
            raise HttpError("a header cannot be read")
        key, text = name.decode("ascii").lower(), value.decode("latin-1").strip()
        if key in headers:
            if key in ONCE:
                raise HttpError(f"the header `{key}` is given twice")
            text = f"{headers[key]}, {text}"
        headers[key] = text
    return MessageHead(first.decode("latin-1"), headers)


def written(first: str, headers: Mapping[str, str]) -> bytes:
    """A head as bytes. A value that would break it is refused."""
    lines = [line.encode("latin-1") for line in (first, *(f"{name}: {value}" for name, value in headers.items()))]
    if any(map(_has_controls, lines)):
        raise HttpError("a header holds a control character")
    return b"\r\n".join([*lines, b"", b""])


def _has_controls(text: bytes) -> bool:
    return len(text.translate(None, CONTROLS)) != len(text)


CONNECT = 2.0  # seconds to connect
LOOK = 2.0  # seconds between calls of `waiting`
MOST = 16 * 1024 * 1024  # bytes of an answer
INT = 4  # bytes of a kernel integer


def request(
    path: str,
    method: str,
    target: str,
    body: bytes,
    *,
    seconds: float,
    headers: Mapping[str, str] | None = None,
    waiting: Callable[[], None] | None = None,
) -> tuple[int, bytes]:
    """The status and the body of the answer, within so many seconds. Raises OSError if no complete answer came.
    `waiting` is called while nothing comes, and may raise."""
    fixed = {"Host": "localhost", "Content-Type": "application/json", "Content-Length": str(len(body))}
    head = written(f"{method} {target} HTTP/1.1", {**fixed, "Connection": "close", **(headers or {})})
    end = time.monotonic() + seconds
    line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        line.settimeout(min(CONNECT, seconds))
        line.connect(path)
        check_peer(line)
        line.settimeout(_left(end))
        line.sendall(head + body)
        return _received(line, end, waiting)
    finally:
        line.close()


def check_peer(line: socket.socket | _socket.socket) -> None:
    """Raises ConnectionError unless this user or root listens: a socket file does not say who created it."""
    process_user_group = line.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 3 * INT)
    if int.from_bytes(process_user_group[INT : 2 * INT], byteorder) not in (os.geteuid(), 0):
        raise ConnectionError("somebody else listens on the socket")


def _left(end: float) -> float:
    """The seconds until then; never 0, which would mean not to wait."""
    return max(end - time.monotonic(), 0.01)


def _received(line: _socket.socket, end: float, waiting: Callable[[], None] | None) -> tuple[int, bytes]:
    came = b""
    begin = status = length = 0
    while not begin or len(came) - begin < length:
        line.settimeout(min(LOOK, _left(end)))
        try:
            chunk = line.recv(65536)
        except TimeoutError:
            if waiting is not None:
                waiting()
            if time.monotonic() >= end:
                raise
            continue
        came += chunk
        if not chunk or len(came) > MOST:
            raise HttpError("the server did not answer whole")
        if not begin:
            begin, status, length = _head(came)
    if len(came) - begin != length:
        raise HttpError("the server answered more than it said")
    return status, came[begin:]


def _head(came: bytes) -> tuple[int, int, int]:
    """The start of the body of an answer, its status, and its length; zeros if the head is incomplete."""
    end = came.find(b"\r\n\r\n")
    if end < 0 and len(came) < MOST_HEAD:
        return 0, 0, 0
    if not 0 <= end < MOST_HEAD:
        raise HttpError("the head is too long")
    head = parse_head(came[:end])
    if head.length is None or not head.first.startswith("HTTP/1.1 "):
        raise HttpError("the server answers in another form")
    return end + 4, head.status, head.length
