"""What is sent: an answer in one go, and nothing lost when a connection ends."""

from __future__ import annotations

import asyncio

from assent.ui.protocol import Gathered


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
