"""A dismissed question is denied, which is no answer; nothing else changes."""

from __future__ import annotations

from tests.server.program import Person, Program


def put_away(person: Person, question: dict[str, object], digest: object = None) -> tuple[int, dict[str, object]]:
    body = {"digest": digest or question["digest"]}
    found = person.ask("POST", f"/v1/held/{question['id']}/dismiss", body)
    return found.status, found.json


def test_what_is_put_away_is_denied_and_only_that(program: Program, person: Person) -> None:
    asked, other = program.calling("make this", session="one"), program.calling("make that", session="two")
    held = {each["call"]["input"]["command"]: each for each in person.held(2)}
    assert put_away(person, held["make this"]) == (200, {"dismissed": True})
    denied = asked.result(30).json
    assert (denied["allowed"], denied["resolution"]["ending"], denied["resolution"]["answer"]) == (
        False,
        "dismissed",
        None,
    )
    assert [each["id"] for each in person.held()] == [held["make that"]["id"]]
    assert person.answer(held["make that"], "allow").status == 200
    assert other.result(30).json["allowed"] is True


def test_what_is_put_away_is_no_denial_that_would_lead_to_an_offer(program: Program, person: Person) -> None:
    for number in range(3):
        asked = program.calling(f"make {number}", session="away")
        put_away(person, person.held()[0])
        assert "said no" not in asked.result(30).json["message"]
    assert "offer" not in kinds(person)
    for number in range(3):
        asked = program.calling(f"make {number}", session="away")
        person.answer(person.held()[0], "deny")
        asked.result(30)
    assert "offer" in kinds(person)


def kinds(person: Person) -> set[str]:
    return {str(each["kind"]) for each in person.ask("GET", "/v1/audit").json["records"]}


def test_another_digest_and_what_has_ended_put_nothing_away(program: Program, person: Person) -> None:
    asked = program.calling("make this", session="one")
    question = person.held()[0]
    status, told = put_away(person, question, "0" * 64)
    assert (status, told["error"]) == (
        409,
        {"code": "mismatch", "message": "this is the digest of another question; nothing was dismissed"},
    )
    assert program.held_now() == 1
    person.answer(question, "deny")
    asked.result(30)
    assert put_away(person, question)[0] == 404


def test_callers_may_put_nothing_away(program: Program, person: Person) -> None:
    asked = program.calling("make this", session="one")
    question = person.held()[0]
    refused = program.ask("POST", f"/v1/held/{question['id']}/dismiss", {"digest": question["digest"]}, unix=True)
    assert (refused.status, refused.error, program.held_now()) == (403, "not-allowed", 1)
    person.answer(question, "deny")
    asked.result(30)
