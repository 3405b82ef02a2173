"""Offers through the broker: a person's no counts, another mode is offered, and only a person changes anything."""

from __future__ import annotations

import asyncio

import pytest

from assent.approval.accounts import Moment
from assent.contract.approval import Answer, Ending, Resolution
from tests.broker.stage import NO, STOP, YES, Desk, Scene, calm, held, play


async def say(stage: Scene, answer: Answer, **given: str) -> Resolution:
    question = held(**given)  # type: ignore[arg-type]
    asked = stage.ask(question)
    await calm()
    await stage.desk.questions[question.id].answer(answer)
    await calm()
    return await asked


class Modes:
    """Changes modes, and can fail to."""

    def __init__(self, fails: bool = False) -> None:
        self.changed: list[tuple[str, str, str]] = []
        self.fails = fails

    def __call__(self, session: str, mode: str, who: str) -> None:
        if self.fails:
            raise PermissionError("`max_mode` is auto")
        self.changed.append((session, mode, who))


def test_three_denials_in_a_row_are_an_offer_that_changes_nothing_by_itself() -> None:
    async def scene() -> None:
        modes = Modes()
        stage = Scene(change_mode=modes, deny_rule=modes)
        stage.broker.attach(stage.desk)
        for answer in (NO, STOP):
            await say(stage, answer)
        assert stage.desk.offers == []
        await say(stage, NO)
        (offering,) = stage.desk.offers
        offer = offering.offer
        assert (offer.session, offer.row, offer.total) == ("s", 3, 3)
        assert (offer.modes, offer.rules) == (("plan", "full_auto"), ("bash(make:*)",))
        assert stage.broker.offers.open() == (offer,)
        assert modes.changed == []
        assert [each.offer for each in stage.recorded if each.kind == "offer"] == [offer]

    play(scene())


def test_only_an_explicit_no_of_the_same_session_counts() -> None:
    async def scene() -> None:
        stage = Scene(change_mode=Modes())
        stage.broker.attach(stage.desk)
        await say(stage, NO)
        await say(stage, NO)
        await say(stage, NO, session="t")
        assert (await stage.broker.ask(held())).ending is Ending.EXPIRED
        question = held()
        asked = stage.ask(question)
        await calm()
        stage.desk.questions[question.id].dismiss()
        assert (await asked).ending is Ending.DISMISSED
        await say(stage, YES)
        await say(stage, NO)
        await say(stage, NO)
        assert stage.desk.offers == []
        await say(stage, NO)
        assert [each.offer.row for each in stage.desk.offers] == [3]

    play(scene())


def test_an_accepted_mode_is_recorded_changed_and_settles_what_waits() -> None:
    async def scene() -> None:
        modes = Modes()
        stage = Scene(change_mode=modes, settles=lambda held: bool(modes.changed))
        stage.broker.attach(stage.desk)
        for _ in range(3):
            await say(stage, NO)
        asked = stage.ask(held())
        await calm()
        offering = stage.desk.offers[0]
        words = await offering.accept(mode="full_auto", who="ada")
        assert words == "the mode of this session is `full_auto` now"
        assert modes.changed == [("s", "full_auto", "ada")]
        expected = Moment("mode", offer=offering.offer, chosen="full_auto", who="ada", channel="desk")
        assert [each for each in stage.recorded if each.kind == "mode"] == [expected]
        assert (await asked).ending is Ending.SETTLED
        assert await offering.accept(mode="plan", who="ben") == "this offer is not open any more; nothing was changed"
        assert offering.reject(who="ben") == "this offer is not open any more; nothing was changed"
        assert modes.changed == [("s", "full_auto", "ada")]

    play(scene())


def test_a_deny_rule_may_be_chosen_instead() -> None:
    async def scene() -> None:
        rules = Modes()
        stage = Scene(deny_rule=rules)
        stage.broker.attach(stage.desk)
        for _ in range(3):
            await say(stage, NO)
        assert stage.desk.offers[0].offer.modes == ()
        words = await stage.desk.offers[0].accept(rule="bash(make deploy)", who="ada")
        assert (words, rules.changed) == (
            "`bash(make deploy)` is denied from now on",
            [("s", "bash(make deploy)", "ada")],
        )

    play(scene())


@pytest.mark.parametrize(("mode", "rule"), [("yolo", ""), ("", ""), ("plan", "bash(make)"), ("", "bash(make)")])
def test_what_was_not_offered_cannot_be_chosen(mode: str, rule: str) -> None:
    async def scene() -> None:
        modes = Modes()
        stage = Scene(change_mode=modes)
        stage.broker.attach(stage.desk)
        for _ in range(3):
            await say(stage, NO)
        words = await stage.desk.offers[0].accept(mode=mode, rule=rule, who="ada")
        assert words == "choose one of the offered modes, or a rule; nothing was changed"
        assert modes.changed == []

    play(scene())


def test_a_change_that_fails_or_cannot_be_recorded_leaves_the_offer_open() -> None:
    async def scene() -> None:
        modes = Modes(fails=True)
        stage = Scene(change_mode=modes)
        stage.broker.attach(stage.desk)
        for _ in range(3):
            await say(stage, NO)
        words = await stage.desk.offers[0].accept(mode="full_auto", who="ada")
        assert words == "nothing was changed: `max_mode` is auto"
        assert len(stage.broker.offers.open()) == 1
        modes.fails = False

        def full(moment: Moment) -> None:
            raise OSError("the disk is full")

        stage.broker._accounts.record = full
        assert await stage.desk.offers[0].accept(mode="full_auto", who="ada") == "nothing was changed: the disk is full"
        assert modes.changed == []

    play(scene())


def test_rejecting_twice_leaves_the_session_in_peace_and_others_not() -> None:
    async def scene() -> None:
        stage = Scene(change_mode=Modes())
        stage.broker.attach(stage.desk)
        for _ in range(30):
            await say(stage, NO)
            if stage.broker.offers.open():
                assert stage.desk.offers[-1].reject(who="ada") == "nothing was changed"
        assert [each.offer.row for each in stage.desk.offers] == [3, 6]
        for _ in range(3):
            await say(stage, NO, session="t")
        assert [(each.offer.session, each.offer.row) for each in stage.desk.offers[2:]] == [("t", 3)]

    play(scene())


def test_a_channel_that_fails_to_offer_harms_nobody() -> None:
    class Rude(Desk):
        async def offer(self, offering: object) -> None:
            await asyncio.sleep(1e6)

    async def scene() -> None:
        stage = Scene(change_mode=Modes())
        stage.broker.attach(Rude("rude"))
        stage.broker.attach(stage.desk)
        for _ in range(3):
            await say(stage, NO)
        assert len(stage.desk.offers) == 1
        await asyncio.sleep(20)
        assert len(stage.broker._tasks) == 0

    play(scene())


def test_a_session_that_is_over_is_forgotten() -> None:
    async def scene() -> None:
        stage = Scene(change_mode=Modes())
        stage.broker.attach(stage.desk)
        for _ in range(3):
            await say(stage, NO)
        stage.broker.offers.forget(("test", "s"))
        assert stage.broker.offers.open() == ()
        assert "not open" in await stage.desk.offers[0].accept(mode="plan")

    play(scene())


def test_an_offer_that_is_turned_down_is_recorded_with_who_did_it() -> None:
    async def scene() -> None:
        stage = Scene(change_mode=Modes())
        stage.broker.attach(stage.desk)
        for _ in range(3):
            await say(stage, NO)
        (offering,) = stage.desk.offers
        assert offering.reject(who="ada") == "nothing was changed"
        await calm()
        assert stage.recorded[-1] == Moment("rejected", offer=offering.offer, who="ada", channel="desk")

    play(scene())


def test_what_a_stop_takes_with_it_counts_as_one_denial() -> None:
    async def scene() -> None:
        stage = Scene(change_mode=Modes())
        stage.broker.attach(stage.desk)
        asked = [stage.ask(held()) for _ in range(5)]
        await calm()
        await next(iter(stage.desk.questions.values())).answer(STOP)
        await asyncio.gather(*asked)
        await calm()
        assert stage.desk.offers == []

    play(scene())
