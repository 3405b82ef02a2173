"""The channels of programs and of nobody."""

from __future__ import annotations

import asyncio

import pytest

from assent.approval.channels.callback import NOBODY, Asked, CallbackChannel, HeadlessChannel
from assent.approval.commands import Partial
from assent.approval.denial import deny
from assent.contract.approval import Answer, Ending, Held, Said
from tests.broker.stage import NO, YES, Desk, Scene, calm, held, play


async def allows(question: Held) -> Answer:
    await asyncio.sleep(1)
    return Answer(Said.ALLOW, who="program")


async def silent(question: Held) -> None:
    await asyncio.sleep(1)


async def raises(question: Held) -> Answer:
    raise LookupError("no idea")


@pytest.mark.parametrize(
    ("asked", "ending", "allowed"),
    [(allows, Ending.ANSWERED, True), (silent, Ending.DISMISSED, False), (raises, Ending.FAULT, False)],
)
def test_a_coroutine_function_is_asked(asked: Asked, ending: Ending, allowed: bool) -> None:
    async def scene() -> None:
        stage = Scene()
        stage.broker.attach(CallbackChannel(asked, name="program"))
        resolution = await stage.broker.ask(held())
        assert (resolution.ending, resolution.allowed) == (ending, allowed)
        await calm()
        stage.assert_empty()

    play(scene())


@pytest.mark.parametrize(("said", "allowed"), [(Said.ALLOW, True), (Said.DENY, False)])
def test_a_plain_function_is_asked_in_a_thread(said: Said, allowed: bool) -> None:
    async def scene() -> None:
        stage = Scene()
        stage.broker.attach(CallbackChannel(lambda question: Answer(said, who=question.id)))
        question = held()
        resolution = await stage.broker.ask(question)
        assert (resolution.allowed, resolution.answer) == (allowed, Answer(said, who=question.id, channel="callback"))

    asyncio.run(scene())


def test_a_function_is_stopped_when_somebody_else_answers() -> None:
    stopped: list[str] = []

    async def slow(question: Held) -> Answer:
        try:
            await asyncio.sleep(1e6)
        except asyncio.CancelledError:
            stopped.append(question.id)
            raise
        return Answer(Said.ALLOW)

    async def scene() -> None:
        stage = Scene()
        program = CallbackChannel(slow)
        stage.broker.attach(program)
        stage.broker.attach(stage.desk)
        question = held()
        asked = stage.ask(question)
        await calm()
        await stage.desk.questions[question.id].answer(NO)
        assert (await asked).answer == NO
        await calm()
        assert (stopped, program._tasks) == ([question.id], {})
        stage.assert_empty()

    play(scene())


def test_nobody_answers_where_nobody_is_and_nobody_waits_for_it() -> None:
    async def scene() -> None:
        stage = Scene()
        stage.broker.attach(HeadlessChannel())
        questions = [held() for _ in range(3)]
        found = await asyncio.gather(*(stage.broker.ask(question) for question in questions))
        assert found == [deny(question.id, Ending.UNSEEN, detail=NOBODY) for question in questions]
        assert asyncio.get_running_loop().time() == 0
        stage.assert_empty()

    play(scene())


class Narrow(Desk):
    """A channel that shows only a part of each question."""

    def shows_whole(self, held: Held) -> bool:
        return False


def test_a_place_that_does_not_show_all_of_a_call_cannot_allow_it_and_can_deny_it() -> None:
    async def scene() -> None:
        stage = Scene()
        narrow = Narrow("narrow")
        stage.broker.attach(narrow)
        stage.broker.attach(stage.desk)
        question, other = held(), held(session="t")
        asked, second = stage.ask(question), stage.ask(other)
        await calm()
        receipt = await narrow.questions[question.id].answer(YES)
        assert isinstance(receipt, Partial)
        assert "`assent inbox`" in receipt.words
        assert len(stage.broker.pending()) == 2
        await stage.desk.questions[question.id].answer(YES)
        await narrow.questions[other.id].answer(NO)
        assert ((await asked).allowed, (await second).ending) == (True, Ending.ANSWERED)

    play(scene())
