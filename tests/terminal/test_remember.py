"""Yeses in an agent program's own dialog become rules that a person ticks at a real terminal."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.terminal.tmux import Terminal

ASSENT = Path(sys.executable).parent / "assent"


class Session:
    """A Claude Code session whose dialog a person answers."""

    def __init__(self, folder: Path) -> None:
        self.project, self.state = folder / "project", folder / "state"
        self.project.mkdir()
        self.environ = {"HOME": str(folder), "PATH": "/usr/bin:/bin", "ASSENT_HOME": str(self.state)}

    def send(self, event: str, command: str) -> str:
        call = {"tool_name": "Bash", "tool_input": {"command": command}}
        common = {"session_id": "s1", "cwd": str(self.project), "hook_event_name": event}
        told = {"CLAUDE_PROJECT_DIR": str(self.project), "CLAUDE_CODE_SESSION_ATTENDED": "1"}
        done = subprocess.run(
            [ASSENT, "hook", "claude", "--home", self.state],
            input=json.dumps({**common, **call}).encode(),
            capture_output=True,
            env={**self.environ, **told},
            check=True,
        )
        return str(json.loads(done.stdout).get("hookSpecificOutput", {}).get("permissionDecision", ""))

    def yes(self, command: str) -> None:
        """The hook asks, the dialog says yes, the program runs it."""
        assert self.send("PreToolUse", command) == "ask"
        self.send("PostToolUse", command)

    def listed(self) -> str:
        done = subprocess.run(
            [ASSENT, "remember", "--list"], capture_output=True, text=True, env=self.environ, cwd=self.project
        )
        return done.stdout


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path)


@pytest.fixture
def terminal(session: Session) -> Iterator[Terminal]:
    found = Terminal(str(session.project), session.environ, columns=140)
    yield found
    found.close()


def test_what_was_answered_with_yes_is_proposed_and_a_ticked_rule_holds(session: Session, terminal: Terminal) -> None:
    session.yes("frob build --all")
    session.yes("frob build --all")
    assert session.send("PreToolUse", "frob deploy") == "ask"  # nobody said yes to this one
    terminal.type(f"{ASSENT} remember; echo status=$?")
    terminal.press("Enter")
    screen = terminal.wait_for("nothing for none>")
    assert "  1  bash(frob build --all)" in screen
    assert "allowed 2 times, as for `frob build --all`" in screen
    terminal.type("1")
    terminal.press("Enter")
    terminal.wait_for("status=0")
    assert session.send("PreToolUse", "frob build --all") == "allow"
    assert session.send("PreToolUse", "frob deploy") == "ask"
    assert session.listed() == "nothing that you allowed in a dialog can be saved as a rule\n"
    lines = (session.state / "audit/permissions.jsonl").read_text().splitlines()
    assert [each["channel"] for each in map(json.loads, lines) if each["kind"] == "grant"] == ["terminal"]


def test_without_a_terminal_it_only_lists(session: Session) -> None:
    session.yes("frob build --all")
    assert "bash(frob build --all)" in session.listed()
    assert not (session.state / "grants.json").exists()


def test_a_question_that_nobody_answered_is_not_proposed(session: Session) -> None:
    assert session.send("PreToolUse", "frob build --all") == "ask"
    assert session.listed() == "nothing that you allowed in a dialog can be saved as a rule\n"


def test_a_call_that_the_trail_does_not_hold_whole_is_not_proposed(session: Session) -> None:
    session.yes("frob login --token ghp_" + "a1B2" * 9)
    assert session.listed() == "nothing that you allowed in a dialog can be saved as a rule\n"
