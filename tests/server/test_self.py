"""The server and what protects Assent itself: pauses are a person's, HTTP hooks are answered, settings stay wired."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from assent.agents.settings import load
from assent.agents.settings.entry import HookEntry
from assent.state import hosts, pause
from tests.server.program import Answer, Person, Program


def test_only_a_signed_in_person_pauses(program: Program, person: Person) -> None:
    assert program.ask("POST", "/v1/pause", {"seconds": 60}).status == 401
    assert program.ask("POST", "/v1/pause", {"seconds": 60}, unix=True).status == 403
    assert not pause.lasts(str(program.state))
    given = person.ask("POST", "/v1/pause", {"seconds": 60})
    assert (given.status, given.json["until"]) == (200, pytest.approx(pause.until(str(program.state)), abs=0.01))
    assert person.ask("POST", "/v1/pause", {"seconds": 1e6}).status == 422
    assert person.ask("POST", "/v1/pause", {"seconds": 0}).json == {"until": 0}
    assert not pause.lasts(str(program.state))


def http_hook(program: Program, command: str, session: str, event: str = "PreToolUse", **more: Any) -> Answer:
    body = {"hook_event_name": event, "session_id": session, "cwd": str(program.project), "tool_name": "Bash"}
    return ask(program, {**body, "tool_input": {"command": command}, **more})


def ask(program: Program, body: dict[str, Any], runtime: str = "claude", token: str = "") -> Answer:
    headers = {"Authorization": f"Bearer {token or program.token}"}
    return program.ask("POST", f"/hook/{runtime}", body, headers=headers)


def decided(answer: Answer) -> str:
    return str(answer.json["hookSpecificOutput"]["permissionDecision"])


def test_an_http_hook_is_answered_in_the_programs_own_form(program: Program) -> None:
    assert decided(http_hook(program, "ls", "h1")) == "allow"
    assert decided(http_hook(program, "rm -rf /", "h1")) == "deny"
    broken = ask(program, {"hook_event_name": "PreToolUse"})
    assert (broken.status, decided(broken), broken.json["decision"]) == (200, "deny", "block")
    assert ask(program, {}, "gemini").status == 404
    assert ask(program, {}, token="wrong").status == 401


def test_an_http_hook_knows_what_a_command_hook_told_of_its_session(program: Program, person: Person) -> None:
    start = {"hook_event_name": "SessionStart", "session_id": "h2", "cwd": str(program.project), "source": "startup"}
    environ = {
        **program.environ,
        "CLAUDE_PROJECT_DIR": str(program.project),
        "CLAUDE_CODE_SESSION_ATTENDED": "0",
    }
    words = [sys.executable, "-m", "assent", "hook", "claude", "--home", str(program.state)]
    subprocess.run(words, input=json.dumps(start).encode(), env=environ, check=True, capture_output=True)
    waiting = program.pool.submit(http_hook, program, "touch made-over-http", "h2")
    person.answer(person.held_in("h2"))
    assert decided(waiting.result(timeout=30)) == "allow"


def test_a_change_of_settings_that_takes_the_hook_away_is_blocked_unless_paused(
    program: Program, person: Person
) -> None:
    settings = program.state.parent / "settings.json"
    entry = HookEntry(("/x/assent", "hook", "claude"), 60)
    settings.write_text(load("claude").install('{"model": "x"}', entry))
    hosts.register(str(program.state), hosts.Host("claude", "user", str(settings)))

    def changed(path: str) -> tuple[int, dict[str, Any]]:
        event = {"hook_event_name": "ConfigChange", "session_id": "h3", "cwd": "/", "source": "user_settings"}
        words = [sys.executable, "-m", "assent", "hook", "claude", "--home", str(program.state)]
        text = json.dumps({**event, "file_path": path}).encode()
        done = subprocess.run(words, input=text, env=program.environ, capture_output=True)
        return done.returncode, json.loads(done.stdout)

    assert changed(str(settings)) == (0, {})
    wired = settings.read_text()
    settings.write_text(wired.replace('"model": "x"', '"model": "y", "disableAllHooks": true'))
    assert changed(str(settings))[1]["decision"] == "block"
    settings.write_text('{"model": "x"}')
    assert "no longer calls Assent" in changed(str(settings))[1]["reason"]
    assert person.ask("POST", "/v1/pause", {"seconds": 60}).status == 200
    assert changed(str(settings)) == (0, {})
    person.ask("POST", "/v1/pause", {"seconds": 0})
    os.unlink(settings)
    assert "is gone" in changed(str(settings))[1]["reason"]
    other = program.state.parent / "project-settings.json"
    other.write_text("{}")
    assert changed(str(other)) == (0, {})
    other.write_text('{"disableAllHooks": true}')
    assert changed(str(other))[1]["decision"] == "block"


def test_folders_that_switch_a_hook_off_are_told_to_a_person(program: Program, person: Person) -> None:
    assert program.ask("GET", "/v1/unguarded").status == 401
    hosts.register(str(program.state), hosts.Host("claude", "user", str(program.state.parent / "user.json")))
    assert person.ask("GET", "/v1/unguarded").json == {"folders": []}
    settings = program.project / ".claude/settings.json"
    settings.parent.mkdir()
    settings.write_text('{"disableAllHooks": true}')
    [found] = person.ask("GET", "/v1/unguarded").json["folders"]
    assert (found["runtime"], found["file"]) == ("claude", str(settings))
    assert "disableAllHooks" in found["what"]
