"""Sending: each answer in one write, some at once, and nothing lost when a connection ends."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from assent.server.protocol import Gathered, Protocol


class Line:
    """A transport that keeps what it is given."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.ended = ""

    def write(self, data: bytes) -> None:
        assert not self.ended
        self.sent.append(data)

    def close(self) -> None:
        self.ended = "closed"

    def abort(self) -> None:
        self.ended = "aborted"

    def is_closing(self) -> bool:
        return bool(self.ended)

    def get_extra_info(self, name: str) -> None:
        return None

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


async def gathered() -> tuple[Line, Gathered]:
    line = Line()
    return line, Gathered(line, asyncio.get_running_loop())


def test_the_parts_of_an_answer_are_sent_in_one_go() -> None:
    async def play() -> list[bytes]:
        line, sending = await gathered()
        sending.write(b"head")
        sending.write(b"body")
        assert line.sent == []
        sending.flush()
        await asyncio.sleep(0)
        return line.sent

    assert asyncio.run(play()) == [b"headbody"]


def test_what_belongs_to_no_whole_answer_does_not_wait_for_more() -> None:
    async def play() -> list[bytes]:
        line, sending = await gathered()
        for part in (b"one", b"two"):
            sending.write(part)
            await asyncio.sleep(0)
        return line.sent

    assert asyncio.run(play()) == [b"one", b"two"]


def test_closing_sends_what_was_written_and_aborting_does_not() -> None:
    async def play(ending: str) -> tuple[list[bytes], bool]:
        line, sending = await gathered()
        sending.write(b"last")
        getattr(sending, ending)()
        await asyncio.sleep(0)
        return line.sent, sending.is_closing()

    assert asyncio.run(play("close")) == ([b"last"], True)
    assert asyncio.run(play("abort")) == ([], True)


def test_what_is_left_for_somebody_who_is_gone_is_dropped() -> None:
    async def play() -> list[bytes]:
        line, sending = await gathered()
        sending.write(b"late")
        line.abort()
        await asyncio.sleep(0)
        return line.sent

    assert asyncio.run(play()) == []


# ---------------------------------------------------------------- on the spot


class Application:
    """Answers `/immediate` at once, or later if told so, and all else as usual."""

    immediate = {b"/immediate": ()}

    def __init__(self) -> None:
        self.heard: list[bytes] = []

    def at_once(self, target: bytes, fields: Any, body: bytes, peer: Any, receive: Any, *, last: bool) -> Any:
        self.heard.append(body)
        return self if body == b"later" else b"on the spot"

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.heard.append(b"the long way")
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})


def connection(app: Application, *, idle: float = 5.0) -> tuple[Line, Protocol]:
    config = uvicorn.Config(app, http=Protocol, lifespan="off", ws="none", log_config=None, proxy_headers=False)
    config.load()
    config.timeout_keep_alive = idle  # type: ignore[assignment]  # part of a second
    line, made = Line(), Protocol(config=config, server_state=ServerState(), app_state={})
    made.connection_made(line)
    return line, made


def asking(path: bytes, body: bytes = b"", more: bytes = b"", method: bytes = b"POST") -> bytes:
    return b"%b %b HTTP/1.1\r\nHost: x\r\n%bContent-Length: %d\r\n\r\n%b" % (method, path, more, len(body), body)


def test_what_can_be_answered_on_the_spot_is_before_the_loop_goes_on() -> None:
    async def play() -> tuple[list[bytes], list[bytes]]:
        app = Application()
        line, made = connection(app)
        made.data_received(asking(b"/immediate", b"one"))
        made.data_received(asking(b"/immediate", b"two"))
        return line.sent, app.heard

    assert asyncio.run(play()) == ([b"on the spot", b"on the spot"], [b"one", b"two"])


@pytest.mark.parametrize(
    "pieces",
    [
        [asking(b"/immediate", b"later")],
        [asking(b"/immediate", b"one")[:-1], b"e"],
        [asking(b"/immediate", b"one", method=b"PUT")],
        [asking(b"/immediate?x", b"one")],
        [asking(b"/other", b"one")],
        [asking(b"/immediate", b"one").replace(b"HTTP/1.1", b"HTTP/1.0")],
    ],
    ids=["it has to wait", "it is not here yet", "another method", "a query", "another path", "an older protocol"],
)
def test_all_else_goes_the_long_way(pieces: list[bytes]) -> None:
    async def play() -> tuple[bytes, bytes]:
        app = Application()
        line, made = connection(app)
        for each in pieces:
            made.data_received(each)
        assert line.sent == []
        await asyncio.sleep(0.01)
        return b"".join(line.sent)[-2:], app.heard[-1]

    assert asyncio.run(play()) == (b"ok", b"the long way")


@pytest.mark.parametrize("first", [asking(b"/immediate", b"one"), asking(b"/immediate", b"later"), asking(b"/other")])
def test_a_request_before_the_answer_to_the_last_ends_the_connection(first: bytes) -> None:
    async def play(second: bytes) -> tuple[list[bytes], str]:
        line, made = connection(Application())
        made.data_received(first + second)
        await asyncio.sleep(0.01)
        return line.sent, line.ended

    assert asyncio.run(play(asking(b"/immediate", b"two"))) == ([], "aborted")


@pytest.mark.parametrize(
    "behind", [asking(b"/immediate", b"two"), b"HEAD /immediate HTT", b"P", b"\0", b"POST /immediate HTTP/9"]
)
def test_what_stands_behind_a_request_that_is_answered_on_the_spot_takes_no_part_in_it(behind: bytes) -> None:
    async def play() -> tuple[list[bytes], bool]:
        app = Application()
        line, made = connection(app)
        made.data_received(asking(b"/immediate", b"one") + behind)
        await asyncio.sleep(0.01)
        return app.heard, line.is_closing()

    assert asyncio.run(play()) == ([], True)


def test_a_line_end_behind_a_request_is_no_other() -> None:
    async def play() -> list[bytes]:
        line, made = connection(Application())
        made.data_received(asking(b"/immediate", b"one") + b"\r\n")
        made.data_received(asking(b"/immediate", b"two"))
        return line.sent

    assert asyncio.run(play()) == [b"on the spot", b"on the spot"]


@pytest.mark.slow
def test_a_connection_is_kept_while_it_is_used_and_ended_when_it_is_not() -> None:
    async def play() -> tuple[str, str]:
        line, made = connection(Application(), idle=0.2)
        for _ in range(8):
            made.data_received(asking(b"/immediate"))
            await asyncio.sleep(0.05)
        used = line.ended
        for _ in range(60):
            await asyncio.sleep(0.05)
            if line.ended:
                break
        return used, line.ended

    assert asyncio.run(play()) == ("", "closed")
