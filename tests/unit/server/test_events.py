"""Event streams end when nobody reads them any more."""

from __future__ import annotations

import asyncio
import time

import pytest

from assent.server.api.events import Hub


@pytest.mark.parametrize("rounds", range(6))
def test_a_stream_ends_also_when_an_event_comes_as_its_reader_leaves(rounds: int) -> None:
    """In one of these rounds `wait_for` returns the event and loses the cancellation."""

    async def send(message: object) -> None:
        return

    async def play() -> None:
        stream = Hub(time.time).open("web")
        running = asyncio.ensure_future(stream.run({}, send, lambda: True))
        await asyncio.sleep(0.01)
        stream.put("changed", {})
        for _ in range(rounds):
            await asyncio.sleep(0)
        stream.leave()
        running.cancel()
        done, _ = await asyncio.wait({running}, timeout=2)
        assert done

    asyncio.run(play())
