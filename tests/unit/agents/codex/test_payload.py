"""Codex: the asking program is used only if Codex is sure to ask before it."""

from __future__ import annotations

import json

import pytest

from assent.agents import load
from assent.contract import Outcome, Reply

PAYLOAD = {
    "hook_event_name": "PreToolUse",
    "session_id": "s",
    "cwd": "/w",
    "tool_name": "Bash",
    "tool_input": {"command": "make x"},
}


@pytest.mark.parametrize(
    ("folder", "decision"),
    [("", "allow"), ("/home/me/.codex", "allow"), ("/home/me/.codex/", "allow"), ("/elsewhere", "deny")],
)
def test_with_its_settings_elsewhere_codex_does_not_know_the_rule_that_asks(folder: str, decision: str) -> None:
    codex = load("codex")
    event = codex.parse(PAYLOAD, environ={"CODEX_HOME": folder}, home="/home/me")
    done = codex.render(event, Reply(Outcome.ASK, "why", through="/home/me/.assent/bin/assent-ask"))
    said = json.loads(done.stdout)["hookSpecificOutput"]
    assert said["permissionDecision"] == decision
    assert ("updatedInput" in said) == (decision == "allow")
