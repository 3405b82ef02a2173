"""The end towards an HTTP server: streams that break, sessions, what the server says on its own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from assent.mcp import frames
from assent.mcp.calls import VERSION
from assent.mcp.upstream import Upstream

Heads = list[tuple[str, dict[str, str]]]
ANSWER = b'{"jsonrpc":"2.0","id":1,"result":{}}'
JSON = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
NONE = b"HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n"
ACCEPTED = b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"


def sized(body: bytes, more: bytes = b"") -> bytes:
    return JSON + more + b"Content-Length: %d\r\n\r\n" % len(body) + body


def request(method: str = "ping", **params: object) -> frames.Frame:
    return frames.frame({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})


def note(method: str, **params: object) -> frames.Frame:
    return frames.frame({"jsonrpc": "2.0", "method": method, "params": params})


def play(answers: list[bytes], work: Callable[[Upstream, asyncio.Queue[Any]], Awaitable[None]]) -> Heads:
    """Answer each connection with the next of the answers; return the heads that came."""
    heads: Heads = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raw = (await reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = raw.strip().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        await reader.readexactly(int(headers.get("content-length", "0")))
        heads.append((first.split()[0], headers))
        answer = answers.pop(0) if answers else NONE
        writer.write(answer)
        if answer.endswith(b"wait\n\n"):
            await reader.read()
        writer.close()

    async def all() -> None:
        said: asyncio.Queue[Any] = asyncio.Queue()

        async def deliver(line: bytes) -> None:
            said.put_nowait(json.loads(line))

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        upstream = Upstream(f"http://127.0.0.1:{port}/mcp", {"X": "y"}, deliver=deliver, note=lambda text: None)
        async with asyncio.timeout(30):
            await work(upstream, said)
            await upstream.close()
        server.close()

    asyncio.run(all())
    return heads


def test_a_stream_that_breaks_is_taken_up_where_it_ended() -> None:
    async def work(upstream: Upstream, said: asyncio.Queue[Any]) -> None:
        await upstream.send(request())
        assert await said.get() == json.loads(ANSWER)

    heads = play([STREAM + b"id: 7\nretry: 1\ndata:\n\n", STREAM + b"data: " + ANSWER + b"\n\n"], work)
    assert [(method, headers.get("last-event-id")) for method, headers in heads] == [("POST", None), ("GET", "7")]


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ([STREAM], "ended without an answer"),
        ([STREAM + b"id: 7\nretry: 1\ndata:\n\n", NONE], "ended without an answer"),
        ([STREAM + b"data: garbage\n\n"], "ended without an answer"),
        ([sized(b"garbage")], "cannot be passed on"),
        ([sized(ANSWER.replace(b'"id":1', b'"id":2'))], "did not answer"),
        ([JSON + b"Content-Length: 99\r\n\r\n{}"], "cannot be reached"),
        ([b"garbage\r\n\r\n"], "cannot be reached"),
        ([ACCEPTED], "status 202"),
        ([b"HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n"], "--header"),
        ([b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nhi"], "text/html"),
        ([JSON + b"Content-Encoding: gzip\r\n\r\nhi"], "compressed"),
    ],
)
def test_a_request_that_gets_no_answer_fails_with_words(answers: list[bytes], words: str) -> None:
    async def work(upstream: Upstream, said: asyncio.Queue[Any]) -> None:
        await upstream.send(request())
        found = await said.get()
        while "error" not in found:  # what the server said beside it
            found = await said.get()
        assert found["id"] == 1
        assert words in found["error"]["message"]

    play(answers, work)


def test_an_error_of_the_server_keeps_the_id_of_the_request() -> None:
    async def work(upstream: Upstream, said: asyncio.Queue[Any]) -> None:
        await upstream.send(request())
        assert await said.get() == {"jsonrpc": "2.0", "id": 1, "error": {"code": -7, "message": "m"}}

    body = b'{"jsonrpc":"2.0","id":null,"error":{"code":-7,"message":"m"}}'
    play([sized(body).replace(b"200 OK", b"400 No")], work)


def test_the_session_and_the_version_of_the_handshake_are_sent_along_and_the_session_is_ended() -> None:
    async def work(upstream: Upstream, said: asyncio.Queue[Any]) -> None:
        await upstream.send(request("initialize"))
        await said.get()
        await upstream.send(note("notifications/initialized"))
        assert (await said.get())["method"] == "notifications/x"

    answer = b'{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18"}}'
    event = STREAM + b'data: {"jsonrpc":"2.0","method":"notifications/x"}\n\n:wait\n\n'
    heads = play([sized(answer, b"Mcp-Session-Id: s1\r\n"), ACCEPTED, event], work)
    found = [(each, head.get("mcp-session-id"), head.get("mcp-protocol-version"), head["x"]) for each, head in heads]
    assert found == [
        ("POST", None, None, "y"),
        ("POST", "s1", "2025-06-18", "y"),
        ("GET", "s1", "2025-06-18", "y"),
        ("DELETE", "s1", "2025-06-18", "y"),
    ]


def test_without_a_handshake_hanging_up_takes_a_request_back() -> None:
    async def work(upstream: Upstream, said: asyncio.Queue[Any]) -> None:
        await upstream.send(request("tools/call", name="t", _meta={VERSION: "2026-07-28"}))
        assert (await said.get())["method"] == "notifications/x"
        await upstream.send(note("notifications/cancelled", requestId=1))
        await asyncio.sleep(0.1)
        assert said.empty()

    event = STREAM + b'data: {"jsonrpc":"2.0","method":"notifications/x"}\n\n:wait\n\n'
    ((method, headers),) = play([event], work)
    assert (method, headers["mcp-protocol-version"], headers["mcp-name"]) == ("POST", "2026-07-28", "t")
