"""The life of a question, play by play. Time is a number; every line is an event and what the machine says to it."""

from __future__ import annotations

import pytest

from assent.approval.commands import Finish, QuestionState, SecondLook
from assent.approval.denial import deny
from assent.approval.machine import Machine
from assent.contract.approval import Answer, Ending, Held, Resolution, Said
from tests.broker.script import Play, left_over, line, shown_question
from tests.broker.stage import NO, STOP, YES, held

BEN = Answer(Said.ALLOW, who="ben", channel="phone")


def test_held_shown_answered_released() -> None:
    play = shown_question()
    assert play.states() == "a shown"
    play.at(7).answer("a", YES) >> "release a"
    assert play.states() == "a releasing"
    play.at(8).rechecked("a") >> "finish a answered allowed, withdraw a from desk"
    assert play.states() == ""
    assert play.finished["a"] == Finish(
        "a", Resolution("a", Ending.ANSWERED, allowed=True, answer=YES, reason="allowed by ada", waited=8)
    )


@pytest.mark.parametrize("answer", [NO, STOP])
def test_a_no_ends_the_question_at_once_and_carries_the_answer(answer: Answer) -> None:
    play = shown_question()
    play.at(7).answer("a", answer) >> "finish a answered, withdraw a from desk"
    assert play.finished["a"].resolution == deny("a", Ending.ANSWERED, answer=answer, waited=7)


def test_a_question_that_was_shown_expires_when_its_time_is_over() -> None:
    play = shown_question()
    assert play.machine.wake == 300
    play.at(299.9).tick() >> ""
    play.at(300).tick() >> "finish a expired, withdraw a from desk"


def test_an_answer_at_the_last_moment_counts_and_one_after_it_does_not() -> None:
    shown_question().at(299.9).answer("a", YES) >> "release a"
    late = shown_question()
    late.at(300).answer("a", YES) >> "finish a expired, withdraw a from desk, late a expired"


def test_the_clock_starts_when_the_question_is_shown_and_not_before() -> None:
    play = Play("desk")
    play.submit("a") >> "show a in desk"
    assert (play.states(), play.machine.wake) == ("a asked", 60)
    play.at(40).shown("a") >> "start a in desk until 340"
    assert (play.states(), play.machine.wake) == ("a shown", 340)


def test_being_shown_again_does_not_start_the_clock_again() -> None:
    play = shown_question()
    play.at(50).attached("phone") >> "show a in phone until 300"
    play.at(51).shown("a", "phone") >> ""
    assert play.machine.wake == 300


def test_a_question_that_nobody_can_see_ends_unseen() -> None:
    play = Play()
    play.submit("a") >> ""
    play.at(59).tick() >> ""
    play.at(60).tick() >> "finish a unseen"


def test_a_question_that_no_channel_can_deliver_ends_unseen() -> None:
    play = Play("desk", "phone")
    play.submit("a") >> "show a in desk, show a in phone"
    play.at(1).undeliverable("a", "desk") >> ""
    play.at(10).undeliverable("a", "phone") >> ""
    play.at(60).tick() >> "finish a unseen, withdraw a from desk, withdraw a from phone"


def test_a_channel_that_opens_in_time_saves_an_unseen_question() -> None:
    play = Play()
    play.submit("a") >> ""
    play.at(59).attached("desk") >> "show a in desk"
    play.at(59.5).shown("a") >> "start a in desk until 359.5"
    play.at(200).tick() >> ""


def test_questions_in_a_queue_that_nobody_can_see_end_unseen_too() -> None:
    play = Play()
    play.submit("a") >> ""
    play.at(10).submit("b") >> ""
    play.at(60).tick() >> "finish a unseen"
    play.at(69).tick() >> ""
    play.at(70).tick() >> "finish b unseen"


def test_a_dismissed_question_is_denied_everywhere() -> None:
    play = Play("desk", "phone")
    play.submit("a") >> "show a in desk, show a in phone"
    play.shown("a", "phone") >> "start a in phone until 300"
    play.dismissed("a", "phone") >> "finish a dismissed, withdraw a from desk, withdraw a from phone"


def test_a_channel_may_know_that_nobody_will_come() -> None:
    shown_question().at(3).unseen("a") >> "finish a unseen, withdraw a from desk"


def test_a_cancelled_question_is_withdrawn_everywhere() -> None:
    shown_question().cancel("a") >> "finish a cancelled, withdraw a from desk"


def test_a_question_can_be_cancelled_while_it_is_released() -> None:
    play = shown_question()
    play.answer("a", YES) >> "release a"
    play.cancel("a") >> "finish a cancelled, withdraw a from desk"
    play.rechecked("a") >> ""


def test_a_question_is_lost_when_the_only_channel_that_shows_it_stays_away() -> None:
    play = shown_question()
    play.at(20).detached("desk") >> ""
    play.at(29).tick() >> ""
    play.at(30).tick() >> "finish a lost"


def test_a_question_is_regained_when_the_channel_comes_back_in_time() -> None:
    play = shown_question()
    play.at(20).detached("desk") >> ""
    play.at(25).attached("desk") >> "show a in desk until 300"
    play.at(26).shown("a") >> ""
    play.at(299).answer("a", YES) >> "release a"


def test_opening_again_is_not_enough_if_the_question_is_not_shown_again() -> None:
    play = shown_question()
    play.at(20).detached("desk") >> ""
    play.at(25).attached("desk") >> "show a in desk until 300"
    play.at(30).tick() >> "finish a lost, withdraw a from desk"


def test_a_question_is_not_lost_while_another_channel_shows_it() -> None:
    play = shown_question()
    play.attached("phone") >> "show a in phone until 300"
    play.shown("a", "phone") >> ""
    play.at(20).detached("desk") >> ""
    play.at(200).tick() >> ""
    play.at(201).undeliverable("a", "phone") >> ""
    play.at(211).tick() >> "finish a lost, withdraw a from phone"


@pytest.mark.parametrize(
    ("verdict", "ending"), [(SecondLook.DENIED, Ending.OVERRULED), (SecondLook.CHANGED, Ending.CHANGED)]
)
def test_the_second_look_can_take_an_approval_back(verdict: SecondLook, ending: Ending) -> None:
    play = shown_question()
    play.answer("a", YES) >> "release a"
    play.at(4).rechecked("a", verdict, "a new rule") >> f"finish a {ending.value}, withdraw a from desk"
    assert play.finished["a"].resolution == deny("a", ending, answer=YES, detail="a new rule", waited=4)


def test_a_second_look_at_what_nobody_approved_releases_nothing() -> None:
    play = shown_question()
    play.rechecked("a") >> ""
    play.rechecked("b") >> ""
    assert play.states() == "a shown"


def test_a_fault_denies() -> None:
    play = shown_question()
    play.at(2).fault("a") >> "finish a fault, withdraw a from desk"
    assert play.finished["a"].resolution == deny("a", Ending.FAULT, detail="the disk is full", waited=2)


def test_a_late_answer_is_told_who_was_first_and_changes_nothing() -> None:
    play = shown_question()
    play.answer("a", YES) >> "release a"
    play.answer("a", BEN) >> "late a answered by ada in desk"
    play.rechecked("a") >> "finish a answered allowed, withdraw a from desk"
    play.answer("a", NO) >> "late a answered by ada in desk"


def test_a_doubled_answer_counts_once() -> None:
    play = shown_question()
    play.answer("a", YES) >> "release a"
    play.answer("a", YES) >> "late a answered by ada in desk"
    play.rechecked("a") >> "finish a answered allowed, withdraw a from desk"
    play.rechecked("a") >> ""


def test_a_yes_after_a_no_changes_nothing() -> None:
    play = shown_question()
    play.answer("a", NO) >> "finish a answered, withdraw a from desk"
    play.answer("a", BEN) >> "late a answered by ada in desk"


def test_an_answer_to_a_question_that_never_was_is_unknown() -> None:
    Play("desk").answer("forged", YES) >> "unknown forged"


def test_an_answer_with_another_digest_never_counts() -> None:
    play = shown_question()
    for digest in ("", "digest of b", "digest of a "):
        play.answer("a", YES, digest) >> "mismatch a"
    assert play.states() == "a shown"
    play.answer("a", NO) >> "finish a answered, withdraw a from desk"
    play.answer("a", YES, "digest of b") >> "mismatch a"


def test_an_id_is_used_once() -> None:
    play = shown_question()
    with pytest.raises(ValueError, match="was used before"):
        play.submit("a")
    play.cancel("a") >> "finish a cancelled, withdraw a from desk"
    with pytest.raises(ValueError, match="was used before"):
        play.submit("a")


def test_a_question_without_a_digest_is_not_asked() -> None:
    with pytest.raises(ValueError, match="needs an id and a digest"):
        Play("desk").machine.submit(Held("a", held("a").call, "", held("a").decision, held("a").preview), 0)


def test_one_question_of_a_session_is_asked_at_a_time_and_the_next_after_it() -> None:
    play = shown_question()
    play.submit("b") >> "queue b in desk at 1"
    play.submit("c") >> "queue c in desk at 2"
    assert play.states() == "a shown, b queued, c queued"
    play.at(100).answer("a", NO) >> "finish a answered, withdraw a from desk, show b in desk"
    assert play.states() == "b asked, c queued"


def test_time_in_the_queue_is_not_time_to_answer() -> None:
    play = shown_question()
    play.submit("b") >> "queue b in desk at 1"
    play.at(299).answer("a", NO) >> "finish a answered, withdraw a from desk, show b in desk"
    play.at(299.5).shown("b") >> "start b in desk until 599.5"
    play.at(599).answer("b", YES) >> "release b"


def test_a_question_in_the_queue_can_be_answered_early() -> None:
    play = shown_question()
    play.submit("b") >> "queue b in desk at 1"
    play.submit("c") >> "queue c in desk at 2"
    play.answer("b", YES) >> "release b"
    play.rechecked("b") >> "finish b answered allowed, withdraw b from desk"
    play.answer("c", NO) >> "finish c answered, withdraw c from desk"
    assert play.states() == "a shown"


def test_the_next_question_waits_until_a_release_has_ended_since_that_may_settle_it() -> None:
    play = shown_question()
    play.submit("b") >> "queue b in desk at 1"
    play.answer("a", YES) >> "release a"
    assert play.states() == "a releasing, b queued"
    play.rechecked("a") >> "finish a answered allowed, withdraw a from desk, show b in desk"


def test_siblings_that_a_grant_settles_are_released_without_being_asked() -> None:
    play = shown_question()
    for id in "bc":
        play.submit(id) >> f"queue {id} in desk at {'abc'.index(id)}"
    play.submit("other", "another session") >> "show other in desk"
    play.answer("a", YES) >> "release a"
    assert [each.id for each in play.machine.waiting(("test", "s"))] == ["b", "c"]
    play.settle("b", "c", answer=YES) >> "release b settled, release c settled"
    play.rechecked("a") >> "finish a answered allowed, withdraw a from desk"
    play.answer("b", NO) >> "late b settled by ada in desk"
    play.rechecked("b") >> "finish b settled allowed, withdraw b from desk"
    play.rechecked("c", SecondLook.DENIED) >> "finish c overruled, withdraw c from desk"
    assert play.states() == "other asked"


def test_what_is_not_waiting_cannot_be_settled() -> None:
    play = shown_question()
    play.answer("a", YES) >> "release a"
    play.settle("a", "b") >> ""


def test_sessions_do_not_wait_for_each_other() -> None:
    play = shown_question()
    play.submit("b", "another") >> "show b in desk"
    play.shown("b") >> "start b in desk until 300"
    assert play.states() == "a shown, b shown"


def test_sessions_of_two_runtimes_with_one_name_are_two() -> None:
    play = shown_question()
    commands = play.machine.submit(held("b", runtime="another"), 0)
    assert [type(each).__name__ for each in commands] == ["Show"]


def test_a_channel_that_opens_sees_everything_that_waits() -> None:
    play = Play()
    for id, session in (("a", "s"), ("b", "s"), ("c", "t")):
        play.submit(id, session) >> ""
    play.attached("desk") >> "show a in desk, queue b in desk at 1, show c in desk"


def test_a_serial_channel_gets_the_next_question_when_it_is_done_with_one() -> None:
    play = Play("desk", serial=True)
    play.submit("a", "s") >> "show a in desk"
    play.shown("a") >> "start a in desk until 300"
    play.submit("b", "t") >> ""
    play.submit("c", "u") >> ""
    play.at(200).tick() >> ""  # b and c wait for their turn: they are not unseen
    play.at(250).answer("a", NO) >> "finish a answered, withdraw a from desk, show b in desk"
    play.at(255).undeliverable("b") >> "show c in desk"
    play.at(256).shown("c") >> "start c in desk until 556"
    play.at(310).tick() >> "finish b unseen, withdraw b from desk"


def test_the_clock_of_a_question_that_a_channel_has_no_room_for_does_not_run() -> None:
    machine = Machine()
    machine.attached("page", 0.0, room=2)
    questions = [held(f"r{number}", session=f"s{number}") for number in range(3)]
    told = [line(each) for question in questions for each in machine.submit(question, 0.0)]
    assert told == ["show r0 in page", "show r1 in page", "queue r2 in page at 0"]
    for id in ("r0", "r1"):
        machine.shown(id, "page", 1.0)
    assert [each.deadline for each in machine.pending()] == [301.0, 301.0, None]
    assert machine.tick(290.0) == []
    told = [line(each) for each in machine.answer("r0", questions[0].digest, NO, 290.0)]
    assert told == ["finish r0 answered", "withdraw r0 from page", "show r2 in page"]
    machine.shown("r2", "page", 291.0)
    assert machine.state("r2") is QuestionState.SHOWN
    assert [line(each) for each in machine.tick(301.0)] == ["finish r1 expired", "withdraw r1 from page"]
    assert [each.deadline for each in machine.pending()] == [591.0]


def test_a_serial_channel_that_closes_leaves_the_others_unseen() -> None:
    play = Play("desk", serial=True)
    play.submit("a", "s") >> "show a in desk"
    play.submit("b", "t") >> ""
    play.at(100).detached("desk") >> "finish a unseen, withdraw a from desk, show b in desk"
    play.at(160).tick() >> "finish b unseen"


def test_closing_denies_everything_and_asks_nothing_in_its_place() -> None:
    play = shown_question()
    play.submit("b") >> "queue b in desk at 1"
    play.submit("c", "t") >> "show c in desk"
    play.answer("c", YES) >> "release c"
    play.lose(left_over("d", 50)) >> ""
    play.close() >> (
        "finish a closed, withdraw a from desk, finish b closed, withdraw b from desk, "
        "finish c closed, withdraw c from desk, finish d closed"
    )
    assert (play.states(), play.machine.wake) == ("", None)


# After a crash


def test_a_left_over_question_is_lost_and_denied_when_nobody_comes_back_for_it() -> None:
    play = Play("desk")
    play.lose(left_over("a", 50)) >> ""
    assert play.states() == "a lost"
    play.answer("a", YES) >> "absent a"
    play.at(50).tick() >> "finish a lost"
    play.reattach("a") >> "late a lost"


def test_a_left_over_question_whose_time_is_over_is_lost_at_once() -> None:
    Play("desk").lose(left_over("a", -5)) >> "finish a lost"


def test_a_left_over_question_is_asked_again_when_its_caller_comes_back() -> None:
    play = Play("desk")
    play.lose(left_over("a", 50)) >> ""
    play.at(20).reattach("a") >> "show a in desk until 50"
    play.shown("a") >> ""
    play.at(30).answer("a", YES) >> "release a"
    play.rechecked("a") >> "finish a answered allowed, withdraw a from desk"


def test_the_clock_of_a_left_over_question_goes_on() -> None:
    play = Play("desk")
    play.lose(left_over("a", 50)) >> ""
    play.at(20).reattach("a") >> "show a in desk until 50"
    play.shown("a") >> ""
    play.at(50).tick() >> "finish a expired, withdraw a from desk"


def test_a_left_over_question_that_was_never_shown_gets_its_whole_time() -> None:
    play = Play("desk")
    play.lose(left_over("a", 60, shown=False)) >> ""
    play.at(20).reattach("a") >> "show a in desk"
    play.at(21).shown("a") >> "start a in desk until 321"


def test_a_stored_approval_is_looked_at_again_when_the_caller_comes_back() -> None:
    play = Play("desk")
    play.lose(left_over("a", 50, answer=YES)) >> ""
    play.reattach("a") >> "release a stored"
    play.reattach("a") >> "late a answered"
    play.rechecked("a") >> "finish a answered allowed, withdraw a from desk"
    play.reattach("a") >> "late a answered by ada in desk"


def test_a_used_approval_is_lost() -> None:
    play = Play("desk")
    play.lose(left_over("a", 50, answer=YES, used=True)) >> "finish a lost"
    play.reattach("a") >> "late a lost"


def test_coming_back_with_another_digest_or_id_gets_nothing() -> None:
    play = Play("desk")
    play.lose(left_over("a", 50)) >> ""
    play.reattach("a", "digest of b") >> "mismatch a"
    play.reattach("b") >> "unknown b"
    assert play.states() == "a lost"


def test_coming_back_to_a_question_that_waits_changes_nothing() -> None:
    play = shown_question()
    play.reattach("a") >> ""
    assert play.states() == "a shown"


def test_ended_questions_are_forgotten_after_many_others() -> None:
    play = Play()
    for number in range(1100):
        play.machine.submit(held(f"n{number}"), 0)
        play.machine.cancel(f"n{number}", 0)
    play.answer("n1", YES) >> "unknown n1"
    play.answer("n1099", YES) >> "late n1099 cancelled"
