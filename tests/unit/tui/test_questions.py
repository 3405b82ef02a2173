"""What the terminal inbox knows follows from the events, in any order that the server may send them."""

from __future__ import annotations

import os
from typing import Any

import pytest

try:
    import textual  # noqa: F401
except ImportError:
    assert os.environ.get("CI") != "true", "CI must have textual: pip install 'assent[inbox]'"
    pytest.skip("textual is not installed; pip install 'assent[inbox]'", allow_module_level=True)

from assent.approval import wire
from assent.contract import Call, Decision, Layer, Outcome, Part
from assent.contract.approval import Ending, Held, Preview, Said, Scope, Suggestion
from assent.tui import render
from assent.tui.questions import EXACT, LINGER, Choice, Over, Questions


def event(id: str, *, session: str = "s", made: float = 0.0, state: str = "shown", **more: object) -> dict[str, Any]:
    part = Part(Outcome.ASK, Layer.MODE, "mode.execute", "it runs something")
    decision = Decision(Outcome.ASK, part, (part,), mode="default", risk="low", tool="bash")
    call = Call("bash", {"command": f"make {id}"}, cwd="/p", session=session, runtime="codex")
    suggested = (Suggestion((f"bash(make {id})",), "exactly this"),)
    held = Held(id, call, "d", decision, Preview("command", "make"), suggestions=suggested, project="/p", made=made)
    plain = wire.plain(held)
    assert isinstance(plain, dict)
    return {**plain, "state": state, "position": 0, "deadline": None, **more}


def known(*events: tuple[str, dict[str, Any]]) -> Questions:
    found = Questions()
    for name, data in events:
        found.take(name, data, 100.0)
    return found


def order(found: Questions) -> list[list[str]]:
    return [[each.id for each in group] for group in found.groups()]


def test_questions_stand_by_session_the_head_first_and_what_has_ended_last() -> None:
    found = known(
        ("held", event("a", session="late", made=5)),
        ("held", event("b", session="early", made=1)),
        ("held", event("d", session="early", made=3, state="queued", position=2)),
        ("held", event("c", session="early", made=4, state="queued", position=1)),
        ("held", event("e", session="over", made=0)),
        ("ended", {"id": "e", "ending": "expired"}),
        ("ended", {"id": "d", "ending": "answered", "said": "deny"}),
    )
    assert order(found) == [["b", "c", "d"], ["a"], ["e"]]
    assert [each.id for each in found.waiting()] == ["a", "b", "c"]


def test_a_question_that_moves_up_is_the_same_question_with_a_clock() -> None:
    found = known(("held", event("a", state="queued", position=1)))
    before = found.get("a")
    assert before is not None
    assert (before.queued, before.left(100)) == (True, None)
    assert found.take("held", event("a", deadline=160.0), 100.0) is None
    assert found.get("a") is before
    assert (before.queued, before.left(100)) == (False, 60.0)


def test_only_a_question_that_was_never_told_of_is_new() -> None:
    found = Questions()
    fresh = found.take("held", event("a"), 0.0)
    assert fresh is not None
    assert (fresh.id, fresh.choices) == ("a", (Choice(("bash(make a)",), ("bash(make a)",), "exactly this"),))
    bare = found.take("held", event("b", suggestions=[]), 0.0)
    assert bare is not None
    assert bare.choices == (EXACT,)


def test_the_end_is_told_with_who_and_how_and_forgotten_after_a_while() -> None:
    ended = {"id": "a", "ending": "answered", "allowed": True, "said": "allow", "scope": "session", "who": "ana"}
    found = known(("held", event("a", deadline=500.0)), ("ended", {**ended, "channel": "web", "reason": "r"}))
    question = found.get("a")
    assert question is not None
    over = Over(
        Ending.ANSWERED,
        allowed=True,
        said=Said.ALLOW,
        scope=Scope.SESSION,
        who="ana",
        channel="web",
        reason="r",
        at=100.0,
    )
    assert (question.over, question.left(100)) == (over, None)
    assert (found.sweep(100.0 + LINGER), found.sweep(101.0 + LINGER), found.get("a")) == (False, True, None)


def test_what_ended_while_the_line_was_broken_counts_as_ended() -> None:
    found = known(("held", event("a")), ("held", event("b")), ("hello", {"now": 160.0, "alive": ["b"]}))
    question = found.get("a")
    assert question is not None
    assert question.over is not None
    assert (question.over.ending, question.over.at) == (Ending.LOST, 100.0)
    assert [each.id for each in found.waiting()] == ["b"]


def test_a_clock_that_jumps_changes_nothing_of_the_time_that_is_left() -> None:
    found = known(("held", {**event("a", deadline=5300.0), "now": 5000.0}))
    question = found.get("a")
    assert question is not None
    assert question.left(110.0) == 290.0
    for told in (9000.0, 1000.0):
        found.take("ping", {"now": told}, 120.0)
        assert question.left(120.0) == 280.0
    found.take("held", {**event("a", deadline=1280.0), "now": 1000.0}, 120.0)
    assert question.left(120.0) == 280.0


def test_a_newer_offer_takes_the_place_of_an_older_one_of_the_session() -> None:
    offer = {"session": "s", "runtime": "codex", "modes": ["plan"], "rules": [], "words": "w"}
    found = known(
        ("offer", {**offer, "id": "1"}),
        ("offer", {**offer, "id": "2"}),
        ("offer", {**offer, "id": "3", "session": "t"}),
    )
    assert [each.id for each in found.offers] == ["2", "3"]
    found.drop_offer("2")
    assert [each.id for each in found.offers] == ["3"]


@pytest.mark.parametrize(
    ("seconds", "shown"), [(-3, "0s"), (0.2, "1s"), (59.5, "1:00"), (61, "1:01"), (299.2, "5:00"), (3600, "60m")]
)
def test_the_clock_is_short(seconds: float, shown: str) -> None:
    assert render.clock(seconds) == shown


def test_every_ending_has_words_and_only_an_allowed_one_does_not_say_that_it_did_not_run() -> None:
    for each in Ending:
        told = render.ending(each, None, Scope.ONCE, False)
        assert told == "denied" or told.endswith("it did not run")
    assert render.ending(Ending.ANSWERED, Said.STOP, Scope.ONCE, False) == "denied, and the agent is told to stop"
    assert render.ending(Ending.ANSWERED, Said.ALLOW, Scope.PROJECT, True) == "always allowed in this project"
    assert render.ending(Ending.SETTLED, None, Scope.ONCE, True) == "settled by another answer"
