"""The broker with its tasks and timers, in fake time: who asks gets one resolution, and nothing stays behind."""

from __future__ import annotations

import asyncio

from assent.contract.review import Ending, Said
from assent.review.commands import Late, Mismatch, Recheck, State, Taken, Unknown, Verdict
from tests.broker.stage import EPOCH, FOR_SESSION, NO, STOP, YES, Desk, Scene, calm, held, play


def test_an_approved_call_is_looked_at_again_and_released() -> None:
    async def scene() -> None:
        stage = Scene()
        stage.broker.attach(stage.desk)
        question = held()
        asked = stage.ask(question)
        await calm()
        assert stage.desk.questions[question.id].deadline == EPOCH + 300
        assert [(each.held, each.state, each.deadline) for each in stage.broker.pending()] == [
            (question, State.SHOWN, EPOCH + 300)
        ]
        await asyncio.sleep(7)
        receipt = await stage.desk.questions[question.id].answer(YES)
        resolution = await asked
        assert (resolution.ending, resolution.allowed, resolution.waited) == (Ending.ANSWERED, True, 7)
        assert receipt == Taken(question.id, resolution)
        assert stage.kinds() == ["shown", "answered", "ended"]
        await calm()
        assert stage.desk.withdrawn == {question.id: resolution}
        stage.assert_empty()

    play(scene())
