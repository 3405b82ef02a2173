"""What changes while a question waits, and requests that can be read in two ways."""

from __future__ import annotations

import fcntl
import json
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from tests.server.program import Person, Program


def test_a_policy_that_breaks_while_a_question_waits_lets_nothing_run_whatever_is_answered(
    program: Program, person: Person
) -> None:
    """The question stays, its rule cannot be judged, a yes is overruled with the error; once corrected, all is well."""
    config = program.state / "config.toml"
    before = config.read_text() if config.exists() else ""
    call = program.calling("make fragile", session="fragile")
    question = person.held_in("fragile")
    try:
        config.write_text("mode = ")
        reach = person.ask("POST", f"/v1/held/{question['id']}/reach", {"rules": ["bash(make fragile)"]})
        assert (reach.status, reach.json["covers"]) == (200, False)
        said = person.answer(question, scope="session", rules=["bash(make fragile)"]).json
        assert (said["counted"], said["allowed"], said["ending"]) == (True, False, "overruled")
        assert "config.toml" in said["reason"]
        assert call.result(20).json["allowed"] is False
        assert person.ask("GET", "/v1/grants").json["grants"] == []
    finally:
        config.write_text(before)
    again = program.calling("make fragile", session="fragile")
    assert person.answer(person.held_in("fragile")).json["allowed"] is True
    assert again.result(20).json["allowed"] is True


def test_who_writes_to_the_trail_for_long_keeps_nobody_else_waiting_and_every_call_is_recorded_once(
    program: Program, person: Person
) -> None:
    program.calling("ls", session="slow-trail").result(20)
    with open(program.state / "audit" / "lock") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        calls = [program.calling(f"ls {number}", session="slow-trail") for number in range(3)]
        assert person.ask("GET", "/v1/held").status == 200
        assert program.ask("GET", "/healthz").json == {"ok": True}
        assert not any(call.done() for call in calls)
        fcntl.flock(held, fcntl.LOCK_UN)
    assert [call.result(20).json["allowed"] for call in calls] == [True] * 3
    lines = [json.loads(each) for each in (program.state / "audit" / "permissions.jsonl").read_text().splitlines()]
    told = [each["input"]["command"] for each in lines if each.get("session") == "slow-trail"]
    assert sorted(told) == ["ls", "ls 0", "ls 1", "ls 2"]


def test_of_many_answers_at_the_same_moment_one_counts_and_the_call_runs_once(program: Program, person: Person) -> None:
    others = [person, program.sign_in()]
    for number in range(5):
        call = program.calling(f"make race-{number}", session="race")
        question = person.held_in("race")
        with ThreadPoolExecutor(12) as pool:
            said = [(who, word) for word in ("allow", "deny", "stop") * 2 for who in others]
            told = [each.result() for each in [pool.submit(who.answer, question, word) for who, word in said]]
        counted = [each for each in told if each.status == 200]
        assert [each.status for each in told if each.status != 200] == [409] * 11
        assert len(counted) == 1
        assert call.result(20).json["allowed"] is counted[0].json["allowed"]


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n",
        b"Content-Length: 2\r\nContent-Length: 60\r\n",
        b"Transfer-Encoding: xchunked\r\n",
        b"Transfer-Encoding : chunked\r\n",
        b"Content-Length: +2\r\n",
        b"Content-Length: 2\r\n X: folded\r\n",
    ],
)
def test_a_request_whose_end_can_be_read_in_two_ways_is_not_followed_by_another(program: Program, head: bytes) -> None:
    """Behind a proxy, what one of them takes for a body would be a request of somebody else for the other."""
    first = b"POST /v1/session HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\n" % program.port
    hidden = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % program.port
    answers = b""
    with socket.create_connection(("127.0.0.1", program.port)) as line:
        line.settimeout(3)
        with suppress(OSError):
            line.sendall(first + head + b"\r\n0\r\n\r\n" + hidden)
            while chunk := line.recv(65536):
                answers += chunk
    assert b'"ok":true' not in answers
    assert program.ask("GET", "/healthz").json == {"ok": True}
