"""One request to the gate server over its Unix socket, without an event loop. Hooks and commands use it."""

from __future__ import annotations

import _socket  # what `socket` is made of, without its names for people
import os
import socket
import time
from collections.abc import Callable, Mapping
from sys import byteorder

from assent.engine.http_message import MOST_HEAD, HttpError, parse_head, written

CONNECT = 2.0  # seconds to be let in
LOOK = 2.0  # seconds between calls of `waiting`
MOST = 16 * 1024 * 1024  # bytes of an answer
INT = 4  # bytes of a number of the kernel's


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
    """The status and the body of the answer, within so many seconds. Raises OSError where no whole answer came.
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
    """Whoever listens is this user, or root: a socket file says nothing of who made it. Raises ConnectionError."""
    process_user_group = line.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 3 * INT)
    if int.from_bytes(process_user_group[INT : 2 * INT], byteorder) not in (os.geteuid(), 0):
        raise ConnectionError("somebody else listens on the socket")


def _left(end: float) -> float:
    """The seconds until then; never 0, which would mean not to wait at all."""
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
    """Where the body of an answer begins, its status, and its length; zeros where the head is not here yet."""
    end = came.find(b"\r\n\r\n")
    if end < 0 and len(came) < MOST_HEAD:
        return 0, 0, 0
    if not 0 <= end < MOST_HEAD:
        raise HttpError("the head is too long")
    head = parse_head(came[:end])
    if head.length is None or not head.first.startswith("HTTP/1.1 "):
        raise HttpError("the server answers in another form")
    return end + 4, head.status, head.length
