"""Modes, offers, what anybody may send, and a machine without the extra."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from assent.server.api.endpoint import Endpoint
from assent.server.api.openapi import ENDPOINTS
from tests.examples import examples
from tests.server.program import Person, Program

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)
POSTS = [each for each in ENDPOINTS if each.method == "POST" and each.path != "/v1/session"]


def bodies(endpoint: Endpoint) -> st.SearchStrategy[dict[str, object]]:
    """Objects with some of the fields that an endpoint knows, of any kind."""
    names = list((endpoint.body or {}).get("properties", {})) or ["x"]
    return st.dictionaries(st.sampled_from(names) | st.text(max_size=5), JSON | st.just("bash"), max_size=6)


@examples(150, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_whatever_is_sent_the_answer_is_json_and_no_fault(
    program: Program, person: Person, data: st.DataObject
) -> None:
    endpoint = data.draw(st.sampled_from(POSTS))
    body = {**data.draw(bodies(endpoint)), "wait": 0}
    path = endpoint.path.replace("{id}", data.draw(st.sampled_from(["x", "%00", "..", "%2e%2e%2f", "%c3%a9", "%ff"])))
    raw = json.dumps(body, allow_nan=True).encode()
    found = program.ask("POST", path, raw=raw, headers=person.headers)
    assert found.status < 500, (endpoint.path, body, found.raw)
    if "json" in found.headers["content-type"]:
        assert isinstance(found.json, dict)


def test_a_mode_is_chosen_for_a_session_recorded_and_taken_back(program: Program, person: Person) -> None:
    assert program.call("mkdir a", session="m", wait=0).status == 202
    assert person.ask("POST", "/v1/mode", {"session": "m", "mode": "full_auto"}).status == 200
    assert program.call("mkdir b", session="m", wait=0).json["allowed"] is True
    assert program.call("mkdir b", session="other", wait=0).status == 202
    assert person.ask("POST", "/v1/mode", {"session": "m", "mode": "plan"}).status == 200
    assert program.call("mkdir b", session="m", wait=0).json["allowed"] is False
    assert person.ask("POST", "/v1/mode", {"session": "m", "mode": ""}).status == 200
    assert program.call("mkdir b", session="m", wait=0).status == 202
    modes = [
        each["mode"] for each in person.ask("GET", "/v1/audit?kind=mode&session=m").json["records"] if "mode" in each
    ]
    assert modes == ["plan", "full_auto"]
    for mode in ("yolo", "owned"):
        assert person.ask("POST", "/v1/mode", {"session": "m", "mode": mode}).status in (409, 422)


def test_after_three_denials_another_mode_is_offered_and_only_a_person_takes_it(
    program: Program, person: Person
) -> None:
    stream = http.client.HTTPConnection("127.0.0.1", program.port, timeout=20)
    stream.request("GET", "/v1/events", headers=person.headers)
    lines = stream.getresponse()
    for number in range(3):
        call = program.calling(f"make no-{number}", session="offers")
        person.answer(person.held_in("offers"), "deny")
        call.result(20)
    offer = told(lines, "offer")
    stream.close()
    assert offer["modes"] == ["plan", "full_auto"]
    assert program.call("make still", session="offers", wait=0).status == 202, "nothing was switched"
    assert program.ask("POST", "/v1/offers", {"id": offer["id"], "mode": "plan"}, unix=True).status == 403
    assert person.ask("POST", "/v1/offers", {"id": offer["id"], "mode": "plan"}).status == 200
    assert program.call("make now", session="offers", wait=0).json["decision"]["mode"] == "plan"
    assert person.ask("POST", "/v1/offers", {"id": offer["id"], "mode": "plan"}).status == 404


def listening(program: Program, person: Person) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
    stream = http.client.HTTPConnection("127.0.0.1", program.port, timeout=20)
    stream.request("GET", "/v1/events", headers=person.headers)
    return stream, stream.getresponse()


def told(lines: http.client.HTTPResponse, wanted: str) -> dict[str, Any]:
    """The next event of a name."""
    name = ""
    for line in lines:
        name = line[7:].strip().decode() if line.startswith(b"event: ") else name
        if name == wanted and line.startswith(b"data: "):
            found: dict[str, Any] = json.loads(line[6:])
            return found
    raise AssertionError(f"the stream ended before it told of {wanted}")


def test_an_offer_stays_open_for_pages_that_come_later_until_one_takes_it(program: Program, person: Person) -> None:
    """Nobody listens while it is made; a choice that is none leaves it open; once taken, every page is told."""
    for number in range(3):
        call = program.calling(f"make later-{number}", session="later")
        person.answer(person.held_in("later"), "deny")
        call.result(20)
    streams = [listening(program, person) for _ in range(2)]
    offers = [told(lines, "hello")["offers"] for _, lines in streams]
    assert offers[0] == offers[1]
    offer = next(each for each in offers[0] if each["session"] == "later")
    assert set(offer.pop("meant")) == {"plan", "full_auto"}
    assert offer.pop("rule_meant")
    assert offer == {
        "id": offer["id"],
        "runtime": "claude",
        "session": "later",
        "modes": ["plan", "full_auto"],
        "words": "you said no 3 times in a row, 3 times in this session",
        "rules": ["bash(make later-2)"],
    }
    assert "nothing was changed" in person.ask("POST", "/v1/offers", {"id": offer["id"], "mode": "yolo"}).json["words"]
    again, lines = listening(program, person)
    assert offer["id"] in [each["id"] for each in told(lines, "hello")["offers"]]
    again.close()
    assert person.ask("POST", "/v1/offers", {"id": offer["id"]}).json == {"words": "nothing was changed"}
    for stream, lines in streams:
        assert told(lines, "offer-ended") == {"id": offer["id"]}
        stream.close()
    again, lines = listening(program, person)
    assert offer["id"] not in [each["id"] for each in told(lines, "hello")["offers"]]
    again.close()


def test_an_approval_is_for_one_caller(program: Program, person: Person) -> None:
    first = program.call("make single", session="single", wait=0).json
    back = {"digest": first["digest"], "wait": 20}
    callers = [
        program.pool.submit(lambda: program.ask("POST", f"/v1/calls/{first['id']}", back, unix=True)) for _ in range(5)
    ]
    person.answer(person.held_in("single"))
    assert sum(each.result(30).json["allowed"] for each in callers) == 1


def test_a_signed_out_stream_ends(program: Program) -> None:
    person = program.sign_in()
    stream = http.client.HTTPConnection("127.0.0.1", program.port, timeout=20)
    stream.request("GET", "/v1/events", headers=person.headers)
    answer = stream.getresponse()
    answer.readline()
    person.ask("DELETE", "/v1/session")
    program.call("ls", session="after")
    rest = answer.read().decode()
    assert '"session":"after"' not in rest
    stream.close()


@pytest.mark.parametrize("missing", ["starlette", "uvicorn"])
def test_without_the_extra_serving_says_how_to_get_it(tmp_path: Path, missing: str) -> None:
    script = f"import sys; sys.modules[{missing!r}] = None; from assent.cli.main import main; sys.exit(main(['serve']))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install 'assent[server]'" in done.stderr


def test_the_simulator_knows_remembered_answers(program: Program, person: Person) -> None:
    waiting = program.calling("make simulated", session="sim")
    question = person.held_in("sim")
    assert person.answer(question, scope="project", rules=["bash(make simulated)"]).status == 200
    waiting.result(30)
    body = {"tool": "bash", "input": {"command": "make simulated"}, "project": str(program.project)}
    found = person.ask("POST", "/v1/simulate", body).json
    assert (found["outcome"], found["layers"][-1]["name"]) == ("allow", "grant")
    assert "without it a person would be asked" in found["layers"][-1]["words"]
    assert person.ask("POST", "/v1/simulate", {**body, "mode": "plan"}).json["outcome"] == "deny"
    (grant,) = (each for each in person.ask("GET", "/v1/grants").json["grants"] if "simulated" in str(each["rules"]))
    person.ask("DELETE", f"/v1/grants/{grant['id']}")
    assert person.ask("POST", "/v1/simulate", body).json["outcome"] == "ask"
