"""The name in a TLS greeting: read from a complete one, waited for while incomplete, none if malformed."""

from __future__ import annotations

import contextlib
import ssl
import struct

import pytest

from assent.contain.greeting import IncompleteGreeting, server_name


def greeting(name: str | None) -> bytes:
    """What Python's TLS says first."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(incoming, outgoing, server_hostname=name).do_handshake()
    return outgoing.read()


def made(*extensions: tuple[int, bytes]) -> bytes:
    """A greeting with these extensions, in one record."""
    more = b"".join(struct.pack(">HH", kind, len(body)) + body for kind, body in extensions)
    hello = b"\3\3" + bytes(32) + b"\0" + b"\0\2\x13\1" + b"\1\0" + struct.pack(">H", len(more)) + more
    body = b"\1" + len(hello).to_bytes(3, "big") + hello
    return b"\x16\3\1" + struct.pack(">H", len(body)) + body


def named(*names: str) -> bytes:
    listed = b"".join(b"\0" + struct.pack(">H", len(each)) + each.encode() for each in names)
    return struct.pack(">H", len(listed)) + listed


def test_the_name_is_read() -> None:
    assert server_name(greeting("Registry.Example")) == "registry.example"
    assert server_name(made((10, b"x"), (0, named("a.example")))) == "a.example"


def test_a_greeting_without_a_name_has_none() -> None:
    assert server_name(greeting(None)) == ""


def test_until_it_is_whole_it_is_waited_for() -> None:
    whole = greeting("a.example")
    for size in range(len(whole)):
        with pytest.raises(IncompleteGreeting):
            server_name(whole[:size])
    assert server_name(whole + b"\x14\3\3\0\1\1") == "a.example"


def test_a_greeting_split_over_records_is_read() -> None:
    body = made((0, named("a.example")))[5:]
    parts = [b"\x16\3\1" + struct.pack(">H", len(each)) + each for each in (body[:1], body[1:9], body[9:])]
    assert server_name(b"".join(parts)) == "a.example"


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\n",
        b"\x17\3\3\0\1x",
        b"\x16\2\0\0\1x",
        b"\x16\3\1\0\4\2\0\0\0",
        made((0, named("a.example")), (0, named("b.example"))),
        made((0, named("a.example", "b.example"))),
        made((0, b"\0\4\1\0\1a")),
        made((0, named("a.example") + b"x")),
        made((0, b"\0\xff\0\0\1a")),
        made((0, named("a.example")), (0xFE0D, b"x")),
        made((0, b"\0\4\0\0\1\xff")),
    ],
)
def test_what_is_odd_has_no_name(data: bytes) -> None:
    assert server_name(data) == ""
