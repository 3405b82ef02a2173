"""Contained runs over a running server: of programs that embed the gate, of MCP tools; and the start of MCP servers
that a person lets run outside."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from assent import Gate
from assent.contract.approval import Verdict
from assent.engine import remote
from assent.mcp.judge import McpJudge
from assent.mcp.offer import GateClient
from assent.tools.toolset import Toolset
from tests.contained.scene import PLACES, RUNS, TOOL
from tests.server.program import Person, Program

CONFIG = 'mode = "auto"\n[contain]\non = true\n'


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory, sandboxed: None) -> Iterator[Program]:
    folder = tmp_path_factory.mktemp("connected").resolve()
    (folder / ".ssh").mkdir()
    found = Program(folder, config=CONFIG)
    for name, text in {"places.py": PLACES, "tool.py": TOOL}.items():
        (found.project / name).write_text(text)
    plan = {"look": str(folder / ".ssh"), "host": "127.0.0.1", "port": 9, "status": 0}
    (found.project / "plan.json").write_text(json.dumps(plan))
    yield found
    found.stop()


@pytest.fixture(autouse=True)
def plain_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of the command is that of the program that runs it."""
    monkeypatch.setenv("PATH", "/usr/local/bin:/usr/bin:/bin")


@pytest.fixture(scope="module")
def person(program: Program) -> Person:
    return program.sign_in()


def test_a_guarded_tool_over_a_running_server_contains_what_it_runs(program: Program) -> None:
    with Gate.connect(str(program.project), state=str(program.state)) as gate:
        tools = Toolset(gate.session("tools"), str(program.project))
        result = tools.call_sync("bash", {"command": RUNS})
        tools.close()
    assert result.verdict is not None
    assert result.verdict.decision.contained
    assert "looked: failed" in result.text


def test_a_program_that_does_not_replace_commands_is_asked_as_before(program: Program, person: Person) -> None:
    with Gate.connect(str(program.project), state=str(program.state)) as gate:
        session = gate.session("plain")
        waiting = program.pool.submit(session.guard_sync, session.call("bash", {"command": RUNS}, shell="bash"))
        person.answer(person.held_in("plain"), "allow")
        verdict: Verdict = waiting.result(20)
    assert (verdict.allowed, verdict.command, verdict.decision.contained) == (True, "", "")


def test_mcp_tools_over_a_running_server_contain_what_they_run(program: Program) -> None:
    async def work() -> str:
        judge = McpJudge({**os.environ, "HOME": str(program.project.parent)}, state=str(program.state))
        tools = Toolset(GateClient(judge, str(program.project), "mcp"), str(program.project))
        try:
            return (await tools.call("bash", {"command": RUNS})).text
        finally:
            tools.close()
            judge.close()

    assert "looked: failed" in asyncio.run(work())


@pytest.mark.parametrize(
    ("change", "rewrites"),
    [({}, False), ({"command": ""}, True), ({"decision": {"contained": ""}}, True), ({"allowed": False}, True)],
)
def test_an_answer_that_contradicts_itself_is_no_yes(
    program: Program, change: dict[str, object], rewrites: bool
) -> None:
    call = {"tool": "bash", "input": {"command": RUNS}, "cwd": str(program.project), "session": repr(change)}
    answer = program.ask("POST", "/v1/calls", {**call, "shell": "bash", "rewrites": True}, unix=True).json
    assert remote.verdict(200, answer, rewrites=True).command
    more = change.get("decision")
    changed = {**answer, **change, "decision": {**answer["decision"], **(more if isinstance(more, dict) else {})}}
    assert remote.verdict(200, changed, rewrites=rewrites).allowed is False


@pytest.mark.parametrize("said", ["allow", "deny"])
def test_a_person_may_let_a_server_start_outside_that_cannot_be_contained(
    program: Program, person: Person, tmp_path: Path, said: str
) -> None:
    (tmp_path / "server.py").write_text("print('{}', flush=True)\nexec(input())\n")
    words = [sys.executable, "-I", "-m", "assent", "mcp-proxy", "--name", "srv", "--session", f"start {said}", "--"]
    process = subprocess.Popen(
        [*words, "python3", str(tmp_path / "server.py")],
        cwd=program.project,
        env={**program.environ, "PATH": "/usr/bin:/bin"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        person.answer(person.held_in(f"start {said}"), said)
        if said == "allow":
            assert process.stderr is not None
            assert "was dropped" in process.stderr.readline()  # it runs, and what it prints is no message
        else:
            _, err = process.communicate(timeout=30)
            assert (process.returncode, "the server is not started" in err) == (126, True)
    finally:
        process.kill()
        process.communicate()
