"""Long calls on the page and in the inbox: all of it is sent before it can be allowed."""

from __future__ import annotations

import pytest

from tests.server.program import Person, Program

TAIL = "# the tail that would hide"


def write(program: Program, session: str, size: int) -> dict[str, object]:
    """The question about a file of so many characters, once it waits."""
    content = "x = 1\n" * (size // 6) + TAIL
    body = {"tool": "write", "input": {"file_path": str(program.project / "long.py"), "content": content}}
    more = {"cwd": str(program.project), "project": str(program.project), "session": session, "wait": 0.1}
    answer = program.ask("POST", "/v1/calls", {**body, **more}, unix=True)
    assert answer.status == 202, answer.raw
    return answer.json


def test_a_long_write_is_allowed_once_all_of_it_was_sent(program: Program, person: Person) -> None:
    waiting = write(program, "whole-1", 215_000)
    question = person.held_in("whole-1")
    assert TAIL not in question["preview"]["text"]
    refused = person.answer(question)
    assert (refused.status, refused.error) == (409, "not-whole")
    assert "not all of this call is shown here" in refused.json["error"]["message"]
    for scope in ("15m", "session", "everywhere"):
        assert person.answer(question, scope=scope).status == 409
    text, start = question["preview"]["text"], question["preview"]["sent"]
    while start:
        assert person.answer(question).status == 409
        piece = person.ask("GET", f"/v1/held/{question['id']}/preview?from={start}").json
        text, start = text + piece["text"], piece["next"]
    assert text.endswith(TAIL)
    assert person.answer(question).json["allowed"] is True
    verdict = program.ask("POST", f"/v1/calls/{waiting['id']}", {"digest": waiting["digest"]}, unix=True)
    assert verdict.json["allowed"] is True


def test_a_part_that_was_skipped_or_sent_to_somebody_else_does_not_count(program: Program, person: Person) -> None:
    write(program, "whole-2", 350_000)
    question = person.held_in("whole-2")
    place = f"/v1/held/{question['id']}/preview"
    last = question["preview"]["length"] - 10
    assert person.ask("GET", f"{place}?from={last}").status == 200
    assert person.answer(question).error == "not-whole"
    other = program.sign_in()
    for start in range(100_000, question["preview"]["length"], 100_000):
        assert other.ask("GET", f"{place}?from={start}").status == 200
    assert person.answer(question).error == "not-whole"
    assert other.answer(question).json["allowed"] is True


def test_a_long_write_can_be_denied_at_once(program: Program, person: Person) -> None:
    write(program, "whole-3", 215_000)
    assert person.answer(person.held_in("whole-3"), "deny").json["allowed"] is False


def test_what_is_too_long_for_any_place_is_never_allowed(program: Program, person: Person) -> None:
    write(program, "whole-4", 4_200_000)
    question = person.held_in("whole-4")
    start = question["preview"]["sent"]
    while start:
        start = person.ask("GET", f"/v1/held/{question['id']}/preview?from={start}").json["next"]
    refused = person.answer(question)
    assert refused.error == "not-whole"
    assert "smaller parts" in refused.json["error"]["message"]
    assert person.answer(question, "deny").status == 200


@pytest.mark.parametrize("start", ["-1", "x", "1e99", "99999999"])
def test_nonsense_is_no_part(program: Program, person: Person, start: str) -> None:
    write(program, f"whole-5{start}", 20)
    question = person.held_in(f"whole-5{start}")
    assert person.ask("GET", f"/v1/held/{question['id']}/preview?from={start}").status == 422
    person.answer(question, "deny")
