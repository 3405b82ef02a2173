"""The webhook, end to end: questions are posted signed, and only a signed, fresh, unused answer to them counts."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.program import Answer, Person
from tests.slack.conftest import Gate
from tests.slack.receiver import SECRET, Receiver, reply, signature
from tests.slack.standin import until

PATH = "/v1/webhook/answer"
FILED = f'webhook-secret = "{SECRET}"\n'


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    found = Receiver()
    yield found
    found.close()


@pytest.fixture(scope="module")
def program(receiver: Receiver, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    config = f'[webhook]\nurl = "{receiver.url}"\nusers = ["ann", "inline"]\n'
    found = Gate(tmp_path_factory.mktemp("gate"), config, secrets=FILED)
    yield found
    found.stop()


def send(program: Gate, body: bytes, headers: dict[str, str] | None = None) -> Answer:
    return program.ask("POST", PATH, raw=body, headers=signature("answer", body) if headers is None else headers)


def asked(program: Gate, receiver: Receiver, name: str) -> tuple[Any, dict[str, Any]]:
    waiting = program.calling(f"make {name}", session=name)
    return waiting, receiver.event("question", f"make {name}")


def test_a_signed_yes_lets_the_call_run_and_the_trail_names_who(program: Gate, receiver: Receiver) -> None:
    waiting, event = asked(program, receiver, "yes")
    assert event["preview"] == {"kind": "command", "path": "", "text": "make yes", "length": 8}
    assert event["effects"] == ["run make"]
    assert event["scopes"] == ["once", "15m", "session"]
    found = send(program, reply(event, "allow", who="ann"))
    assert (found.status, found.json["counted"]) == (200, True)
    assert waiting.result(20).json["allowed"] is True
    ended = program.records(kind="answer", session="yes")[0]
    assert (ended["who"], ended["channel"], ended["outcome"]) == ("ann", "webhook", "allow")
    told = receiver.event("ended", event["id"])
    assert (told["allowed"], told["who"], told["channel"]) == (True, "ann", "webhook")
    assert receiver.unsigned == 0


def test_a_signed_no_stops_it_and_its_message_reaches_the_agent(program: Gate, receiver: Receiver) -> None:
    waiting, event = asked(program, receiver, "no")
    assert send(program, reply(event, "deny", who="ann", message="not today")).status == 200
    told = waiting.result(20).json
    assert told["allowed"] is False
    assert "not today" in told["message"]


def test_an_answer_for_a_session_remembers_the_rules_that_it_names(program: Gate, receiver: Receiver) -> None:
    waiting, event = asked(program, receiver, "wide")
    rules = event["suggestions"][0]["rules"]
    assert send(program, reply(event, "allow", scope="session", rules=rules, who="ann")).status == 200
    assert waiting.result(20).json["allowed"] is True
    assert program.records(kind="grant", session="wide")[0]["rule"] == rules[0]
    assert program.call("make wide", session="wide").json["allowed"] is True


def test_the_response_itself_may_be_the_answer(program: Gate, receiver: Receiver) -> None:
    receiver.says = "allow"
    try:
        assert program.call("make inline", session="inline").json["allowed"] is True
    finally:
        receiver.says = ""
    assert program.records(kind="answer", session="inline")[0]["who"] == "inline"


def test_a_response_that_is_not_signed_by_us_both_is_no_answer(
    program: Gate, receiver: Receiver, person: Person
) -> None:
    receiver.says, receiver.forged = "allow", True
    try:
        waiting, _ = asked(program, receiver, "inline-forged")
    finally:
        receiver.says, receiver.forged = "", False
    time.sleep(0.3)
    assert not waiting.done()
    assert person.answer(person.held_in("inline-forged"), "deny").status == 200
    assert waiting.result(20).json["allowed"] is False


def test_forged_old_replayed_and_foreign_answers_decide_nothing(
    program: Gate, receiver: Receiver, person: Person
) -> None:
    waiting, event = asked(program, receiver, "attack")
    body = reply(event, "allow", who="ann")
    other = reply({**event, "nonce": "x"}, "allow", who="ann")
    tries: list[tuple[bytes, dict[str, str], int, str]] = [
        (body, {"Content-Type": "application/json"}, 401, "bad-signature"),
        (body, signature("answer", body, secret="g" * 32), 401, "bad-signature"),
        (body, signature("answer", body, secret=""), 401, "bad-signature"),
        (body, signature("event", body), 401, "bad-signature"),  # what we sign ourselves cannot be turned back
        (body, signature("answer", other), 401, "bad-signature"),
        (body, signature("answer", body, at=time.time() - 600), 401, "stale"),
        (body, signature("answer", body, at=time.time() + 600), 401, "stale"),
        (other, signature("answer", other), 409, "mismatch"),
    ]
    for change, status, code in (
        ({"digest": "0" * 64}, 409, "mismatch"),
        ({"id": "nobody"}, 404, "unknown"),
        ({"nonce": ""}, 409, "mismatch"),
    ):
        forged = reply({**event, **change}, "allow", who="ann")
        tries.append((forged, signature("answer", forged), status, code))
    for given, status, code in (
        ({"who": "mallory"}, 403, "not-listed"),
        ({"who": ""}, 403, "not-listed"),
        ({"scope": "everywhere", "who": "ann"}, 422, "bad-field"),
        ({"scope": "project", "who": "ann"}, 422, "bad-field"),
        ({"extra": 1, "who": "ann"}, 422, "bad-field"),
        ({"said": "maybe", "who": "ann"}, 422, "bad-field"),
        ({"rules": "bash(*)", "scope": "15m", "who": "ann"}, 422, "bad-field"),
    ):
        wrong = json.dumps({**json.loads(reply(event, "allow")), **given}).encode()
        tries.append((wrong, signature("answer", wrong), status, code))
    for raw, headers, status, code in tries:
        found = send(program, raw, headers)
        assert (found.status, found.error) == (status, code), (raw, headers)
    assert not waiting.done()
    deny = reply(event, "deny", who="ann")
    headers = signature("answer", deny)
    assert send(program, deny, headers).status == 200
    assert waiting.result(20).json["allowed"] is False
    assert send(program, deny, headers).error == "replayed"
    assert send(program, body).status == 404  # over
    refused = until(lambda: program.records(kind="event", channel="webhook") or None, 10, "nothing was recorded")
    assert "signature" in refused[0]["reason"]


def test_an_answer_counts_once_also_where_two_come_together(program: Gate, receiver: Receiver) -> None:
    waiting, event = asked(program, receiver, "both")
    yes, no = reply(event, "allow", who="ann"), reply(event, "deny", who="ann")
    found = [program.pool.submit(send, program, each) for each in (yes, no)]
    assert sorted(each.result(20).status for each in found) in ([200, 404], [200, 409])
    assert len(program.records(kind="answer", session="both")) == 1
    waiting.result(20)


def test_what_is_answered_on_the_page_is_told_to_the_webhook(program: Gate, receiver: Receiver, person: Person) -> None:
    waiting, event = asked(program, receiver, "page")
    assert person.answer(person.held_in("page")).status == 200
    assert waiting.result(20).json["allowed"] is True
    assert receiver.event("ended", event["id"])["channel"] == "web"


# ---------------------------------------------------------------- faults

Make = Callable[..., Gate]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[Gate] = []

    def gate(url: str, before: str = "", secrets: str = FILED) -> Gate:
        config = f'{before}\n[webhook]\nurl = "{url}"\n'
        made.append(Gate(tmp_path / str(len(made)), config, secrets=secrets))
        return made[-1]

    yield gate
    for each in made:
        each.stop()


@pytest.fixture
def faulty() -> Iterator[Receiver]:
    found = Receiver()
    yield found
    found.close()


def test_a_webhook_that_is_down_is_told_later_while_the_page_answers(make: Make, faulty: Receiver) -> None:
    program = make(faulty.url)
    person = program.sign_in()
    stream = program.watch(person)
    faulty.status = 500
    first = program.calling("make one", session="s1")
    assert person.answer(person.held_in("s1")).status == 200
    assert first.result(20).json["allowed"] is True
    second = program.calling("make two", session="s2")
    person.held_in("s2")
    program.elsewhere("webhook", "down")
    told = program.ask("GET", "/v1/status", unix=True).json["elsewhere"]["webhook"]
    assert told["why"] == "the webhook answers 500"
    faulty.status = 200
    event = faulty.event("question", "make two", seconds=30)
    assert send(program, reply(event, "allow", who="anybody")).status == 200
    assert second.result(20).json["allowed"] is True
    program.elsewhere("webhook", "up")
    stream.close()


def test_a_busy_webhook_is_left_alone_for_as_long_as_it_says(make: Make, faulty: Receiver) -> None:
    program = make(faulty.url)
    faulty.status, faulty.headers = 429, {"Retry-After": "4"}
    waiting = program.calling("make busy", session="s1")
    until(lambda: faulty.tries or None, 10, "it was not tried")
    time.sleep(1.2)
    assert faulty.tries == 1
    faulty.status, faulty.headers = 200, {}
    event = faulty.event("question", "make busy")
    assert send(program, reply(event, "deny", who="ann")).status == 200
    assert waiting.result(20).json["allowed"] is False


def test_a_redirect_is_not_followed_and_what_nobody_gets_is_denied(make: Make, faulty: Receiver) -> None:
    program = make(faulty.url, "[approval]\nunseen = 2")
    faulty.status, faulty.headers = 307, {"Location": faulty.url}
    told = program.call("make away", session="s1").json
    assert (told["allowed"], told["resolution"]["ending"]) == (False, "unseen")
    program.expect(re.compile(r"webhook: the webhook answers 307; redirects are not followed"))
    assert faulty.events == []


def test_a_webhook_that_hangs_holds_up_nobody(make: Make, faulty: Receiver) -> None:
    program = make(faulty.url)
    person = program.sign_in()
    stream = program.watch(person)
    faulty.delay = 20
    waiting = program.calling("make slow", session="s1")
    begun = time.monotonic()
    assert person.answer(person.held_in("s1")).status == 200
    assert waiting.result(20).json["allowed"] is True
    assert time.monotonic() - begun < 3
    faulty.delay = 0
    stream.close()


def test_a_secret_that_is_missing_or_short_is_said(make: Make, faulty: Receiver) -> None:
    program = make(faulty.url, secrets="")
    program.expect(re.compile(r"webhook: OFF: `webhook-secret` is missing"))
    assert send(program, b"{}", signature("answer", b"{}", secret="")).status == 401
    short = make(faulty.url, secrets='webhook-secret = "short"')
    short.expect(re.compile(r"webhook: OFF: `webhook-secret` is short"))
