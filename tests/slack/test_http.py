"""Slack by signed HTTP: what Slack signed is heard, whatever else comes to that path is not."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.server.program import Answer, Person
from tests.slack.conftest import Gate, asking
from tests.slack.standin import MALLORY, Posted, StandIn, form, signature, until

PATH = "/v1/slack/interact"


@pytest.fixture(scope="module")
def program(slack: StandIn, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    found = Gate(tmp_path_factory.mktemp("gate"), asking(slack, more='transport = "http"'))
    found.elsewhere("slack", "up")
    yield found
    found.stop()


def send(program: Gate, payload: dict[str, Any], headers: dict[str, str] | None = None, **more: str) -> Answer:
    body = form(payload)
    return program.ask("POST", PATH, raw=body, headers={**(signature(body) if headers is None else headers), **more})


def asked(program: Gate, slack: StandIn, name: str) -> tuple[Any, Posted]:
    waiting = program.calling(f"make {name}", session=name)
    return waiting, slack.message(about=f"make {name}")


def deny(program: Gate, person: Person, session: str) -> None:
    person.answer(person.held_in(session), "deny")


def test_a_signed_yes_lets_the_call_run_and_needs_no_cookie(program: Gate, slack: StandIn) -> None:
    waiting, message = asked(program, slack, "signed")
    found = send(program, slack.pressed(message, "assent_once"), Host="gate.example.com")  # by way of a proxy
    assert (found.status, found.raw) == (200, b"")
    assert waiting.result(20).json["allowed"] is True
    slack.changed(message, "Allowed once by U0ANN")


def test_a_signed_no_stops_it(program: Gate, slack: StandIn) -> None:
    waiting, message = asked(program, slack, "refuse")
    assert send(program, slack.pressed(message, "assent_deny")).status == 200
    assert waiting.result(20).json["allowed"] is False


def test_a_forged_an_old_and_an_unsigned_interaction_decide_nothing(
    program: Gate, slack: StandIn, person: Person
) -> None:
    waiting, message = asked(program, slack, "forged")
    payload = slack.pressed(message, "assent_once")
    body = form(payload)
    other = form(slack.pressed(message, "assent_deny"))
    right = signature(body)
    tries = [
        {},
        signature(body, secret="guessed"),
        signature(body, secret=""),
        signature(body, at=time.time() - 600),
        signature(body, at=time.time() + 600),
        signature(other),
        {**right, "X-Slack-Signature": ""},
        {**right, "X-Slack-Signature": right["X-Slack-Signature"].replace("v0=", "v1=")},
        {**right, "X-Slack-Request-Timestamp": "now"},
        {**right, "X-Slack-Request-Timestamp": str(int(time.time()) - 1)},
        {**right, "X-Slack-Request-Timestamp": f" {right['X-Slack-Request-Timestamp']}٣"},
    ]
    for headers in tries:
        plain = {name: value.encode("utf-8").decode("latin-1") for name, value in headers.items()}
        found = program.ask("POST", PATH, raw=body, headers=plain)
        assert (found.status, found.error) == (401, "bad-signature"), headers
    assert not waiting.done()
    deny(program, person, "forged")
    assert waiting.result(20).json["allowed"] is False


def test_a_replayed_interaction_is_refused(program: Gate, slack: StandIn, person: Person) -> None:
    waiting, message = asked(program, slack, "replayed")
    slack.views.clear()
    payload = slack.pressed(message, "assent_why")  # opens a dialog, and leaves the question open
    body = form(payload)
    headers = signature(body)
    assert program.ask("POST", PATH, raw=body, headers=headers).status == 200
    assert program.ask("POST", PATH, raw=body, headers=headers).status == 401
    slack.view()
    slack.views.clear()
    assert program.ask("POST", PATH, raw=body, headers=signature(body, at=time.time() - 1)).status == 200
    assert slack.views == []  # signed anew, and still the same press
    deny(program, person, "replayed")
    assert waiting.result(20).json["allowed"] is False


def test_who_is_not_listed_is_refused_however_well_it_is_signed(program: Gate, slack: StandIn, person: Person) -> None:
    waiting, message = asked(program, slack, "listed")
    assert send(program, slack.pressed(message, "assent_once", user=MALLORY)).status == 200
    until(lambda: [each for each in slack.whispers if each["user"] == MALLORY] or None, 10, "nobody was told")
    assert not waiting.done()
    deny(program, person, "listed")


def test_a_dialog_over_http_is_answered_in_the_response(program: Gate, slack: StandIn) -> None:
    waiting, message = asked(program, slack, "dialog")
    slack.views.clear()
    send(program, slack.pressed(message, "assent_edit"))
    view = slack.view()
    values = {"rule": {"value": "bash(*)"}, "scope": {"selected_option": {"value": "session"}}}
    assert send(program, slack.submitted(view, values)).json["response_action"] == "errors"
    values["rule"] = {"value": "bash(make dialog)"}
    assert send(program, slack.submitted(view, values)).json == {"response_action": "clear"}
    assert waiting.result(20).json["allowed"] is True


def test_nonsense_that_is_signed_breaks_nothing(program: Gate, slack: StandIn) -> None:
    for body in (
        b"",
        b"payload=",
        b"payload=[]",
        b"payload=%7B%7D",
        b"\xff\xfe",
        b"payload={}&payload={}",
        b"x" * 5000,
    ):
        found = program.ask("POST", PATH, raw=body, headers=signature(body))
        assert (found.status, found.raw) == (200, b""), body
    for payload in (
        {"type": "block_actions", "trigger_id": "t1", "user": [], "actions": 7},
        {"type": "view_submission", "trigger_id": "t2", "user": {"id": None}, "view": 3},
        {"type": "block_actions", "trigger_id": "t3", "team": "T", "actions": [[]]},
        {"type": ["x"], "trigger_id": {}},
    ):
        assert send(program, payload).status == 200
    long = {**signature(b""), "Content-Length": str(2 << 20)}
    assert program.ask("POST", PATH, raw=b"x", headers=long).status == 413


def test_the_signature_opens_that_path_alone(program: Gate) -> None:
    body = b"{}"
    for path in ("/v1/held", "/v1/mode", "/v1/codes", "/v1/grants", "/v1/offers"):
        headers = {**signature(body), "Content-Type": "application/json"}
        method = "GET" if path in ("/v1/held", "/v1/grants") else "POST"
        assert program.ask(method, path, raw=body, headers=headers).status == 401
    foreign = program.ask("GET", "/v1/held", headers={"Host": "gate.example.com"})
    assert foreign.error == "foreign-host"


def test_a_page_of_another_origin_is_refused_before_all_else(program: Gate) -> None:
    body = form({})
    found = program.ask("POST", PATH, raw=body, headers={**signature(body), "Origin": "https://evil.example"})
    assert found.error == "foreign-origin"
