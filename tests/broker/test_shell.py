"""The broker with its tasks and timers, in fake time: every caller gets one resolution, and nothing stays behind."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from assent.approval.channels import Question
from assent.approval.commands import Late, Mismatch, QuestionState, Recheck, SecondLook, Taken, Unknown
from assent.approval.denial import deny
from assent.contract.approval import Answer, Ending, Grant, Held, Resolution, Said, Scope
from tests.broker.memory_store import MemoryStore
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
            (question, QuestionState.SHOWN, EPOCH + 300)
        ]
        await asyncio.sleep(7)
        receipt = await stage.desk.questions[question.id].answer(YES)
        resolution = await asked
        assert resolution == Resolution(
            question.id, Ending.ANSWERED, allowed=True, answer=YES, reason="allowed by ada", waited=7
        )
        assert receipt == Taken(question.id, resolution)
        assert stage.kinds() == ["shown", "answered", "ended"]
        await calm()
        assert stage.desk.withdrawn == {question.id: resolution}
        stage.assert_empty()

    play(scene())


@pytest.mark.parametrize("answer", [NO, STOP])
def test_a_no_reaches_the_caller_in_words(answer: Answer) -> None:
    async def scene() -> None:
        stage = Scene()
        stage.broker.attach(stage.desk)
        question = held()
        asked = stage.ask(question)
        await calm()
        with_words = Answer(answer.said, message="use the staging host", who="ada")
        receipt = await stage.desk.questions[question.id].answer(with_words)
        resolution = await asked
        assert resolution.answer == Answer(answer.said, message="use the staging host", who="ada", channel="desk")
        assert resolution.reason.endswith(": use the staging host")
        assert (resolution.allowed, receipt) == (False, Taken(question.id, resolution))
        assert stage.kinds() == ["shown", "answered", "ended"]
        stage.assert_empty()

    play(scene())


@pytest.mark.parametrize(
    ("recheck", "ending"),
    [
        (Recheck(SecondLook.DENIED, "`bash(make:*)` is denied"), Ending.OVERRULED),
        (Recheck(SecondLook.CHANGED, "the script changed"), Ending.CHANGED),
    ],
)
def test_the_person_is_told_when_an_approval_does_not_stand(recheck: Recheck, ending: Ending) -> None:
    async def scene() -> None:
        stage = Scene(recheck=lambda held: recheck)
        stage.broker.attach(stage.desk)
        question = held()
        asked = stage.ask(question)
        await calm()
        receipt = await stage.desk.questions[question.id].answer(YES)
        resolution = await asked
        assert resolution == deny(question.id, ending, answer=YES, detail=recheck.reason)
        assert receipt == Taken(question.id, resolution)
        assert receipt.words.startswith("denied: ")
        stage.assert_empty()

    play(scene())


def test_nobody_answers_in_time() -> None:
    async def scene() -> None:
        stage = Scene()
        stage.broker.attach(stage.desk)
        question = held()
        resolution = await stage.broker.ask(question)
        assert asyncio.get_running_loop().time() == 300
        assert resolution == deny(question.id, Ending.EXPIRED, detail="300 s passed", waited=300)
        receipt = await stage.broker.answer(question.id, question.digest, YES)
        assert receipt == Late(question.id, Ending.EXPIRED)
        stage.assert_empty()

    play(scene())


def test_nobody_sees_it() -> None:
    async def scene() -> None:
        stage = Scene()
        question = held()
        resolution = await stage.broker.ask(question)
        assert asyncio.get_running_loop().time() == 60
        assert resolution == deny(question.id, Ending.UNSEEN, detail="no channel showed it for 60 s", waited=60)
        stage.assert_empty()

    play(scene())


class Broken(Desk):
    """A channel that fails, or never returns, when it is given a question."""

    def __init__(self, name: str, seconds: float) -> None:
        super().__init__(name)
        self.seconds = seconds

    async def show(self, question: Question) -> None:
        try:
            await asyncio.sleep(self.seconds)
        except asyncio.CancelledError:
            await asyncio.sleep(1e6)  # it does not even end when it is told to
        raise ConnectionError("the line is dead")


@pytest.mark.parametrize("seconds", [0, 1e6])
def test_a_channel_that_fails_or_hangs_blocks_no_other_and_does_not_count_as_seen(seconds: float) -> None:
    async def scene() -> None:
        stage = Scene()
        stage.broker.attach(Broken("dead", seconds))
        alone = stage.ask(held(session="t"))
        await asyncio.sleep(1)
        stage.broker.attach(stage.desk)
        question = held()
        asked = stage.ask(question)
        await calm()
        assert question.id in stage.desk.questions
        await stage.desk.questions[question.id].answer(YES)
        assert (await asked).allowed
        stage.broker.detach(stage.desk)
        assert (await alone).ending is Ending.LOST
        unseen = await stage.broker.ask(held())
        assert (unseen.ending, unseen.waited) == (Ending.UNSEEN, 60)
        stage.assert_empty()

    play(scene())


def test_cancelling_the_caller_withdraws_the_question_everywhere() -> None:
    async def scene() -> None:
        stage = Scene()
        phone = Desk("phone")
        stage.broker.attach(stage.desk)
        stage.broker.attach(phone)
        question = held()
        asked = stage.ask(question)
        await asyncio.sleep(5)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        await calm()
        ended = deny(question.id, Ending.CANCELLED, waited=5)
        assert (stage.desk.withdrawn, phone.withdrawn) == ({question.id: ended}, {question.id: ended})
        receipt = await stage.broker.answer(question.id, question.digest, YES)
        assert receipt == Late(question.id, Ending.CANCELLED)
        stage.assert_empty()

    play(scene())


def test_the_first_answer_wins_and_the_others_are_told_who_gave_it() -> None:
    async def scene() -> None:
        stage = Scene()
        phone = Desk("phone")
        stage.broker.attach(stage.desk)
        stage.broker.attach(phone)
        question = held()
        asked = stage.ask(question)
        await calm()
        on_phone = phone.questions[question.id]
        first, second = await asyncio.gather(
            stage.desk.questions[question.id].answer(YES), on_phone.answer(Answer(Said.DENY, who="ben"))
        )
        resolution = await asked
        assert first == Taken(question.id, resolution)
        assert second == Late(question.id, Ending.ANSWERED, "ada", "desk")
        assert second.words == "too late: ada answered first in desk; your answer changed nothing"
        assert resolution.allowed
        await calm()
        assert phone.withdrawn == {question.id: resolution}
        stage.assert_empty()

    play(scene())


def test_forged_answers_never_count() -> None:
    async def scene() -> None:
        stage = Scene()
        stage.broker.attach(stage.desk)
        question, other = held(), held(session="t")
        asked, beside = stage.ask(question), stage.ask(other)
        await calm()
        assert await stage.broker.answer("no such id", question.digest, YES) == Unknown("no such id")
        assert await stage.broker.answer(question.id, other.digest, YES) == Mismatch(question.id)
        assert await stage.broker.answer(question.id, "", YES) == Mismatch(question.id)
        assert [each.state for each in stage.broker.pending()] == [QuestionState.SHOWN, QuestionState.SHOWN]
        assert not (await asked).allowed
        assert not (await beside).allowed
        stage.assert_empty()

    play(scene())


def test_ten_queued_and_a_minute_for_each_answer_none_times_out() -> None:
    async def scene() -> None:
        stage = Scene()
        stage.broker.attach(stage.desk)
        questions = [held(timeout=90) for _ in range(10)]
        asked = [stage.ask(question) for question in questions]
        for question in questions:
            await asyncio.sleep(60)
            assert list(stage.desk.questions) == [question.id]
            await stage.desk.questions[question.id].answer(YES)
            await calm()
        resolutions = await asyncio.gather(*asked)
        assert [each.ending for each in resolutions] == [Ending.ANSWERED] * 10
        assert all(each.allowed for each in resolutions)
        assert asyncio.get_running_loop().time() == 600
        stage.assert_empty()

    play(scene())


def test_what_waits_behind_is_visible_and_can_be_answered_early() -> None:
    async def scene() -> None:
        stage = Scene()
        stage.broker.attach(stage.desk)
        first, second = held(), held()
        asked = [stage.ask(first), stage.ask(second)]
        await calm()
        assert (list(stage.desk.questions), list(stage.desk.waiting)) == ([first.id], [second.id])
        assert [(each.held.id, each.position) for each in stage.broker.pending()] == [(first.id, 0), (second.id, 1)]
        assert isinstance(await stage.desk.waiting[second.id].answer(YES), Taken)
        assert (await asked[1]).allowed
        assert not asked[0].done()
        stage.desk.questions[first.id].dismiss()
        assert (await asked[0]).ending is Ending.DISMISSED
        stage.assert_empty()

    play(scene())


def test_a_reload_within_the_grace_keeps_the_question() -> None:
    async def scene() -> None:
        stage = Scene()
        stage.broker.attach(stage.desk)
        question = held()
        asked = stage.ask(question)
        await asyncio.sleep(20)
        stage.broker.detach(stage.desk)
        await asyncio.sleep(5)
        page = Desk()
        stage.broker.attach(page)
        await asyncio.sleep(100)
        assert page.questions[question.id].deadline == EPOCH + 300
        await page.questions[question.id].answer(YES)
        assert (await asked).allowed
        stage.assert_empty()

    play(scene())


def test_a_closed_channel_loses_the_question_after_the_grace() -> None:
    async def scene() -> None:
        stage = Scene()
        stage.broker.attach(stage.desk)
        asked = stage.ask(held())
        await asyncio.sleep(20)
        stage.broker.detach(stage.desk)
        resolution = await asked
        assert (resolution.ending, resolution.waited) == (Ending.LOST, 30)
        stage.assert_empty()

    play(scene())


def grant(held: Held, answer: Answer) -> Grant:
    return Grant("g1", answer.scope, rules=answer.rules, session=held.call.session)


def test_a_grant_releases_the_siblings_that_it_settles_and_asks_the_others() -> None:
    async def scene() -> None:
        settles = lambda held: "make" in held.call.input["command"]  # noqa: E731 - one line says it
        stage = Scene(remember=grant, settles=settles)
        stage.broker.attach(stage.desk)
        first, sibling, other = held(), held(command="make test"), held(command="rm -rf build")
        foreign = held(session="t", command="make test")
        asked = [stage.ask(each) for each in (first, sibling, other, foreign)]
        await calm()
        receipt = await stage.desk.questions[first.id].answer(FOR_SESSION)
        assert receipt == Taken(first.id, await asked[0])
        settled = await asked[1]
        assert (settled.ending, settled.allowed, settled.answer) == (Ending.SETTLED, True, FOR_SESSION)
        await calm()
        assert set(stage.desk.questions) == {other.id, foreign.id}
        assert set(stage.desk.withdrawn) == {first.id, sibling.id}
        assert [(each.held.id, each.state) for each in stage.broker.pending()] == [
            (other.id, QuestionState.SHOWN),
            (foreign.id, QuestionState.SHOWN),
        ]
        await stage.broker.close()
        stage.assert_empty()

    play(scene())


def test_a_settled_sibling_is_looked_at_again_too() -> None:
    async def scene() -> None:
        recheck = lambda held: Recheck(  # noqa: E731 - one line says it
            SecondLook.DENIED if held.call.input["command"] == "make bad" else SecondLook.STANDS
        )
        stage = Scene(remember=grant, settles=lambda held: True, recheck=recheck)
        stage.broker.attach(stage.desk)
        first, sibling = held(), held(command="make bad")
        asked = [stage.ask(first), stage.ask(sibling)]
        await calm()
        await stage.desk.questions[first.id].answer(FOR_SESSION)
        assert [(each.ending, each.allowed) for each in await asyncio.gather(*asked)] == [
            (Ending.ANSWERED, True),
            (Ending.OVERRULED, False),
        ]
        stage.assert_empty()

    play(scene())


def test_an_answer_that_cannot_be_remembered_counts_once_and_the_person_is_told() -> None:
    def full(held: Held, answer: Answer) -> Grant | None:
        raise OSError("the disk is full")

    async def scene() -> None:
        stage = Scene(remember=full, settles=lambda held: True)
        stage.broker.attach(stage.desk)
        first, sibling = held(), held()
        asked = [stage.ask(first), stage.ask(sibling)]
        await calm()
        receipt = await stage.desk.questions[first.id].answer(FOR_SESSION)
        resolution = await asked[0]
        assert resolution.allowed
        assert receipt == Taken(
            first.id, resolution, "this once only, as it could not be remembered: OSError: the disk is full"
        )
        await calm()
        assert not asked[1].done()
        await stage.broker.close()
        stage.assert_empty()

    play(scene())


def test_only_an_approval_with_a_reach_is_remembered() -> None:
    remembered: list[Answer] = []

    def remember(held: Held, answer: Answer) -> Grant:
        remembered.append(answer)
        return grant(held, answer)

    async def scene() -> None:
        stage = Scene(remember=remember)
        stage.broker.attach(stage.desk)
        for answer in (YES, NO, Answer(Said.DENY, scope=Scope.SESSION), FOR_SESSION):
            question = held()
            asked = stage.ask(question)
            await calm()
            await stage.desk.questions[question.id].answer(answer)
            await asked
        assert remembered == [FOR_SESSION]

    play(scene())


def test_an_answer_goes_by_the_channel_it_came_through() -> None:
    async def scene() -> None:
        stage = Scene()
        stage.broker.attach(stage.desk)
        question = held()
        asked = stage.ask(question)
        await calm()
        await stage.desk.questions[question.id].answer(Answer(Said.ALLOW, who="ada", channel="forged"))
        assert (await asked).answer == YES

    play(scene())


def test_closing_denies_everything_and_later_questions_at_once() -> None:
    async def scene() -> None:
        stage = Scene()
        stage.broker.attach(stage.desk)
        asked = [stage.ask(held()), stage.ask(held()), stage.ask(held(session="t"))]
        await asyncio.sleep(3)
        await stage.broker.close()
        assert [each.ending for each in await asyncio.gather(*asked)] == [Ending.CLOSED] * 3
        late = held()
        assert await stage.broker.ask(late) == deny(late.id, Ending.CLOSED)
        assert len(stage.desk.withdrawn) == 3
        assert len(stage.broker._tasks) == 0
        stage.assert_empty()

    play(scene())


def test_two_callers_with_one_id_are_one_question() -> None:
    async def scene() -> None:
        stage = Scene()
        stage.broker.attach(stage.desk)
        question = held()
        first, second = stage.ask(question), stage.ask(question)
        assert (await second).ending is Ending.FAULT
        await calm()
        await stage.desk.questions[question.id].answer(YES)
        assert (await first).allowed
        assert (await stage.broker.ask(question)).ending is Ending.FAULT
        stage.assert_empty()

    play(scene())


def test_a_caller_that_comes_back_takes_the_place_of_the_one_that_waits() -> None:
    async def scene() -> None:
        stage = Scene()
        stage.broker.attach(stage.desk)
        question = held()
        old = stage.ask(question)
        await calm()
        assert (await stage.broker.reattach(question.id, "another")).ending is Ending.LOST
        new = asyncio.create_task(stage.broker.reattach(question.id, question.digest))
        assert (await old).ending is Ending.CANCELLED
        await stage.desk.questions[question.id].answer(YES)
        assert (await new).allowed
        assert [each.kind for each in stage.recorded].count("ended") == 1
        gone = await stage.broker.reattach(question.id, question.digest)
        assert (gone.ending, gone.allowed) == (Ending.LOST, False)
        stage.assert_empty()

    play(scene())


def test_a_serial_channel_is_given_one_question_at_a_time_and_none_times_out_unseen() -> None:
    async def scene() -> None:
        stage = Scene(desk=Desk(serial=True))
        stage.broker.attach(stage.desk)
        questions = [held(session=f"s{number}") for number in range(4)]
        asked = [stage.ask(question) for question in questions]
        for question in questions:
            await asyncio.sleep(100)
            assert list(stage.desk.questions) == [question.id]
            await stage.desk.questions[question.id].answer(YES)
            await calm()
        assert all(each.allowed for each in await asyncio.gather(*asked))
        stage.assert_empty()

    play(scene())


def test_a_release_that_hangs_ends_denied() -> None:
    async def hang(held: Held) -> Recheck:
        await asyncio.sleep(1e6)
        return Recheck(SecondLook.STANDS)

    async def scene() -> None:
        stage = Scene(recheck=hang)
        stage.broker.attach(stage.desk)
        question = held()
        asked = stage.ask(question)
        await calm()
        await stage.desk.questions[question.id].answer(YES)
        resolution = await asked
        assert (resolution.ending, resolution.allowed, resolution.waited) == (Ending.FAULT, False, 30)
        stage.assert_empty()

    play(scene())


def test_cancelling_the_one_who_answers_does_not_take_the_answer_back() -> None:
    async def slow(held: Held) -> Recheck:
        await asyncio.sleep(5)
        return Recheck(SecondLook.STANDS)

    async def scene() -> None:
        stage = Scene(recheck=slow)
        stage.broker.attach(stage.desk)
        question = held()
        asked = stage.ask(question)
        await calm()
        answering = asyncio.create_task(stage.broker.answer(question.id, question.digest, YES))
        await asyncio.sleep(1)
        answering.cancel()
        assert (await asked).allowed

    play(scene())


def test_an_answer_may_come_from_another_thread() -> None:
    async def scene() -> None:
        stage = Scene()
        with pytest.raises(RuntimeError):
            stage.broker.answer_threadsafe("a", "b", YES)
        stage.broker.attach(stage.desk)
        question = held()
        asked = stage.ask(question)
        await calm()
        told: list[Any] = []

        def elsewhere() -> None:
            told.append(stage.broker.answer_threadsafe(question.id, question.digest, YES).result(5))

        thread = threading.Thread(target=elsewhere)
        thread.start()
        resolution = await asked
        await asyncio.to_thread(thread.join)
        assert told == [Taken(question.id, resolution)]

    asyncio.run(scene())


def test_a_broker_may_be_used_by_one_loop_after_another() -> None:
    made: list[Scene] = []

    async def scene() -> None:
        if not made:
            made.append(Scene())
            assert made[0].broker.pending() == ()
            made[0].broker.attach(made[0].desk)
        stage = made[0]
        question = held()
        asked = stage.ask(question)
        await calm()
        await stage.desk.questions[question.id].answer(YES)
        assert (await asked).allowed
        stage.assert_empty()

    play(scene())
    play(scene())


def test_another_loop_gets_a_denial_and_changes_nothing() -> None:
    async def elsewhere(stage: Scene, question: Held) -> Resolution:
        with pytest.raises(RuntimeError, match="answer_threadsafe"):
            stage.broker.dismiss(question.id)
        with pytest.raises(RuntimeError, match="answer_threadsafe"):
            await stage.broker.answer(question.id, question.digest, YES)
        return await stage.broker.ask(held())

    async def scene() -> None:
        stage = Scene()
        stage.broker.attach(stage.desk)
        question = held()
        asked = stage.ask(question)
        await calm()
        foreign = await asyncio.to_thread(lambda: asyncio.run(elsewhere(stage, question)))
        assert (foreign.ending, foreign.allowed) == (Ending.FAULT, False)
        assert [each.state for each in stage.broker.pending()] == [QuestionState.SHOWN]
        await stage.desk.questions[question.id].answer(YES)
        assert (await asked).allowed

    asyncio.run(scene())


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf")])
def test_a_question_without_an_end_to_its_waiting_is_denied(seconds: float) -> None:
    async def scene() -> None:
        stage = Scene()
        stage.broker.attach(stage.desk)
        for question in (held(timeout=seconds), held(unseen=seconds)):
            assert (await stage.broker.ask(question)).ending is Ending.FAULT
        stage.assert_empty()

    play(scene())


def test_what_was_saved_for_an_approval_is_followed_by_another_look() -> None:
    async def scene() -> None:
        looks = [Recheck(SecondLook.CHANGED, "the script changed"), Recheck(SecondLook.STANDS)]
        stage = Scene(remember=grant, recheck=lambda held: looks.pop())
        stage.broker.attach(stage.desk)
        question = held()
        asked = stage.ask(question)
        await calm()
        await stage.desk.questions[question.id].answer(FOR_SESSION)
        assert ((await asked).ending, looks) == (Ending.CHANGED, [])
        stage.assert_empty()

    play(scene())


@pytest.mark.parametrize("refuses", ["answered", "use"])
def test_an_approval_that_the_store_knows_of_already_is_not_used(refuses: str) -> None:
    class Doubtful(MemoryStore):
        async def answered(self, id: str, answer: Answer) -> bool:
            return refuses != "answered" and await super().answered(id, answer)

        async def use(self, id: str) -> bool:
            return refuses != "use" and await super().use(id)

    async def scene() -> None:
        stage = Scene(store=Doubtful())
        stage.broker.attach(stage.desk)
        question = held()
        asked = stage.ask(question)
        await calm()
        await stage.desk.questions[question.id].answer(YES)
        assert ((await asked).ending, (await asked).allowed) == (Ending.FAULT, False)
        stage.assert_empty()

    play(scene())


def test_a_call_that_is_withdrawn_while_it_is_released_is_not_looked_at_to_the_end() -> None:
    looked: list[str] = []

    async def slow(question: Held) -> Recheck:
        await asyncio.sleep(5)
        looked.append(question.id)
        return Recheck(SecondLook.STANDS)

    async def scene() -> None:
        stage = Scene(recheck=slow)
        stage.broker.attach(stage.desk)
        question = held()
        asked = stage.ask(question)
        await calm()
        answering = asyncio.create_task(stage.desk.questions[question.id].answer(YES))
        await asyncio.sleep(1)
        stage.broker.withdraw(question.id, "the agent took it back")
        resolution = await asked
        assert resolution == deny(
            question.id, Ending.CANCELLED, answer=YES, detail="the agent took it back", waited=resolution.waited
        )
        assert await answering == Taken(question.id, resolution)
        await asyncio.sleep(20)
        assert looked == []
        stage.assert_empty()

    play(scene())


def test_a_stop_ends_everything_that_the_session_waits_for_and_nothing_of_another() -> None:
    async def scene() -> None:
        stage = Scene()
        stage.broker.attach(stage.desk)
        first, second, third = held(session="a"), held(session="a"), held(session="a")
        other = held(session="b")
        asked = [stage.ask(each) for each in (first, second, third, other)]
        await calm()
        await stage.desk.waiting[second.id].answer(STOP)
        await calm()
        ended = [await each for each in asked[:3]]
        assert [(each.allowed, each.ending, each.answer) for each in ended] == [
            (False, Ending.SETTLED, STOP),
            (False, Ending.ANSWERED, STOP),
            (False, Ending.SETTLED, STOP),
        ]
        assert all("wants you to stop" in each.reason for each in ended)
        assert set(stage.desk.questions) == {other.id}
        assert [each.held.id for each in stage.broker.pending()] == [other.id]
        await stage.desk.questions[other.id].answer(YES)
        assert (await asked[3]).allowed
        stage.assert_empty()

    play(scene())


def test_what_a_grant_settles_is_not_released_once_the_grant_is_gone() -> None:
    async def scene() -> None:
        asked_about: list[str] = []

        def settles(question: Held) -> bool:
            asked_about.append(question.id)
            return len(asked_about) == 1

        stage = Scene(settles=settles, remember=lambda held, answer: Grant("g", Scope.SESSION, rules=answer.rules))
        stage.broker.attach(stage.desk)
        first, second = held(), held()
        asked = [stage.ask(first), stage.ask(second)]
        await calm()
        await stage.desk.questions[first.id].answer(FOR_SESSION)
        ended = [await each for each in asked]
        assert [(each.allowed, each.ending) for each in ended] == [(True, Ending.ANSWERED), (False, Ending.CHANGED)]
        assert asked_about == [second.id, second.id]
        stage.assert_empty()

    play(scene())
