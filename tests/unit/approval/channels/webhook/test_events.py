"""What a webhook is told hides nothing, and what it answers is read strictly."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.approval.channels.remote import SCOPES, signature
from assent.approval.channels.webhook import events
from assent.contract.approval import Answer, Consequence, Ending, Held, Resolution, Said, Scope
from assent.contract.display import is_hidden
from tests.broker.stage import held

RIGHT = {"id": "q1", "digest": "d", "nonce": "n", "said": "allow"}


def read(**given: object) -> events.WebhookAnswer:
    return events.read(json.dumps({**RIGHT, **given}).encode())


def test_an_answer_is_read() -> None:
    assert read() == events.WebhookAnswer("q1", "d", "n", Answer(Said.ALLOW))
    assert read(said="stop", message="no", who="ann") == events.WebhookAnswer(
        "q1", "d", "n", Answer(Said.STOP, message="no", who="ann")
    )
    assert read(scope="15m", rules=["bash(a)"]).answer == Answer(Said.ALLOW, scope=Scope.QUARTER, rules=("bash(a)",))
    assert read(rules=["bash(a)"]).answer == Answer(Said.ALLOW)  # once remembers nothing


def test_a_question_has_its_consequences_as_data() -> None:
    asked = held("q1")
    caused = (Consequence("deletion", "removes `a\x1b`", cut=True), Consequence("undo", "cannot be undone: x"))
    shown = Held("q1", asked.call, "d", asked.decision, asked.preview, consequences=caused)
    event = json.loads(events.question(shown, "n", deadline=1.0, behind=0, back="/x"))
    assert event["consequences"] == [
        {"kind": "deletion", "text": "removes `a\\u{1b}`", "cut": True},
        {"kind": "undo", "text": "cannot be undone: x", "cut": False},
    ]


@pytest.mark.parametrize(
    "given",
    [
        {"said": "yes"}, {"said": None}, {"said": True}, {"scope": "project"}, {"scope": "everywhere"}, {"scope": 15},
        {"rules": [1], "scope": "15m"}, {"rules": "x", "scope": "15m"}, {"rules": ["x"] * 21, "scope": "session"},
        {"rules": ["x" * 2001], "scope": "session"}, {"id": 1}, {"who": ["ann"]}, {"channel": "web"}, {"allowed": True},
    ],
)  # fmt: skip
def test_what_is_not_of_that_form_is_no_answer(given: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"."):
        read(**given)


@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace")))
def test_no_bytes_break_the_reading(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"^(the answer|`)"):
        events.read(body)


def test_a_field_that_stands_there_twice_is_no_answer() -> None:
    body = json.dumps({**RIGHT, "said": "deny"})
    with pytest.raises(ValueError, match="has a field twice"):
        events.read(f'{body[:-1]}, "said": "allow"}}'.encode())


def test_deeply_nested_bytes_are_no_answer() -> None:
    with pytest.raises(ValueError, match="not JSON"):
        events.read(b"[" * 100_000)


@given(st.text(max_size=80))
def test_a_question_is_told_with_nothing_hidden(text: str) -> None:
    body = events.question(held(command=f"make {text}"), "word", deadline=1.5, behind=0, back="/x")
    found = json.loads(body)
    assert (found["nonce"], found["scopes"], found["preview"]["length"]) == (
        "word",
        [scope.value for scope in SCOPES],
        len(text) + 5,
    )
    assert [each for each in found["preview"]["text"] if is_hidden(each)] == []


def test_an_end_is_told_with_who_and_where() -> None:
    answer = Answer(Said.ALLOW, who="ann\u202e", channel="slack")
    found = json.loads(events.ended(Resolution("q1", Ending.ANSWERED, allowed=True, answer=answer), "word"))
    assert found == {
        "event": "ended", "id": "q1", "nonce": "word", "allowed": True, "ending": "answered", "reason": "",
        "said": "allow", "who": "ann\\u{202e}", "channel": "slack",
    }  # fmt: skip


def test_an_event_is_signed_apart_from_answers() -> None:
    made = events.headers("s", b"{}", 7)
    assert made[events.TIMESTAMP] == "7"
    assert made[events.SIGNATURE] == "v1=" + signature("s", "v1:event:7:", b"{}")
    assert made[events.SIGNATURE] != "v1=" + signature("s", "v1:answer:7:", b"{}")
