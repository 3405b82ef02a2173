"""`assent mcp-proxy` before servers of the real agent programs, and `assent mcp-prompt` in place of a dialog.

No hook is installed here: only the proxy and the prompt tool are tested."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from .claude import Claude
from .client import Client, Run
from .gate import Gate, answering, serving
from .model import Step, Use
from .observed import DONE
from .programs import Programs
from .sandbox import Sandbox

NOTES = Path(__file__).with_name("notes_server.py")
POLICY = 'allow = ["mcp__open"]\ndeny = [{ rule = "mcp__closed", message = "keep it to yourself" }]\n'
PROMPT_TOOL = ("--permission-prompt-tool", "mcp__assent__approve")


def proxied(gate: Gate, name: str) -> list[str]:
    """The server of that name, which appends to a file of that name, with the proxy before it."""
    proxy = [sys.executable, "-I", "-m", "assent", "mcp-proxy", "--name", name, "--home", str(gate.state)]
    project = ["--project", str(gate.place.project)]
    return [*proxy, *project, "--", sys.executable, str(NOTES), str(gate.place.project / name)]


def note(client: Client, name: str, text: str = "hello") -> Step:
    return Use(client.mcp(name, "note", {"text": text}))


def test_a_proxied_server_is_gated_where_the_program_asks_nobody(client: Client, place: Sandbox) -> None:
    gate = Gate(place, POLICY)
    servers = {name: proxied(gate, name) for name in ("open", "closed", "other")}
    script = [note(client, "open"), note(client, "closed"), note(client, "other"), DONE]
    run = client.run(place, script, args=client.loose, servers=servers, patience=60)
    assert (run.status, run.changed) == (0, {"open": "hello\n"})
    assert "noted hello" in run.told[0]
    assert "Keep it to yourself" in run.told[1]
    assert "nobody can be asked" in run.told[2]
    found = [(each["tool"], each["outcome"]) for each in gate.records("decision")]
    assert found == [("mcp__open__note", "allow"), ("mcp__closed__note", "deny"), ("mcp__other__note", "deny")]


def test_a_proxied_call_waits_for_a_person(client: Client, place: Sandbox) -> None:
    gate = Gate(place, POLICY)
    servers = {"other": proxied(gate, "other")}

    def answer(question: dict[str, Any]) -> dict[str, Any]:
        refused = "second" in str(question["call"]["input"])
        return {"said": "deny", "message": "once is enough"} if refused else {"said": "allow"}

    script = [note(client, "other", "first"), note(client, "other", "second"), DONE]
    with serving(gate) as server, answering(server, answer) as person:
        run = client.run(place, script, args=client.loose, servers=servers, patience=60)
    assert (run.status, run.changed) == (0, {"other": "first\n"})
    assert [each["call"]["tool"] for each in person.seen] == ["mcp__other__note"] * 2
    assert "once is enough" in run.told[1]


# ---------------------------------------------------------------- in place of Claude Code's dialog


@pytest.fixture
def claude(installed: Programs) -> Claude:
    return Claude(installed)


def prompted(claude: Claude, gate: Gate, *commands: str) -> Run:
    words = [sys.executable, "-I", "-m", "assent", "mcp-prompt", "--home", str(gate.state)]
    script: list[Step] = [*(Use(claude.shell(command)) for command in commands), DONE]
    return claude.run(gate.place, script, args=PROMPT_TOOL, servers={"assent": words}, patience=60)


def test_the_prompt_tool_answers_in_place_of_the_dialog(claude: Claude, place: Sandbox) -> None:
    policy = 'allow = ["bash(touch allowed)"]\ndeny = [{ rule = "bash(touch denied)", message = "take the other" }]'
    gate = Gate(place, policy)
    run = prompted(claude, gate, "touch allowed", "touch denied", "touch asked")
    assert (run.status, run.changed) == (0, {"allowed": ""})
    assert "Take the other" in run.told[1]
    assert "nobody can be asked" in run.told[2]
    assert {each["runtime"] for each in gate.records("decision")} == {"claude-prompt"}


def test_the_prompt_tool_waits_for_a_person(claude: Claude, place: Sandbox) -> None:
    gate = Gate(place)

    def answer(question: dict[str, Any]) -> dict[str, Any]:
        refused = "unwanted" in str(question["call"]["input"])
        return {"said": "deny", "message": "not this one"} if refused else {"said": "allow"}

    with serving(gate) as server, answering(server, answer):
        run = prompted(claude, gate, "touch wanted", "touch unwanted")
    assert (run.status, run.changed) == (0, {"wanted": ""})
    assert "not this one" in run.told[1]


def test_a_prompt_tool_with_a_broken_policy_denies(claude: Claude, place: Sandbox) -> None:
    run = prompted(claude, Gate(place, "allow = ["), "touch anything")
    assert (run.status, run.changed) == (0, {})
    assert "policy" in run.told[0]
