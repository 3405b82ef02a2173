"""Calls that are held: waiting, coming back, being answered, going away, and servers that end or die."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from assent.trail.verify import verify
from tests.server.program import CODE, OverSocket, Person, Program

ASSENT = [sys.executable, "-m", "assent"]


def test_a_settled_call_is_answered_at_once_and_recorded(program: Program, person: Person) -> None:
    found = program.call("ls", session="settled").json
    assert (found["waiting"], found["allowed"], found["stop"], found["resolution"]) == (False, True, False, None)
    record = person.ask("GET", f"/v1/audit?id={found['id']}").json["records"][0]
    assert (record["kind"], record["outcome"], record["session"]) == ("decision", "allow", "settled")


def test_checking_records_nothing(program: Program, person: Person) -> None:
    before = len(person.ask("GET", "/v1/audit?limit=1000").json["records"])
    call = {"tool": "bash", "input": {"command": "git push"}, "cwd": str(program.project)}
    assert program.ask("POST", "/v1/check", call, unix=True).json["outcome"] == "ask"
    assert program.ask("POST", "/v1/check", {**call, "headless": True}, unix=True).json["outcome"] == "deny"
    assert len(person.ask("GET", "/v1/audit?limit=1000").json["records"]) == before


def test_an_ask_waits_for_a_person(program: Program, person: Person) -> None:
    call = program.calling("make one")
    question = person.held()[0]
    assert question["preview"]["text"] == "make one"
    answered = person.answer(question).json
    assert (answered["counted"], answered["allowed"], answered["ending"]) == (True, True, "answered")
    verdict = call.result(30).json
    assert (verdict["allowed"], verdict["resolution"]["answer"]["channel"]) == (True, "web")
    assert program.held_now() == 0


def test_after_the_wait_the_caller_comes_back_with_id_and_digest(program: Program, person: Person) -> None:
    first = program.call("make two", wait=0)
    assert first.status == 202
    id, digest = first.json["id"], first.json["digest"]
    again = program.ask("POST", f"/v1/calls/{id}", {"digest": digest, "wait": 0}, unix=True)
    assert (again.status, again.json) == (202, {"waiting": True, "id": id, "digest": digest})
    wrong = program.ask("POST", f"/v1/calls/{id}", {"digest": "0" * 64, "wait": 0}, unix=True)
    assert (wrong.status, wrong.error) == (403, "not-yours")
    person.answer(person.held()[0])
    last = program.ask("POST", f"/v1/calls/{id}", {"digest": digest, "wait": 10}, unix=True)
    assert (last.status, last.json["allowed"]) == (200, True)
    used = program.ask("POST", f"/v1/calls/{id}", {"digest": digest, "wait": 1}, unix=True)
    assert (used.status, used.json["allowed"]) == (200, False), "an approval is handed out once"


def test_an_unknown_call_is_denied(program: Program) -> None:
    found = program.ask("POST", "/v1/calls/nothing", {"digest": "0" * 64, "wait": 1}, unix=True)
    assert (found.status, found.json["allowed"]) == (200, False)


def test_a_call_that_is_taken_back_is_denied_and_gone(program: Program, person: Person) -> None:
    first = program.call("make three", wait=0).json
    wrong = program.ask("POST", f"/v1/calls/{first['id']}/withdraw", {"digest": "0"}, unix=True)
    assert wrong.error == "not-yours"
    program.ask("POST", f"/v1/calls/{first['id']}/withdraw", {"digest": first["digest"]}, unix=True)
    found = program.ask("POST", f"/v1/calls/{first['id']}", {"digest": first["digest"]}, unix=True).json
    assert (found["allowed"], found["resolution"]["ending"]) == (False, "cancelled")
    assert program.held_now() == 0


def test_the_first_answer_wins_and_a_late_one_changes_nothing(program: Program, person: Person) -> None:
    call = program.calling("make four")
    question = person.held()[0]
    assert person.answer(question, "deny", message="no").status == 200
    late = program.sign_in().answer(question, "allow")
    assert (late.status, late.error) == (409, "late")
    assert "your answer changed nothing" in late.json["error"]["message"]
    assert call.result(30).json["allowed"] is False


def test_an_answer_is_bound_to_what_was_shown(program: Program, person: Person) -> None:
    call = program.calling("make five")
    question = person.held()[0]
    other = person.answer({**question, "digest": "0" * 64})
    assert (other.status, other.error) == (409, "mismatch")
    assert person.answer({**question, "id": "0"}).status == 404
    assert not call.done()
    person.answer(question, "deny")
    assert call.result(30).json["allowed"] is False


@pytest.mark.parametrize(
    "body",
    [{"said": "maybe"}, {"said": "allow", "scope": "forever"}, {"said": "allow", "rules": "x"}, {"said": 1}, {}],
    ids=str,
)
def test_an_answer_that_is_none_is_refused_and_the_question_stays(
    program: Program, person: Person, body: dict[str, object]
) -> None:
    call = program.calling("make six")
    question = person.held()[0]
    found = person.ask("POST", f"/v1/held/{question['id']}/answer", {"digest": question["digest"], **body})
    assert (found.status, found.error) == (422, "bad-field")
    assert not call.done()
    person.answer(question, "deny")
    assert call.result(30).json["allowed"] is False


def test_a_rule_that_is_too_broad_is_not_saved(program: Program, person: Person) -> None:
    call = program.calling("make seven")
    question = person.held()[0]
    path = f"/v1/held/{question['id']}/reach"
    assert person.ask("POST", path, {"rules": ["bash(*)"], "scope": "project"}).json["refusal"]
    assert person.ask("POST", path, {"rules": ["not a rule ("], "scope": "project"}).json["refusal"]
    found = person.answer(question, "allow", scope="project", rules=["bash(*)"]).json
    assert found["allowed"] is True
    assert "could not be remembered" in found["note"]
    assert call.result(30).json["allowed"] is True
    assert person.ask("GET", "/v1/grants").json["grants"] == []


def test_a_grant_settles_what_waits_and_can_be_taken_back(program: Program, person: Person) -> None:
    calls = [program.calling("cargo doc", session="grants") for _ in range(3)]
    question = person.held(3)[0]
    person.answer(question, "allow", scope="session", rules=["bash(cargo doc)"])
    assert [call.result(30).json["allowed"] for call in calls] == [True] * 3
    grant = person.ask("GET", "/v1/grants").json["grants"][0]
    assert (grant["scope"], grant["rules"], grant["session"]) == ("session", ["bash(cargo doc)"], "grants")
    assert person.ask("DELETE", f"/v1/grants/{grant['id']}").status == 200
    assert person.ask("DELETE", f"/v1/grants/{grant['id']}").status == 404
    assert program.call("cargo doc", session="grants", wait=0).status == 202


def test_the_event_stream_tells_of_questions_and_their_ends(program: Program, person: Person) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", program.port, timeout=20)
    connection.request("GET", "/v1/events", headers=person.headers)
    stream = connection.getresponse()
    assert stream.headers["Content-Type"].startswith("text/event-stream")

    def events() -> Iterator[tuple[str, dict[str, object]]]:
        name = ""
        for line in stream:
            if line.startswith(b"event: "):
                name = line[7:].strip().decode()
            elif line.startswith(b"data: "):
                yield name, json.loads(line[6:])

    found = events()
    assert next(found)[0] == "hello"
    call = program.calling("make eight", session="events")
    held = next(data for name, data in found if name == "held" and data["call"]["session"] == "events")  # type: ignore[index]
    assert held["state"] == "shown"
    assert isinstance(held["deadline"], float)
    person.answer(held, "deny", message="not now")
    ended = next(data for name, data in found if name == "ended" and data["id"] == held["id"])
    assert (ended["allowed"], ended["ending"], ended["said"]) == (False, "answered", "deny")
    assert call.result(30).json["allowed"] is False
    connection.close()


def test_questions_that_nobody_can_see_are_given_up(tmp_path: Path) -> None:
    program = Program(tmp_path, config="[approval]\nunseen = 1\n")
    try:
        found = program.call("make nine").json
        assert (found["allowed"], found["resolution"]["ending"]) == (False, "unseen")
    finally:
        program.stop()


def test_a_caller_that_hangs_up_is_expected_back_for_a_while_only(tmp_path: Path) -> None:
    program = Program(tmp_path)
    try:
        person = program.sign_in()
        connection = OverSocket(program.socket)
        body = {"tool": "bash", "input": {"command": "make ten"}, "cwd": str(program.project), "wait": 60}
        connection.request("POST", "/v1/calls", json.dumps(body), {"Content-Type": "application/json"})
        question = person.held()[0]
        connection.close()
        time.sleep(1)
        assert person.held()[0]["id"] == question["id"]
        again = program.ask("POST", f"/v1/calls/{question['id']}", {"digest": question["digest"], "wait": 0}, unix=True)
        assert again.status == 202
    finally:
        program.stop()


def test_a_caller_that_hangs_up_while_its_call_is_held_leaves_no_traceback(tmp_path: Path) -> None:
    program = Program(tmp_path)
    try:
        person = program.sign_in()
        body: dict[str, object] = {"tool": "bash", "input": {"command": "make eleven"}, "cwd": str(program.project)}
        _hang_up(program, "/v1/calls", {**body, "wait": 60}, person)
        question = person.held()[0]
        _hang_up(program, f"/v1/calls/{question['id']}", {"digest": question["digest"], "wait": 60}, person)
        event = {"hook_event_name": "PreToolUse", "session_id": "h", "cwd": str(program.project), "tool_name": "Bash"}
        payload = json.dumps({**event, "tool_input": {"command": "make twelve"}})
        _hang_up(program, "/v1/hooks/claude", {"payload": payload, "project": str(program.project)}, person)
        program.seen = ""
        os.write(program.terminal, b"\n")
        program.expect(CODE)
        assert "Traceback" not in program.seen
        assert "Error" not in program.seen
    finally:
        program.stop()


def _hang_up(program: Program, path: str, body: object, person: Person) -> None:
    connection = OverSocket(program.socket)
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    person.held()
    time.sleep(0.2)
    connection.close()
    time.sleep(0.5)


# ---------------------------------------------------------------- policy files


def test_a_changed_policy_holds_for_the_next_call_and_a_broken_one_denies_everything(tmp_path: Path) -> None:
    program = Program(tmp_path)
    config = program.state / "config.toml"
    try:
        assert program.call("make x", wait=0).status == 202
        config.write_text('allow = ["bash(make x)"]\n')
        assert program.call("make x", wait=0).json["allowed"] is True
        config.write_text('allow = ["bash(make x)"\n')
        broken = program.call("ls").json
        assert (broken["allowed"], broken["decision"]["deciding"]["code"]) == (False, "policy.load")
        assert "config.toml" in broken["message"]
        config.write_text('deny = ["bash(make x)"]\n')
        assert program.call("make x", wait=0).json["allowed"] is False
        config.unlink()
        assert program.call("make x", wait=0).status == 202
        (program.project / ".assent.toml").write_text('deny = ["bash(make x)"]\n')
        assert program.call("make x", wait=0).json["allowed"] is False
    finally:
        program.stop()


# ---------------------------------------------------------------- ending


def test_a_graceful_stop_denies_what_waits_and_leaves_a_whole_trail(tmp_path: Path) -> None:
    program = Program(tmp_path)
    calls = [program.calling(f"make {n}", session=f"s{n}") for n in range(20)]
    while program.held_now() < 20:
        time.sleep(0.02)
    done = subprocess.run([*ASSENT, "stop"], env=program.environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "stopped\n")
    for call in calls:
        found = call.result(10).json
        assert (found["allowed"], found["resolution"]["ending"]) == (False, "closed")
    assert program.process.wait(10) == 0
    assert not Path(program.socket).exists()
    assert verify(str(program.state / "audit")).fault is None
    status = subprocess.run([*ASSENT, "status"], env=program.environ, capture_output=True, text=True, check=False)
    assert (status.returncode, status.stdout) == (1, "no server runs; start one with `assent serve`\n")
    program.stop()


def test_a_killed_server_lets_nothing_run_and_its_questions_can_be_come_back_for(tmp_path: Path) -> None:
    program = Program(tmp_path)
    person = program.sign_in()
    calls = [program.calling(f"make {n}", session=f"s{n}") for n in range(100)]
    held = {each["call"]["session"]: each for each in person.held(100)}
    assert len(held) == 100
    program.stop(signal.SIGKILL)
    for call in calls:
        with pytest.raises((OSError, http.client.HTTPException)):
            call.result(30)
    program.start()
    assert verify(str(program.state / "audit")).fault is None
    person = program.sign_in()
    question = held[next(iter(held))]
    back = program.pool.submit(
        lambda: program.ask(
            "POST", f"/v1/calls/{question['id']}", {"digest": question["digest"], "wait": 20}, unix=True
        )
    )
    again = next(each for each in person.held() if each["id"] == question["id"])
    assert again["digest"] == question["digest"]
    while person.answer(again).status == 409:
        time.sleep(0.05)
    assert back.result(30).json["allowed"] is True
    program.stop()
    assert verify(str(program.state / "audit")).fault is None


def test_one_server_for_each_state_folder(program: Program) -> None:
    again = subprocess.run(
        [*ASSENT, "serve", "--port", "0"], env=program.environ, capture_output=True, text=True, check=False
    )
    assert again.returncode == 2
    assert "a server runs already" in again.stderr
    assert program.ask("GET", "/healthz").status == 200


def test_a_foreign_file_in_the_place_of_the_socket_is_left_alone(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    place = state / "server.sock"
    place.write_text("mine")
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "ASSENT_HOME": str(state)}
    done = subprocess.run([*ASSENT, "serve", "--port", "0"], env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "move it, or give another" in done.stderr
    assert place.read_text() == "mine"


def test_a_socket_that_a_dead_server_left_is_replaced(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(state / "server.sock"))
    program = Program(tmp_path)
    assert program.call("ls").json["allowed"] is True
    program.stop()


def test_a_taken_port_says_what_to_do(program: Program, tmp_path: Path) -> None:
    environ = {**program.environ, "ASSENT_HOME": str(tmp_path)}
    command = [*ASSENT, "serve", "--port", str(program.port)]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "give another with --port" in done.stderr


def test_status_says_where_the_server_is(program: Program) -> None:
    done = subprocess.run([*ASSENT, "status"], env=program.environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert program.address in done.stdout
    assert program.socket in done.stdout


def test_without_a_terminal_no_code_is_printed(tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "ASSENT_HOME": str(tmp_path / "state")}
    server = subprocess.Popen([*ASSENT, "serve", "--port", "0"], env=environ, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        assert "assent listens on" in server.stdout.readline()
        second = server.stdout.readline()
        assert "assent sign-in" in second
        assert "the code  " not in second
    finally:
        server.terminate()
        rest, _ = server.communicate(timeout=20)
        assert rest == ""
