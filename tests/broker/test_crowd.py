"""A thousand sessions with ten held calls each, all at once."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from pathlib import Path

import pytest

from assent.approval.channels import Question
from assent.approval.store import SqliteStore, Store
from assent.contract.approval import Ending, Resolution
from tests.broker.memory_store import MemoryStore
from tests.broker.stage import NO, YES, Desk, Scene, held, play

SESSIONS, CALLS = 1000, 10


class Hall(Desk):
    """Many people. Every third question gets a yes, every third a no, every third none; some yeses come twice."""

    def __init__(self) -> None:
        super().__init__()
        self.said: Counter[str] = Counter()
        self.answering: set[asyncio.Task[None]] = set()

    async def show(self, question: Question) -> None:
        task = asyncio.create_task(self._answer(question))
        self.answering.add(task)
        task.add_done_callback(self.answering.discard)

    async def queued(self, question: Question, position: int) -> None:
        return

    async def withdraw(self, id: str, resolution: Resolution) -> None:
        self.said[f"{resolution.ending.value} {resolution.allowed}"] += 1

    async def _answer(self, question: Question) -> None:
        kind = int(question.held.id.split("-")[1]) % 3
        await asyncio.sleep(kind)
        if kind < 2:
            first, second = await asyncio.gather(
                *(question.answer(answer) for answer in ((YES, NO) if kind == 0 else (NO, YES)))
            )
            assert (type(first).__name__, type(second).__name__) == ("Taken", "Late")


async def crowd(store: Store, sessions: int, name: str) -> tuple[Counter[Ending], int]:
    stage = Scene(store=store, desk=Hall(), record=None)
    stage.broker.attach(stage.desk)
    questions = [
        held(f"{name}{session}-{number}", session=f"s{session}", timeout=30)
        for session in range(sessions)
        for number in range(CALLS)
    ]
    found = await asyncio.gather(*(stage.broker.ask(question) for question in questions))
    assert [each.id for each in found] == [each.id for each in questions]
    assert [each.allowed for each in found] == [int(each.id.split("-")[1]) % 3 == 0 for each in questions]
    await stage.broker.close()
    assert (stage.broker.pending(), stage.broker._waits, len(stage.broker._tasks)) == ((), {}, 0)
    assert isinstance(stage.desk, Hall)
    assert stage.desk.said.total() == len(questions)
    return Counter(each.ending for each in found), sum(each.allowed for each in found)


def test_every_one_is_answered_or_expires_exactly_once_and_memory_is_flat_after() -> None:
    async def left_after(store: MemoryStore, sessions: int) -> int:
        """How many objects are there after a crowd."""
        endings, allowed = await crowd(store, sessions, f"{sessions}x")
        assert endings == {Ending.ANSWERED: 7 * sessions, Ending.EXPIRED: 3 * sessions}
        assert allowed == 4 * sessions
        assert len(store) == 0
        gc.collect()
        return len(gc.get_objects())

    async def both() -> int:
        store = MemoryStore()
        few = await left_after(store, 20)
        return await left_after(store, SESSIONS) - few

    gc.disable()  # it would look at all of them again and again; what is left over is counted after a collection
    try:
        assert play(both()) < 200  # fewer are left where others were freed in between
    finally:
        gc.enable()


def test_the_same_with_questions_on_disk(tmp_path: Path) -> None:
    async def once() -> None:
        store = SqliteStore(str(tmp_path / "held.db"))
        endings, allowed = await crowd(store, 100, "d")
        assert (endings, allowed) == ({Ending.ANSWERED: 700, Ending.EXPIRED: 300}, 400)
        assert len(store) == 0
        await store.close()

    play(once())


def test_the_timers_of_ended_questions_are_dropped() -> None:
    async def run() -> None:
        stage = Scene(record=None)
        for number in range(2000):
            asked = stage.ask(held(f"t{number}", session=f"s{number}"))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            asked.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asked
        assert len(stage.broker._machine._timers) < 100

    play(run())
