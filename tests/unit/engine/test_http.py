"""HTTP as we read it: what two readers could read differently is refused."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.engine import http
from assent.engine.http import EventReader, StreamEvent
from assent.engine.http_message import MOST_HEAD, HttpError, MessageHead, written
from assent.mcp import upstream
from assent.mcp.frames import frame


def read(raw: bytes, *, answer: bool = True) -> tuple[MessageHead | None, bytes]:
    async def work() -> tuple[MessageHead | None, bytes]:
        reader = asyncio.StreamReader(limit=MOST_HEAD)
        reader.feed_data(raw)
        reader.feed_eof()
        head = await http.read_head(reader)
        body = await http.whole(http.read_body(reader, head, answer=answer), 1000) if head is not None else b""
        return head, body

    return asyncio.run(work())


OK = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("rest", "body"),
    [
        (b"Content-Length: 3\r\n\r\nabcdef", b"abc"),
        (b"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;x=y\r\nc\r\n0\r\nT: x\r\n\r\n", b"abc"),
        (b"\r\nabc", b"abc"),
    ],
)
def test_a_body_ends_where_it_says(rest: bytes, body: bytes) -> None:
    head, found = read(OK + rest)
    assert head is not None
    assert head.status == 200
    assert found == body


@pytest.mark.parametrize(
    "rest",
    [
        b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: gzip\r\n\r\nabc",
        b"Content-Length: -1\r\n\r\nabc",
        b"Content-Length: 0x3\r\n\r\nabc",
        b"Content-Length: 9\r\n\r\nabc",
        b"Transfer-Encoding: chunked\r\n\r\n3\r\nab",
        b"Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n-3\r\nabc\r\n0\r\n\r\n",
        b"A: b\r\n c\r\n\r\n",
        b"A : b\r\n\r\n",
        b"A: b\nC: d\r\n\r\n",
        b"A: \x00\r\n\r\n",
        b"X: " + b"x" * 70000 + b"\r\n\r\n",
        b"Content-Length: 2000\r\n\r\n" + b"x" * 2000,
        b"A: b\r\n",
    ],
)
def test_what_could_be_read_in_two_ways_is_refused(rest: bytes) -> None:
    with pytest.raises(HttpError):
        read(OK + rest)


def test_a_header_cannot_break_out_of_its_line() -> None:
    with pytest.raises(HttpError):
        written("GET / HTTP/1.1", {"A": "b\r\nC: d"})


@pytest.mark.parametrize("url", ["ftp://a/", "http:///x", "http://u:p@a/", "http://é/", "x", "file:///etc/passwd"])
def test_an_address_is_plain_http(url: str) -> None:
    with pytest.raises(ValueError, match="no plain http"):
        http.Address(url)


@pytest.mark.parametrize(
    ("url", "authority", "target"),
    [
        ("http://a.b/c?d=e#f", "a.b", "/c?d=e"),
        ("https://a.b:443", "a.b", "/"),
        ("http://a.b:443/x", "a.b:443", "/x"),
        ("http://[::1]:80/", "[::1]", "/"),
    ],
)
def test_an_address_says_where_it_leads(url: str, authority: str, target: str) -> None:
    found = http.Address(url)
    assert (found.authority, found.target) == (authority, target)


names = st.sampled_from(["", "message", "other"])
lines = st.binary(min_size=1, max_size=10).filter(lambda data: not set(data) & set(b"\r\n"))
events = st.builds(
    StreamEvent,
    st.lists(lines, min_size=1, max_size=3).map(b"\n".join),
    names,
    st.sampled_from(["", "7", "a b"]),
    st.none() | st.integers(0, 9999),
)


@given(st.lists(events, max_size=4), st.sampled_from([b"\n", b"\r\n", b"\r"]), st.data())
def test_events_do_not_depend_on_how_they_come(found: list[StreamEvent], end: bytes, data: st.DataObject) -> None:
    stream = b": hello\n\n" + b"".join(each.written() for each in found) + b"data: lost"
    stream = stream.replace(b"\n", end)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=5)))
    reader = EventReader(1000)
    read = [
        each
        for start, stop in zip([0, *cuts], [*cuts, len(stream)], strict=True)
        for each in reader.feed(stream[start:stop])
    ]
    assert read == found


def test_an_event_that_is_too_long_is_refused() -> None:
    for pieces in ([b"data: 1234567890\n"] * 5, [b"data: ", *[b"1234567890"] * 10]):
        reader = EventReader(100)
        for piece in pieces[:-1]:
            assert list(reader.feed(piece)) == []
        with pytest.raises(HttpError):
            list(reader.feed(pieces[-1] * 5))


# ---------------------------------------------------------------- headers that repeat the message


def test_headers_repeat_the_message() -> None:
    schema = {
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "at": {"properties": {"deep": {"x-mcp-header": "Deep"}}},
            "bad": {"x-mcp-header": "no good\r\n"},
        }
    }
    listed = {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "t", "inputSchema": schema}, 7]}}
    found = upstream.ParameterHeaders()
    found.learn(frame({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}), frame(listed))
    params = {"name": "t", "arguments": {"region": "Köln", "at": {"deep": True}, "bad": "x"}}
    assert found.headers(frame({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})) == {
        "Mcp-Method": "tools/call",
        "Mcp-Name": "t",
        "Mcp-Param-Region": "=?base64?S8O2bG4=?=",
        "Mcp-Param-Deep": "true",
    }


@given(st.text(max_size=20))
def test_a_header_value_holds_any_text(text: str) -> None:
    value = upstream.encoded(text)
    assert upstream.PLAIN.fullmatch(value)
    written("GET / HTTP/1.1", {"X": value})
