"""`assent mcp-prompt`: what Claude Code is told in place of its dialog."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from tests.mcp.pipes import PATIENCE, environ, state
from tests.server.program import Person, Program

ALLOW = 'allow = ["bash(make test)"]\n'
INIT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


class Prompt:
    """The server as a process, spoken to as Claude Code does."""

    def __init__(self, folder: Path, home: Path, **env: str) -> None:
        words = [sys.executable, "-m", "assent", "mcp-prompt", "--home", str(home)]
        (folder / "project").mkdir(exist_ok=True)
        self.process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**environ(folder), **env},
            cwd=folder / "project",
        )

    def raw(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def get(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def ask(self, method: str, params: object, id: object = 1) -> Any:
        self.raw(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode())
        return self.get()

    def start(self, tool: str, given: object, id: object = 1) -> None:
        arguments = {"tool_name": tool, "input": given, "tool_use_id": "toolu_1"}
        params = {"name": "approve", "arguments": arguments}
        self.raw(json.dumps({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).encode())

    def told(self) -> dict[str, Any]:
        answer = self.get()
        (part,) = answer["result"]["content"]
        assert part["type"] == "text"
        found: dict[str, Any] = json.loads(part["text"])
        return found

    def approve(self, tool: str, given: object) -> dict[str, Any]:
        self.start(tool, given)
        return self.told()

    def end(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(PATIENCE)


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Prompt]:
    found = Prompt(tmp_path, state(tmp_path, ALLOW))
    yield found
    found.process.kill()
    found.process.wait(10)


def test_what_is_allowed_runs_as_it_was_judged(alone: Prompt) -> None:
    given = {"command": "make test", "description": "run the tests"}
    assert alone.approve("Bash", given) == {"behavior": "allow", "updatedInput": given}


def test_what_is_denied_is_denied_with_the_reason(alone: Prompt) -> None:
    told = alone.approve("Bash", {"command": "rm -rf /"})
    assert told["behavior"] == "deny"
    assert "was not run" in told["message"]


def test_what_asks_is_denied_where_nobody_can_be_asked(alone: Prompt) -> None:
    told = alone.approve("Bash", {"command": "make deploy"})
    assert told["behavior"] == "deny"
    assert "[headless.ask]" in told["message"]


def test_a_relative_path_is_of_our_folder(alone: Prompt, tmp_path: Path) -> None:
    (tmp_path / "project/a.txt").write_text("x")
    assert alone.approve("Read", {"file_path": "a.txt"})["behavior"] == "allow"
    assert alone.approve("Read", {"file_path": "../.ssh/id_rsa"})["behavior"] == "deny"


@pytest.mark.parametrize(
    "arguments",
    [
        {"tool_name": "Bash"},
        {"tool_name": "Bash", "input": "make test"},
        {"tool_name": "", "input": {}},
        {"tool_name": 7, "input": {"command": "make test"}},
        {"input": {"command": "make test"}},
        {},
    ],
    ids=str,
)
def test_arguments_that_are_no_call_are_denied(alone: Prompt, arguments: object) -> None:
    answer = alone.ask("tools/call", {"name": "approve", "arguments": arguments})
    assert json.loads(answer["result"]["content"][0]["text"])["behavior"] == "deny"


@pytest.mark.parametrize(
    "params", [{"name": "other", "arguments": {}}, {"name": "approve"}, {"name": "approve", "arguments": []}]
)
def test_what_is_no_question_is_an_error(alone: Prompt, params: object) -> None:
    assert "error" in alone.ask("tools/call", params)


def test_malformed_lines_are_errors_and_the_next_is_read(alone: Prompt) -> None:
    given = b'{"tool_name":"Bash","input":{"command":"rm -rf /","command":"make test"}}'
    for line in (
        b"garbage",
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"approve","arguments":' + given + b"}}",
    ):
        alone.raw(line)
        assert "error" in alone.get()
    assert alone.approve("Bash", {"command": "make test"})["behavior"] == "allow"


def test_a_broken_policy_denies(alone: Prompt, tmp_path: Path) -> None:
    state(tmp_path, "allow = [")
    assert "[policy.load]" in alone.approve("Bash", {"command": "make test"})["message"]


def test_the_session_of_claude_code_is_recorded(tmp_path: Path) -> None:
    prompt = Prompt(tmp_path, state(tmp_path, ALLOW), CLAUDE_CODE_SESSION_ID="5f0c")
    prompt.approve("Bash", {"command": "make test"})
    assert prompt.end() == 0
    line = json.loads((tmp_path / "state/audit/permissions.jsonl").read_text().splitlines()[0])
    assert (line["session"], line["runtime"], line["outcome"]) == ("5f0c", "claude-prompt", "allow")


def test_the_official_client_finds_one_tool(tmp_path: Path) -> None:
    words = ["-m", "assent", "mcp-prompt", "--home", str(state(tmp_path, ALLOW))]
    (tmp_path / "project").mkdir()
    target = StdioServerParameters(command=sys.executable, args=words, env=environ(tmp_path), cwd=tmp_path / "project")

    async def work() -> str:
        async with asyncio.timeout(PATIENCE), Client(target) as client:
            assert [each.name for each in (await client.list_tools()).tools] == ["approve"]
            given = {"tool_name": "Bash", "input": {"command": "make test"}, "tool_use_id": "t"}
            result: Any = await client.call_tool("approve", given)
            return str(result.content[0].text)

    assert json.loads(asyncio.run(work()))["behavior"] == "allow"


@pytest.mark.parametrize("asked", ["2024-11-05", "2025-11-25", "2099-01-01", None])
def test_any_protocol_is_met(alone: Prompt, asked: str | None) -> None:
    found = alone.ask("initialize", {**INIT, "protocolVersion": asked})["result"]["protocolVersion"]
    assert found == (asked if asked in ("2024-11-05", "2025-11-25") else "2025-11-25")
    assert alone.ask("ping", {})["result"] == {}
    assert alone.ask("resources/list", {})["error"]["code"] == -32601


# ---------------------------------------------------------------- with a gate server


@pytest.fixture
def prompt(program: Program) -> Iterator[Prompt]:
    found = Prompt(program.project.parent, program.state)
    yield found
    found.process.kill()
    found.process.wait(10)


@pytest.mark.parametrize(("said", "behavior"), [("allow", "allow"), ("deny", "deny"), ("stop", "deny")])
def test_a_person_is_waited_for(prompt: Prompt, person: Person, said: str, behavior: str) -> None:
    prompt.start("Bash", {"command": f"make {said}"})
    question = person.held()[0]
    assert question["call"]["cwd"] == str(person.program.project)
    person.answer(question, said, message="use ci")
    told = prompt.told()
    assert told["behavior"] == behavior
    assert ("use ci" in told.get("message", "")) == (behavior == "deny")


def test_questions_do_not_wait_for_each_other(prompt: Prompt, person: Person) -> None:
    prompt.start("Bash", {"command": "make a"}, id="held")
    question = person.held()[0]
    assert prompt.approve("Bash", {"command": "ls"})["behavior"] == "allow"
    person.answer(question)
    assert prompt.told()["behavior"] == "allow"


def test_a_cancelled_question_is_taken_back(prompt: Prompt, person: Person, program: Program) -> None:
    prompt.start("Bash", {"command": "make b"}, id=9)
    person.held()
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}}
    prompt.raw(json.dumps(cancel).encode())
    assert prompt.approve("Bash", {"command": "ls"})["behavior"] == "allow"
    for _ in range(2000):
        if not program.held_now():
            break
        asyncio.run(asyncio.sleep(0.02))
    assert program.held_now() == 0


def test_a_killed_prompt_leaves_no_question_behind_for_long(tmp_path: Path) -> None:
    program = Program(tmp_path, impatient=True)
    try:
        leaves_no_question_behind(program, program.sign_in())
    finally:
        program.stop()


def leaves_no_question_behind(program: Program, person: Person) -> None:
    prompt = Prompt(program.project.parent, program.state)
    prompt.start("Bash", {"command": "make c"})
    question = person.held()[0]
    os.kill(prompt.process.pid, signal.SIGKILL)
    prompt.process.wait(10)
    for _ in range(120):
        if not program.held_now():
            break
        asyncio.run(asyncio.sleep(0.5))
    assert program.held_now() == 0
    assert person.answer(question).json.get("counted") is not True
