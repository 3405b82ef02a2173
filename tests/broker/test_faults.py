"""Whatever raises, hangs or is cancelled, and whenever: nothing stays pending, and nothing runs unapproved.

One scene is played again and again: two questions of a session, an approval with a grant, a sibling that it settles. A
point is each place in which the broker awaits its store or a channel; every fault is tried at every point."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

import pytest

from assent.approval.accounts import Moment
from assent.approval.broker import Broker
from assent.approval.channels import Question
from assent.approval.commands import Leftover, Recheck, SecondLook
from assent.contract.approval import Answer, Ending, Grant, Held, Resolution
from tests.broker.memory_store import MemoryStore
from tests.broker.stage import EPOCH, FOR_SESSION, held, play

T = TypeVar("T")
FAULTS = ("raises", "cancels itself", "hangs", "cancels the caller")


class Points:
    """Counts the points of a scene and makes one of them fail."""

    def __init__(self, at: int = -1, fault: str = "") -> None:
        self.at = at
        self.fault = fault
        self.passed: list[tuple[str, str]] = []
        self.too_late = False
        self.caller: asyncio.Task[Resolution] | None = None

    async def pass_by(self, name: str, id: str) -> None:
        number = len(self.passed)
        self.passed.append((name, id))
        await asyncio.sleep(0)
        if number != self.at:
            return
        if self.fault == "raises":
            raise OSError(f"{name} failed")
        if self.fault == "cancels itself":
            raise asyncio.CancelledError
        if self.fault == "hangs":
            await asyncio.sleep(1e6)
        elif self.caller is not None:
            self.too_late = not self.caller.cancel()
            await asyncio.sleep(0)


class FaultyStore(MemoryStore):
    """A store that fails before it does something, or after."""

    def __init__(self, points: Points) -> None:
        super().__init__()
        self._points = points

    async def _around(self, name: str, id: str, work: Awaitable[T]) -> T:
        try:
            await self._points.pass_by(f"before {name}", id)
        except BaseException:
            asyncio.ensure_future(work).cancel()
            raise
        done = await work
        await self._points.pass_by(f"after {name}", id)
        return done

    async def hold(self, held: Held) -> None:
        await self._around("hold", held.id, super().hold(held))

    async def shown(self, id: str, deadline: float) -> None:
        await self._around("shown", id, super().shown(id, deadline))

    async def answered(self, id: str, answer: Answer) -> bool:
        return await self._around("answered", id, super().answered(id, answer))

    async def use(self, id: str) -> bool:
        return await self._around("use", id, super().use(id))

    async def finish(self, id: str, resolution: Resolution) -> None:
        await self._around("finish", id, super().finish(id, resolution))

    async def leftovers(self) -> tuple[Leftover, ...]:
        return ()


class FaultyDesk:
    """Answers the first question once it is shown."""

    name = "desk"

    def __init__(self, points: Points, first: str, *, after: int = 12) -> None:
        self._points = points
        self._first = first
        self._after = after
        self.answering: set[asyncio.Future[object]] = set()

    async def show(self, question: Question) -> None:
        await self._points.pass_by("show", question.held.id)
        if question.held.id == self._first:
            self.answering.add(asyncio.ensure_future(self._answer(question)))

    async def _answer(self, question: Question) -> None:
        for _ in range(self._after):
            await asyncio.sleep(0)
        await question.answer(FOR_SESSION)

    async def queued(self, question: Question, position: int) -> None:
        await self._points.pass_by("queued", question.held.id)

    async def withdraw(self, id: str, resolution: Resolution) -> None:
        await self._points.pass_by("withdraw", id)


# Faults here cost nobody an approval: the answer counts this once, a sibling is asked, a channel is told in vain.
HARMLESS = {"remember", "settles", "withdraw", "queued"}


async def scene(points: Points, *, cancel_after: int = -1, twice: int = 0) -> tuple[list[Resolution | None], Broker]:
    """Play it. None is a caller that was cancelled."""
    first, second = held("first"), held("second")
    store = FaultyStore(points)
    loop = asyncio.get_running_loop()

    async def recheck(held: Held) -> Recheck:
        await points.pass_by("recheck", held.id)
        return Recheck(SecondLook.STANDS)

    async def remember(held: Held, answer: Answer) -> Grant:
        await points.pass_by("remember", held.id)
        return Grant("g", answer.scope, rules=answer.rules, session=held.call.session)

    async def settles(held: Held) -> bool:
        await points.pass_by("settles", held.id)
        return True

    async def record(moment: Moment) -> None:
        await points.pass_by(f"record {moment.kind}", moment.held.id if moment.held else "")

    broker = Broker(
        store=store,
        recheck=recheck,
        remember=remember,
        settles=settles,
        record=record,
        wall=lambda: EPOCH + loop.time(),
    )
    broker.attach(FaultyDesk(points, "first"))
    asked = [asyncio.create_task(broker.ask(question)) for question in (first, second)]
    points.caller = asked[0]
    if cancel_after >= 0:
        for _ in range(cancel_after):
            await asyncio.sleep(0)
        asked[0].cancel()
        for _ in range(twice):
            await asyncio.sleep(0)
        asked[0].cancel()
    done = await asyncio.gather(*asked, return_exceptions=True)
    found: list[Resolution | None] = []
    for each in done:
        assert isinstance(each, Resolution | asyncio.CancelledError), f"ask raised {each!r}"
        found.append(each if isinstance(each, Resolution) else None)
    await asyncio.sleep(200)
    assert broker.pending() == ()
    assert broker._waits == {}
    assert broker._machine._queues == {}
    assert len(broker._tasks) == 0
    await broker.close()
    return found, broker


def smooth() -> list[tuple[str, str]]:
    points = Points()
    found, _ = play(scene(points))
    assert [(each.ending, each.allowed) for each in found if each is not None] == [
        (Ending.ANSWERED, True),
        (Ending.SETTLED, True),
    ]
    return points.passed


NAMES = smooth()


def test_the_scene_passes_every_kind_of_point() -> None:
    assert {name for name, _ in NAMES} == {
        *(f"{when} {name}" for when in ("before", "after") for name in ("hold", "shown", "answered", "use", "finish")),
        *("show", "queued", "withdraw", "recheck", "remember", "settles"),
        *("record shown", "record answered", "record ended"),
    }


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("at", range(len(NAMES)))
def test_a_fault_at_any_point_leaves_nothing_pending_and_allows_nothing(at: int, fault: str) -> None:
    points = Points(at, fault)
    found, _ = play(scene(points))
    assert points.passed[at] == NAMES[at]
    name, id = NAMES[at]
    allowed = [each.id for each in found if each is not None and each.allowed]
    if fault == "cancels the caller":
        assert found[0] is None or points.too_late
    elif name in HARMLESS:
        assert "first" in allowed
    else:
        assert id not in allowed, f"a fault of {name} stopped nothing"


@pytest.mark.parametrize("twice", [0, 1, 3, 10])
def test_a_caller_cancelled_at_any_moment_leaves_nothing_pending(twice: int) -> None:
    ends: set[str] = set()
    for moment in range(120):
        found, _ = play(scene(Points(), cancel_after=moment, twice=twice))
        ends.add("answered" if found[0] is not None else "cancelled")
        if found[0] is not None:
            assert found[0].allowed
    assert ends == {"answered", "cancelled"}


def test_what_was_recorded_of_a_cancelled_caller_ends_with_its_being_cancelled() -> None:
    """The trail never says of a call that it ran when its caller was not told so."""
    for moment in range(120):
        recorded: list[Moment] = []

        async def cancelled_at(moment: int = moment, recorded: list[Moment] = recorded) -> None:
            async def record(each: Moment) -> None:
                await asyncio.sleep(0)
                recorded.append(each)

            broker = Broker(store=MemoryStore(), recheck=lambda held: Recheck(SecondLook.STANDS), record=record)
            broker.attach(FaultyDesk(Points(), "first"))
            asked = asyncio.create_task(broker.ask(held("first")))
            for _ in range(moment):
                await asyncio.sleep(0)
            asked.cancel()
            told = (await asyncio.gather(asked, return_exceptions=True))[0]
            await asyncio.sleep(100)
            ends = [each.resolution.allowed for each in recorded if each.resolution is not None]
            assert (ends == [] and moment == 0) or ends[-1] is isinstance(told, Resolution)

        play(cancelled_at())


def test_a_plain_function_that_raises_is_a_fault_like_any_other() -> None:
    def broken(held: Held) -> Recheck:
        raise ZeroDivisionError

    async def run() -> None:
        for given in ({"recheck": broken}, {"record": broken}):
            broker = Broker(**{"store": MemoryStore(), "recheck": lambda held: Recheck(SecondLook.STANDS), **given})  # type: ignore[arg-type]
            broker.attach(FaultyDesk(Points(), "first"))
            resolution = await broker.ask(held("first"))
            assert (resolution.ending, resolution.allowed) == (Ending.FAULT, False)
            assert "ZeroDivisionError" in resolution.reason
            assert broker._waits == {}

    play(run())
