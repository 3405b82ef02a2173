"""The path of a question: what it would cause is measured once, held with it, and in the trail in the same words."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from assent.agents import load
from assent.api.gates import Approval
from assent.approval import wire
from assent.approval.channels.callback import CallbackChannel
from assent.approval.store import SqliteStore
from assent.contract import Call
from assent.contract.approval import Answer, Consequence, Held, Said
from assent.engine import configure, consequences
from assent.engine.engine import Request
from assent.engine.memory import Memory
from assent.facts.consequences import measure
from assent.gate import CallGate
from assent.hook import hook
from assent.mcp import judge
from assent.sdk import tool_guard
from assent.server.api import shown


class Asking:
    """A project with files, and a person who says no."""

    def __init__(self, folder: Path) -> None:
        self.project, self.state = folder / "project", folder / "state"
        self.project.mkdir()
        (self.project / "old").mkdir()
        (self.project / "old/a").write_text("12345")
        self.environ = {"HOME": str(folder), "ASSENT_HOME": str(self.state)}
        self.seen: list[Held] = []

    def request(self, command: str) -> Request:
        here = configure.place(str(self.project), self.environ)
        engine, here = configure.open_gate(here, self.environ)
        call = Call("bash", {"command": command}, cwd=here.project, roots=here.roots, home=here.home, session="s")
        return Request(engine, call, here.project)

    def ask(self, command: str) -> Held:
        def answer(held: Held) -> Answer:
            self.seen.append(held)
            return Answer(Said.DENY, who="ann")

        async def run() -> None:
            store = SqliteStore(str(self.state / "held.db"))
            gate = CallGate(Memory(str(self.state)), store, lambda held: self.request(command).engine)
            gate.broker.attach(CallbackChannel(answer))
            try:
                found = await gate.guard(self.request(command))
                assert not found.allowed
            finally:
                await gate.broker.close()
                await store.close()

        asyncio.run(run())
        return self.seen[-1]

    def records(self) -> list[dict[str, Any]]:
        text = (self.state / "audit/permissions.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def asking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Asking:
    monkeypatch.setattr(consequences, "SECONDS", 20.0)  # the machine may be busy
    return Asking(tmp_path)


def test_the_question_the_trail_and_every_form_of_it_have_the_same_words(asking: Asking) -> None:
    held = asking.ask("rm -rf old")
    texts = [each.text for each in held.consequences]
    assert texts == [
        "removes 1 file, 5 bytes",
        "they are in no git repository",
        "a copy is kept: `assent undo` puts back what it deletes here",
    ]
    question, answer = asking.records()
    assert question["consequences"] == texts
    assert "consequences" not in answer
    assert wire.read_held(wire.loads(wire.dumps(held))) == held
    sent = shown.question(held, state="shown")
    assert [each["text"] for each in sent["consequences"]] == texts
    told = str(judge.question(held)["message"])
    assert all(f"It would cause: {each}" in told for each in texts)
    assert tool_guard.question(Approval(held.id, None, held))["consequences"] == texts


def test_a_secret_in_a_name_is_redacted(asking: Asking) -> None:
    token = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"
    (asking.project / "old" / token).write_text("x")
    held = asking.ask(f"rm -rf old/{token}x old")
    assert all(token not in each.text for each in held.consequences)


def test_a_fault_in_measuring_is_said_and_never_raised(asking: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError

    monkeypatch.setattr(measure, "plan", fail)
    request = asking.request("rm -rf old")
    judged = request.engine.judge(request.call)
    found = consequences.measured(request.call, judged, "", undo=True)
    assert found == (Consequence("failed", "what it would cause could not be measured: KeyError"),)
    assert consequences.any_of(request.call, judged, "")


def test_a_call_without_consequences_has_none(asking: Asking) -> None:
    assert asking.ask("make all").consequences == ()
    assert "consequences" not in asking.records()[0]


def test_the_dialog_of_another_program_gets_the_first_of_them(asking: Asking) -> None:
    event = {
        "session_id": "s",
        "cwd": str(asking.project),
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "rm -rf old"},
    }
    environ = {**asking.environ, "CLAUDE_PROJECT_DIR": str(asking.project), "SHELL": "/bin/bash"}
    found = hook.answer(load("claude"), json.dumps(event).encode(), environ, state=str(asking.state))
    reply = json.loads(found.stdout)["hookSpecificOutput"]
    assert reply["permissionDecision"] == "ask"
    assert reply["permissionDecisionReason"].endswith(
        "\nWhat it would cause: removes 1 file, 5 bytes; they are in no git repository; "
        "a copy is kept: `assent undo` puts back what it deletes here"
    )


def test_what_is_long_stays_out_of_the_dialog_of_another_program() -> None:
    short, long = Consequence("deletion", "a" * 100), Consequence("deletion", "b" * 390)
    assert consequences.in_short((short, long, short)) == "a" * 100
    assert consequences.in_short((long,)) == "b" * 390
    assert consequences.in_short((Consequence("deletion", "c" * 500),)) == ""
    assert consequences.in_short((short,) * 9).count(";") == 2
