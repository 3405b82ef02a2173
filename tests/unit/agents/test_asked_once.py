"""What adapters make of tools with joined names, and of asks that a model may read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assent import agents
from assent.agents.adapter import ATTENDED
from assent.agents.copilot.payload import tool_of
from assent.contract import Outcome, Reply
from assent.facts import servers

PERSON = Reply(Outcome.ASK, "ASK\n  why  x\n  flip   set `mode`", message="This call waits for a person's assent.")
QWEN = {"hook_event_name": "PreToolUse", "tool_name": "run_shell_command", "tool_input": {"command": "make"}}
COPILOT = {"sessionId": "s", "toolName": "bash", "toolArgs": {"command": "make"}, "cwd": "/w"}
GEMINI = {**QWEN, "hook_event_name": "BeforeTool"}


@pytest.mark.parametrize(
    ("name", "known", "wanted"),
    [
        ("bash", [], "bash"),
        ("notes-add", [], "mcp__notes__add"),
        ("my-notes-add", [], "mcp__my-notes__add"),
        ("notes-add-one", ["notes"], "mcp__notes__add-one"),
        ("a-b-c", ["a", "a-b"], "mcp__a-b__c"),
        ("-", [], "-"),
    ],
)
def test_a_tool_of_a_server_goes_by_the_name_that_rules_use(name: str, known: list[str], wanted: str) -> None:
    assert tool_of(name, known) == wanted


def test_the_servers_of_copilot_are_read_from_its_settings(tmp_path: Path) -> None:
    (tmp_path / ".copilot").mkdir()
    (tmp_path / ".copilot/mcp-config.json").write_text(json.dumps({"mcpServers": {"notes": {}}}))
    environ = servers.environment("copilot", str(tmp_path), str(tmp_path / "p"))
    given = {**COPILOT, "toolName": "notes-add-one"}
    event = agents.load("copilot").parse(given, environ=environ, home=str(tmp_path), project="/w")
    assert event.call is not None
    assert event.call.tool == "mcp__notes__add-one"
    assert servers.environment("claude", str(tmp_path), "/w") == {}


@pytest.mark.parametrize(("runtime", "given"), [("qwen", QWEN), ("copilot", COPILOT), ("gemini", GEMINI)])
def test_what_a_model_may_read_says_nothing_of_how_to_change_the_policy(runtime: str, given: dict[str, object]) -> None:
    adapter = agents.load(runtime)
    event = adapter.parse({"cwd": "/w", "session_id": "s", **given}, environ={}, home="/h", project="/w")
    answer = json.loads(adapter.render(event, PERSON).stdout)
    answer.pop("systemMessage", None)  # shown to a person alone
    assert "flip" not in json.dumps(answer)


@pytest.mark.parametrize(("runtime", "given"), [("qwen", QWEN), ("copilot", COPILOT)])
def test_a_run_that_nobody_attends_is_known_as_one(runtime: str, given: dict[str, object]) -> None:
    adapter = agents.load(runtime)
    payload = {"cwd": "/w", "session_id": "s", **given}
    assert adapter.parse(payload, environ={ATTENDED: "0"}, home="/h", project="/w").attended is False
    assert adapter.parse(payload, environ={}, home="/h", project="/w").attended is None
    assert "-p" in adapter.once
