"""Reads the name in a TLS greeting (ClientHello). Reads nothing else of TLS, and keeps no secret."""

from __future__ import annotations

HANDSHAKE, CLIENT_HELLO = 22, 1
SERVER_NAME, ENCRYPTED_HELLO = 0, 0xFE0D


class IncompleteGreeting(Exception):
    """More bytes are needed."""


class _Reader:
    """Bytes from the left. `past` is raised if there are too few."""

    __slots__ = ("data", "past")

    def __init__(self, data: bytes, past: type[Exception]) -> None:
        self.data = data
        self.past = past

    def take(self, count: int) -> bytes:
        if len(self.data) < count:
            raise self.past
        found, self.data = self.data[:count], self.data[count:]
        return found

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def block(self, size: int) -> _Reader:
        """A block after its own length, which has this many bytes."""
        return _Reader(self.take(self.number(size)), ValueError)


def server_name(data: bytes) -> str:
    """The name that a greeting asks for, in lower case; `""` if it is no greeting, names none or more than one, or
    hides another greeting. Raises IncompleteGreeting while it may become one."""
    try:
        return _name_in(_hello(data))
    except (ValueError, UnicodeDecodeError):
        return ""


def _hello(data: bytes) -> _Reader:
    """The body of the greeting, which may be split over records."""
    records, body = _Reader(data, IncompleteGreeting), b""
    while True:
        if records.number(1) != HANDSHAKE or records.number(1) != 3:
            raise ValueError
        records.take(1)
        body += records.take(records.number(2))
        if body[:1] not in (b"", bytes([CLIENT_HELLO])):
            raise ValueError
        length = int.from_bytes(body[1:4], "big")
        if len(body) > 4 + length:
            raise ValueError
        if len(body) >= 4 and len(body) == 4 + length:
            return _Reader(body[4:], ValueError)


def _name_in(hello: _Reader) -> str:
    hello.take(2 + 32)
    hello.block(1)  # session
    hello.block(2)  # ciphers
    hello.block(1)  # compression
    extensions, found = hello.block(2), []
    while extensions.data:
        kind, body = extensions.number(2), extensions.block(2)
        if kind == ENCRYPTED_HELLO:
            return ""
        if kind == SERVER_NAME:
            found.append(body)
    if len(found) != 1 or hello.data:
        return ""
    names = found[0].block(2)
    if names.number(1) != 0:  # the type of name: host
        return ""
    name = names.block(2).data.decode("ascii").lower()
    return "" if names.data or found[0].data else name
