"""The hook of an agent program with a running server: it waits for a person, races the program's dialog, comes back."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from tests.server.impatient import BRIEF
from tests.server.program import Person, Program


class Claude:
    """A session of Claude Code: its hooks are processes, as the program would start them."""

    def __init__(self, program: Program, *, attended: bool, session: str) -> None:
        self.program = program
        self.session = session
        self.environ = {
            **program.environ,
            "CLAUDE_PROJECT_DIR": str(program.project),
            "CLAUDE_CODE_SESSION_ATTENDED": "1" if attended else "0",
        }

    def send(self, event: str, command: str = "", **options: Any) -> subprocess.CompletedProcess[bytes]:
        call = {"tool_name": "Bash", "tool_input": {"command": command}} if command else {}
        payload = {"session_id": self.session, "cwd": str(self.program.project), "hook_event_name": event, **call}
        words = [sys.executable, "-m", "assent", "hook", "claude", "--home", str(self.program.state)]
        words += [f"--{key}={value}" for key, value in options.items()]
        text = json.dumps(payload).encode()
        return subprocess.run(words, input=text, capture_output=True, env=self.environ, timeout=120)

    def sending(self, event: str, command: str, **options: Any) -> Future[subprocess.CompletedProcess[bytes]]:
        return self.program.pool.submit(lambda: self.send(event, command, **options))


def decision(done: subprocess.CompletedProcess[bytes]) -> str:
    said = json.loads(done.stdout)["hookSpecificOutput"]
    return str(said.get("permissionDecision") or said["decision"]["behavior"])


def answers(program: Program) -> list[tuple[str, str, str]]:
    lines = (program.state / "audit" / "permissions.jsonl").read_text().splitlines()
    found = [json.loads(line) for line in lines]
    return [(each["outcome"], each["code"], each.get("channel", "")) for each in found if each["kind"] == "answer"]


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Program]:
    found = Program(tmp_path)
    yield found
    found.stop()


@pytest.fixture
def impatient(tmp_path: Path) -> Iterator[Program]:
    """A server that tells a waiting hook to come back after `BRIEF` seconds; the test ends it."""
    found = Program(tmp_path, impatient=True)
    yield found
    found.stop()


def test_a_settled_call_is_answered_by_the_server(program: Program) -> None:
    claude = Claude(program, attended=True, session="h1")
    assert [decision(claude.send("PreToolUse", each)) for each in ("git status", "rm -rf /")] == ["allow", "deny"]


@pytest.mark.parametrize(("said", "expected"), [("allow", "allow"), ("deny", "deny"), ("stop", "deny")])
def test_where_nobody_attends_the_hook_waits_for_the_page(
    program: Program, person: Person, said: str, expected: str
) -> None:
    claude = Claude(program, attended=False, session=f"h2-{said}")
    waiting = claude.sending("PreToolUse", f"make {said}")
    assert person.answer(person.held()[0], said, message="use ci").status == 200
    done = waiting.result(60)
    assert decision(done) == expected
    assert (b"use ci" in done.stdout) == (said != "allow")
    assert json.loads(done.stdout).get("continue", True) is (said != "stop")


def test_the_page_and_the_programs_dialog_race_and_the_page_is_first(fresh: Program) -> None:
    person = fresh.sign_in()
    claude = Claude(fresh, attended=True, session="h3")
    assert decision(claude.send("PreToolUse", "make race")) == "ask"
    dialog = claude.sending("PermissionRequest", "make race")
    question = person.held()[0]
    person.answer(question)
    assert decision(dialog.result(60)) == "allow"
    claude.send("PostToolUse", "make race")
    assert answers(fresh) == [("allow", "answer.answered", "web")]


def test_the_page_and_the_programs_dialog_race_and_the_dialog_is_first(fresh: Program) -> None:
    person = fresh.sign_in()
    claude = Claude(fresh, attended=True, session="h4")
    claude.send("PreToolUse", "make race")
    dialog = claude.sending("PermissionRequest", "make race")
    person.held()
    claude.send("PostToolUse", "make race")
    assert json.loads(dialog.result(60).stdout) == {}
    assert fresh.held_now() == 0
    assert answers(fresh) == [("allow", "answer.answered", "dialog")]
    assert fresh.records(kind="answer")[0]["who"] == fresh.records(kind="event")[0]["who"] != ""  # that of the sign-in


def test_a_session_that_goes_on_withdraws_what_its_dialog_asked(fresh: Program) -> None:
    person = fresh.sign_in()
    claude = Claude(fresh, attended=True, session="h5")
    claude.send("PreToolUse", "make race")
    dialog = claude.sending("PermissionRequest", "make race")
    person.held()
    claude.send("Stop")
    assert json.loads(dialog.result(60).stdout) == {}
    assert answers(fresh) == [("deny", "answer.unanswered", "")]


def test_a_question_that_ran_out_on_the_page_ends_where_the_dialog_is_answered(tmp_path: Path) -> None:
    program = Program(tmp_path, config="[approval]\ntimeout = 1\nunseen = 1\n")
    try:
        program.sign_in().offers()
        claude = Claude(program, attended=True, session="h4b")
        claude.send("PreToolUse", "make late")
        assert json.loads(claude.send("PermissionRequest", "make late").stdout) == {}  # the dialog stays
        assert answers(program) == []
        claude.send("PostToolUse", "make late")
        assert answers(program) == [("allow", "answer.answered", "dialog")]
    finally:
        program.stop()


def test_a_question_that_nobody_sees_ends_where_the_programs_dialog_is_answered(tmp_path: Path) -> None:
    program = Program(tmp_path, config='[approval]\nroute = "broker"\nunseen = 1\n')
    try:
        claude = Claude(program, attended=True, session="h4c")
        assert decision(claude.send("PreToolUse", "make unseen")) == "ask"
        assert answers(program) == []
        claude.send("PostToolUse", "make unseen")
        assert answers(program) == [("allow", "answer.answered", "dialog")]
        other = Claude(program, attended=False, session="h4d")
        assert decision(other.send("PreToolUse", "make unseen")) == "deny"
        assert answers(program)[1:] == [("deny", "answer.unseen", "")]
        assert program.records(kind="answer")[1]["timed_out"] is True  # it waited its second
    finally:
        program.stop()


def test_noes_in_the_programs_dialog_make_an_offer_with_and_without_a_server(fresh: Program) -> None:
    claude = Claude(fresh, attended=True, session="h4e")
    for number in range(2):
        claude.send("PreToolUse", f"make no{number}")
        claude.send("UserPromptSubmit")
    fresh.stop()
    claude.send("PreToolUse", "make no3")
    claude.send("UserPromptSubmit")
    (offer,) = fresh.records(kind="offer")
    assert (offer["session"], offer["row"], offer["modes"]) == ("h4e", 3, ["plan", "full_auto"])
    asked = claude.send("PreToolUse", "make no4")
    assert decision(asked) == "ask"
    assert "no 3 times in a row" in json.loads(asked.stdout)["hookSpecificOutput"]["permissionDecisionReason"]
    told = subprocess.run(
        [sys.executable, "-m", "assent", "remember", "--list"], capture_output=True, text=True, env=fresh.environ
    )
    assert "session h4e: you said no 3 times in a row" in told.stdout
    fresh.start()
    assert [each["session"] for each in fresh.sign_in().offers()] == ["h4e"]


def test_a_hook_survives_a_killed_server_and_gets_its_answer_from_the_next(impatient: Program) -> None:
    person = impatient.sign_in()
    waiting = Claude(impatient, attended=False, session="h6").sending("PreToolUse", "make again")
    person.held()
    time.sleep(BRIEF + 1)  # the hook has been told its id and digest by then
    impatient.stop(signal.SIGKILL)
    impatient.start()
    person = impatient.sign_in()
    until = time.monotonic() + 30  # the hook may not be back yet: an answer does not count before that
    while not person.answer(person.held()[0]).json.get("counted") and time.monotonic() < until:
        time.sleep(0.2)
    assert decision(waiting.result(60)) == "allow"


def test_a_server_that_stays_away_ends_in_a_block(impatient: Program) -> None:
    claude = Claude(impatient, attended=False, session="h7")
    person = impatient.sign_in()
    waiting = claude.sending("PreToolUse", "make never", deadline=10)
    person.held()
    time.sleep(BRIEF + 1)
    impatient.stop(signal.SIGKILL)
    done = waiting.result(60)
    impatient.start()
    assert (done.returncode, done.stdout) == (2, b"")


def test_without_a_server_the_hook_decides_by_itself(fresh: Program) -> None:
    fresh.stop()
    claude = Claude(fresh, attended=True, session="h8")
    assert [decision(claude.send("PreToolUse", each)) for each in ("ls", "make x")] == ["allow", "ask"]
    assert decision(Claude(fresh, attended=False, session="h9").send("PreToolUse", "make x")) == "deny"
    fresh.start()


def test_somebody_elses_socket_is_not_believed(tmp_path: Path) -> None:
    """A server that says allow to everything, at the place of ours but by another user."""
    if os.geteuid() != 0:
        pytest.skip("needs root to be another user")
    state = tmp_path / "state"
    state.mkdir()
    for folder in (state, *state.parents[:-2]):
        if not folder.stat().st_mode & 0o001:
            os.chmod(folder, 0o755)
    os.chmod(state, 0o777)
    body = "done 0 3 0\\nyes"
    place = str(state / "server.sock")
    script = (
        f"import os, socket; os.setuid(65534); s = socket.socket(socket.AF_UNIX); s.bind({place!r}); "
        f"os.chmod({place!r}, 0o777); s.listen(); print('up', flush=True); c, _ = s.accept(); "
        f"c.recv(9999); c.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 14\\r\\n\\r\\n{body}'); c.close()"
    )
    fake = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    try:
        assert fake.stdout is not None
        assert fake.stdout.readline() == b"up\n"
        payload = {"session_id": "x", "cwd": "/w", "hook_event_name": "PreToolUse"}
        payload |= {"tool_name": "Bash", "tool_input": {"command": "make x"}}  # type: ignore[dict-item]
        done = subprocess.run(
            [sys.executable, "-m", "assent", "hook", "claude", "--home", str(state)],
            input=json.dumps(payload).encode(),
            capture_output=True,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "CLAUDE_CODE_SESSION_ATTENDED": "0"},
        )
        assert b"yes" not in done.stdout
        assert decision(done) == "deny"
    finally:
        fake.kill()
        fake.wait()


def test_where_questions_go_to_a_dialog_that_nobody_sees_they_are_denials(tmp_path: Path) -> None:
    found = Program(tmp_path, config='[approval]\nroute = "runtime"\n')
    try:
        attended = [Claude(found, attended=each, session=f"h10-{each}") for each in (True, False)]
        assert [decision(each.send("PreToolUse", "make x")) for each in attended] == ["ask", "deny"]
    finally:
        found.stop()


def test_a_hook_whose_program_has_ended_waits_no_longer(fresh: Program) -> None:
    """Its question is withdrawn by that, a moment later."""
    person, claude = fresh.sign_in(), Claude(fresh, attended=False, session="h11")
    words = f"{sys.executable} -m assent hook claude --home {fresh.state}; true"
    payload = {"session_id": "h11", "cwd": str(fresh.project), "hook_event_name": "PreToolUse"}
    call = {"tool_name": "Bash", "tool_input": {"command": "make orphan"}}
    shell = subprocess.Popen(
        ["/bin/sh", "-c", words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=claude.environ
    )
    assert shell.stdin is not None
    assert shell.stdout is not None
    shell.stdin.write(json.dumps({**payload, **call}).encode())
    shell.stdin.close()
    person.held()
    shell.kill()
    assert shell.stdout.read() == b""  # ends when the last process that could write to it has
    shell.wait()
