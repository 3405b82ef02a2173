"""kill -9 in the middle of a question: it is lost and denied, or asked again; an approval is used once at most."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assent.approval.accounts import Moment
from assent.approval.broker import Broker
from assent.approval.commands import Absent, QuestionState, Recheck, SecondLook
from assent.approval.store import SqliteStore
from assent.contract.approval import Ending, Resolution
from tests.broker.stage import STANDS, YES, Desk, calm, held, play

ROOT = Path(__file__).parents[2]
QUESTION = held("crashed", timeout=25)


def killed(store: Path, until: str) -> None:
    """Let a process come this far with a question, and kill it."""
    command = [sys.executable, "-m", "tests.broker.dying", str(store), until]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": "src"})
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == f"{until}\n"
    finally:
        process.kill()
        rest, _ = process.communicate()
    assert rest == ""
    assert process.returncode == -9


class Restart:
    """A new process on the store of a dead one, in fake time."""

    def __init__(self, path: Path, recheck: Recheck = STANDS) -> None:
        self.store = SqliteStore(str(path))
        self.recorded: list[Moment] = []
        self.desk = Desk()
        self.looks = 0
        self._recheck = recheck
        loop = asyncio.get_running_loop()
        start = time.time() - loop.time()
        self.broker = Broker(
            store=self.store, recheck=self._look, record=self.recorded.append, wall=lambda: start + loop.time()
        )
        self.broker.attach(self.desk)

    def _look(self, _: object) -> Recheck:
        self.looks += 1
        return self._recheck

    def back(self) -> asyncio.Task[Resolution]:
        return asyncio.create_task(self.broker.reattach(QUESTION.id, QUESTION.digest))

    async def end(self) -> None:
        assert self.broker.pending() == ()
        assert len(self.store) == 0
        await self.broker.close()
        await self.store.close()


@pytest.mark.parametrize("until", ["shown", "answered", "used"])
def test_nobody_comes_back_and_the_question_is_lost_and_denied(tmp_path: Path, until: str) -> None:
    killed(tmp_path / "held.db", until)

    async def scene() -> None:
        after = Restart(tmp_path / "held.db")
        await after.broker.recover()
        if until != "used":
            assert [(each.held, each.state) for each in after.broker.pending()] == [(QUESTION, QuestionState.LOST)]
            deadline = after.broker.pending()[0].deadline
            assert deadline is not None
            assert 0 < deadline - time.time() <= 61
            assert await after.broker.answer(QUESTION.id, QUESTION.digest, YES) == Absent(QUESTION.id)
        await asyncio.sleep(61)
        ends = [each.resolution for each in after.recorded if each.kind == "ended"]
        assert [(each.ending, each.allowed) for each in ends if each is not None] == [(Ending.LOST, False)]
        assert not (await after.back()).allowed
        assert after.looks == 0
        await after.end()

    play(scene())


def test_the_caller_comes_back_and_gets_the_answer(tmp_path: Path) -> None:
    killed(tmp_path / "held.db", "shown")

    async def scene() -> None:
        after = Restart(tmp_path / "held.db")
        await after.broker.recover()
        caller = after.back()
        await calm()
        await after.desk.questions[QUESTION.id].answer(YES)
        resolution = await caller
        assert (resolution.ending, resolution.allowed, resolution.answer) == (Ending.ANSWERED, True, YES)
        assert after.looks == 1
        again = await after.back()
        assert (again.ending, again.allowed) == (Ending.LOST, False)
        await after.end()

    play(scene())


def test_a_caller_may_come_back_before_anybody_looked_for_leftovers(tmp_path: Path) -> None:
    async def scene() -> None:
        after = Restart(tmp_path / "held.db")
        await after.broker.recover()
        await asyncio.to_thread(killed, tmp_path / "held.db", "shown")
        caller = after.back()
        for _ in range(100):
            await asyncio.sleep(0)
        await after.desk.questions[QUESTION.id].answer(YES)
        assert (await caller).allowed
        await after.end()

    asyncio.run(scene())


def test_the_caller_comes_back_and_nobody_answers(tmp_path: Path) -> None:
    killed(tmp_path / "held.db", "shown")

    async def scene() -> None:
        after = Restart(tmp_path / "held.db")
        await after.broker.recover()
        resolution = await after.back()
        assert (resolution.ending, resolution.allowed) == (Ending.EXPIRED, False)
        assert asyncio.get_running_loop().time() <= 25
        await after.end()

    play(scene())


@pytest.mark.parametrize(
    ("recheck", "ending"),
    [
        (STANDS, Ending.ANSWERED),
        (Recheck(SecondLook.DENIED), Ending.OVERRULED),
        (Recheck(SecondLook.CHANGED), Ending.CHANGED),
    ],
)
def test_an_approval_that_was_stored_and_not_used_is_looked_at_again(
    tmp_path: Path, recheck: Recheck, ending: Ending
) -> None:
    killed(tmp_path / "held.db", "answered")

    async def scene() -> None:
        after = Restart(tmp_path / "held.db", recheck)
        await after.broker.recover()
        assert not (await after.broker.reattach(QUESTION.id, "another digest")).allowed
        resolution = await after.back()
        assert (resolution.ending, resolution.allowed) == (ending, ending is Ending.ANSWERED)
        assert after.looks == 1
        assert not (await after.back()).allowed
        await after.end()

    play(scene())


def test_an_approval_that_was_used_before_the_crash_is_not_used_again(tmp_path: Path) -> None:
    killed(tmp_path / "held.db", "used")

    async def scene() -> None:
        after = Restart(tmp_path / "held.db")
        await after.broker.recover()
        resolution = await after.back()
        assert (resolution.ending, resolution.allowed, after.looks) == (Ending.LOST, False, 0)
        await calm()
        await after.end()

    play(scene())


def test_two_that_restart_do_not_both_get_the_question(tmp_path: Path) -> None:
    killed(tmp_path / "held.db", "answered")

    async def scene() -> None:
        one, other = Restart(tmp_path / "held.db"), Restart(tmp_path / "held.db")
        await asyncio.gather(one.broker.recover(), other.broker.recover())
        both = await asyncio.gather(one.back(), other.back())
        assert sorted(each.allowed for each in both) == [False, True]
        await one.end()
        await other.end()

    play(scene())


def test_the_question_of_a_process_that_lives_is_left_to_it(tmp_path: Path) -> None:
    async def scene() -> None:
        alive, other = Restart(tmp_path / "held.db"), Restart(tmp_path / "held.db")
        question = held()
        asked = asyncio.create_task(alive.broker.ask(question))
        await calm()
        await other.broker.recover()
        assert other.broker.pending() == ()
        assert not (await other.broker.reattach(question.id, question.digest)).allowed
        await alive.desk.questions[question.id].answer(YES)
        assert (await asked).allowed
        await alive.end()
        await other.end()

    play(scene())
