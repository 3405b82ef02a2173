"""A coroutine that is run at once does the same as in a task, whether it has to wait or not."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from assent.server.api.endpoint import Refusal
from assent.server.api.request_guard import Suspended, read, run_until_wait


async def waits(seen: list[str], *futures: asyncio.Future[str]) -> str:
    seen.append("begun")
    try:
        for each in futures:
            seen.append(await each)
            await asyncio.sleep(0)
    except asyncio.CancelledError:
        seen.append("cancelled")
        raise
    except ValueError as error:
        seen.append(str(error))
    return " ".join(seen)


def test_what_waits_for_nothing_is_over_at_once() -> None:
    found = run_until_wait(waits([]))
    assert found == "begun"


def test_what_breaks_before_it_waits_is_raised_at_once() -> None:
    async def broken() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        run_until_wait(broken())


def test_what_waits_goes_on_in_a_task_from_where_it_was() -> None:
    async def play() -> tuple[str, list[str]]:
        loop = asyncio.get_running_loop()
        one, two = loop.create_future(), loop.create_future()
        seen: list[str] = []
        found = run_until_wait(waits(seen, one, two))
        assert isinstance(found, Suspended)
        assert seen == ["begun"]
        task = asyncio.ensure_future(found)
        one.set_result("one")
        await asyncio.sleep(0)
        loop.call_later(0.001, two.set_result, "two")
        return await task, seen

    assert asyncio.run(play()) == ("begun one two", ["begun", "one", "two"])


def test_what_is_done_before_the_task_begins_is_not_missed() -> None:
    async def play() -> str:
        one = asyncio.get_running_loop().create_future()
        found = run_until_wait(waits([], one))
        assert isinstance(found, Suspended)
        one.set_result("soon")
        return await asyncio.wait_for(asyncio.ensure_future(found), 5)

    assert asyncio.run(play()) == "begun soon"


def test_an_error_is_raised_where_it_is_waited_for() -> None:
    async def play() -> str:
        one = asyncio.get_running_loop().create_future()
        found = run_until_wait(waits([], one))
        assert isinstance(found, Suspended)
        one.set_exception(ValueError("no"))
        return await found

    assert asyncio.run(play()) == "begun no"


def test_a_task_that_is_cancelled_cancels_what_waits() -> None:
    async def play(seen: list[str]) -> Any:
        found = run_until_wait(waits(seen, asyncio.get_running_loop().create_future()))
        assert isinstance(found, Suspended)
        task = asyncio.ensure_future(found)
        await asyncio.sleep(0)
        task.cancel()
        return (await asyncio.gather(task, return_exceptions=True))[0]

    seen: list[str] = []
    assert isinstance(asyncio.run(play(seen)), asyncio.CancelledError)
    assert seen == ["begun", "cancelled"]


@pytest.mark.parametrize("raw", [b'{"tool": "x", "tool": "y"}', b'{"tool": "x", "input": {"a": 5, "a": 500}} '])
def test_a_body_with_a_key_twice_is_refused(raw: bytes) -> None:
    with pytest.raises(Refusal, match="given twice"):
        read(raw)
