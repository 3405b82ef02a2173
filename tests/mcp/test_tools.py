"""`assent mcp-tools` with the official client: the tools, the gate before them, and what ends with a call."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp_types import ElicitResult

from tests.mcp.pipes import PATIENCE, is_gone
from tests.server.program import Person, Program

MODES = ("legacy", "2026-07-28")
CONFIG = 'mode = "auto"\n'


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    found = Program(tmp_path_factory.mktemp("gate"), config=CONFIG)
    (found.project / "src/app.py").write_text("x = 1\n")
    yield found
    found.stop()


@pytest.fixture(scope="module")
def person(program: Program) -> Person:
    return program.sign_in()


def alone(folder: Path) -> dict[str, str]:
    """An environment without a gate server."""
    (folder / "state").mkdir(exist_ok=True)
    (folder / "state/config.toml").write_text(CONFIG)
    (folder / "project").mkdir(exist_ok=True)
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "ASSENT_HOME": str(folder / "state")}


@asynccontextmanager
async def joined(environ: dict[str, str], project: Path, *words: str, **more: Any) -> AsyncIterator[Client]:
    given = ["-m", "assent", "mcp-tools", "--project", str(project), *words]
    target = StdioServerParameters(command=sys.executable, args=given, env=environ, cwd="/")
    async with asyncio.timeout(2 * PATIENCE), Client(target, **more) as client:
        yield client


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def all() -> None:
        await work()

    asyncio.run(all())


def text(result: Any) -> str:
    return str(result.content[0].text)


async def number(path: Path) -> int:
    for _ in range(500):
        if path.exists() and path.read_text().strip():
            return int(path.read_text())
        await asyncio.sleep(0.02)
    raise AssertionError("it never started")


@pytest.mark.parametrize("mode", MODES)
def test_the_tools_are_listed_and_used(program: Program, mode: str) -> None:
    async def work() -> None:
        async with joined(program.environ, program.project, mode=mode) as client:
            listed = (await client.list_tools()).tools
            assert [each.name for each in listed] == ["bash", "read", "write", "edit", "glob", "grep"]
            assert {each.name for each in listed if each.annotations and each.annotations.read_only_hint} == {
                "read",
                "glob",
                "grep",
            }
            assert text(await client.call_tool("read", {"file_path": "src/app.py"})) == "     1\tx = 1"
            edit = {"file_path": "src/app.py", "old_string": "1", "new_string": "2"}
            assert not (await client.call_tool("edit", edit)).is_error
            assert text(await client.call_tool("grep", {"pattern": "x"})) == "src/app.py:1: x = 2"
            assert text(await client.call_tool("glob", {"pattern": "**/*.py"})) == "src/app.py"
            assert text(await client.call_tool("bash", {"command": "pwd; cat src/app.py"})) == (
                f"{program.project}\nx = 2"
            )
            back = {**edit, "old_string": "2", "new_string": "1"}
            assert not (await client.call_tool("edit", back)).is_error

    run(work)


@pytest.mark.parametrize("mode", MODES)
def test_what_is_denied_is_a_result_that_the_model_reads(program: Program, mode: str) -> None:
    async def work() -> None:
        async with joined(program.environ, program.project, mode=mode) as client:
            result = await client.call_tool("read", {"file_path": "~/.ssh/id_rsa"})
            assert result.is_error
            assert "floor.sensitive-path" in text(result)
            with pytest.raises(MCPError):
                await client.call_tool("format_disk", {})

    run(work)


def test_only_the_chosen_tools_are_there(program: Program) -> None:
    async def work() -> None:
        async with joined(program.environ, program.project, "--tools", "read, glob") as client:
            assert [each.name for each in (await client.list_tools()).tools] == ["read", "glob"]
            with pytest.raises(MCPError):
                await client.call_tool("bash", {"command": "ls"})

    run(work)


@pytest.mark.parametrize("mode", MODES)
def test_what_asks_is_held_for_a_person(program: Program, person: Person, mode: str) -> None:
    async def work() -> None:
        async with joined(program.environ, program.project, "--session", f"s-{mode}", mode=mode) as client:
            for said, runs in (("deny", False), ("allow", True)):
                calling = asyncio.create_task(client.call_tool("bash", {"command": "printf x > made; ./none"}))
                question = await asyncio.to_thread(person.held_in, f"s-{mode}")
                assert not (program.project / "made").exists()
                answer = await asyncio.to_thread(person.answer, question, said, message="not today" if not runs else "")
                assert answer.status == 200
                result = await calling
                assert (program.project / "made").exists() is runs
                assert ("not today" in text(result)) is not runs
            (program.project / "made").unlink()

    run(work)


def test_a_question_that_the_client_gives_up_is_withdrawn(program: Program, person: Person) -> None:
    async def work() -> None:
        async with joined(program.environ, program.project, "--session", "given-up") as client:
            calling = asyncio.create_task(
                client.call_tool("bash", {"command": "touch made; ./none"}, read_timeout_seconds=2)
            )
            await asyncio.to_thread(person.held_in, "given-up")
            with pytest.raises(MCPError):
                await calling
            until = time.monotonic() + PATIENCE
            while await asyncio.to_thread(program.held_now) and time.monotonic() < until:
                await asyncio.sleep(0.05)
            assert await asyncio.to_thread(program.held_now) == 0

    run(work)
    assert not (program.project / "made").exists()


def test_a_command_that_the_client_gives_up_is_ended_with_all_it_started(tmp_path: Path) -> None:
    environ = alone(tmp_path)
    left = tmp_path / "project/left"

    async def work() -> None:
        async with joined(environ, tmp_path / "project") as client:
            # The numbers of processes are written by a reader that the gate knows.
            command = "sleep 300 & echo $! > left; wait"
            (tmp_path / "state/config.toml").write_text(CONFIG + 'allow = ["bash(sleep:*)", "bash(wait)"]\n')
            calling = asyncio.create_task(client.call_tool("bash", {"command": command}, read_timeout_seconds=3))
            found = await number(left)
            with pytest.raises(MCPError):
                await calling
            assert await asyncio.to_thread(is_gone, found)
            assert text(await client.call_tool("bash", {"command": "echo still here"})) == "still here"

    run(work)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, None])
def test_what_runs_ends_with_the_server(tmp_path: Path, how: int | None) -> None:
    environ = alone(tmp_path)
    (tmp_path / "state/config.toml").write_text(CONFIG + 'allow = ["bash(sleep:*)", "bash(wait)"]\n')
    words = [sys.executable, "-m", "assent", "mcp-tools", "--project", str(tmp_path / "project")]
    server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ)
    assert server.stdin is not None
    call = b'{"name":"bash","arguments":{"command":"sleep 300 & echo $! > left; wait"}}'
    server.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":' + call + b"}\n")
    server.stdin.flush()
    found = asyncio.run(number(tmp_path / "project/left"))
    if how is None:
        server.stdin.close()
    else:
        server.send_signal(how)
    assert server.wait(PATIENCE) == (0 if how is None else 128 + how)
    assert is_gone(found)


def test_without_a_gate_server_what_asks_is_refused(tmp_path: Path) -> None:
    async def work() -> None:
        async with joined(alone(tmp_path), tmp_path / "project") as client:
            result = await client.call_tool("bash", {"command": "./none"})
            assert result.is_error
            assert text(result).startswith("This call was not run")

    run(work)


def test_the_environment_cannot_loosen(tmp_path: Path) -> None:
    async def work() -> None:
        async with joined({**alone(tmp_path), "ASSENT_MODE": "yolo"}, tmp_path / "project") as client:
            assert (await client.call_tool("bash", {"command": "./none"})).is_error
        async with joined({**alone(tmp_path), "ASSENT_MODE": "plan"}, tmp_path / "project") as client:
            result = await client.call_tool("write", {"file_path": "a", "content": "x"})
            assert "mode.plan" in text(result)

    run(work)


@pytest.mark.parametrize("said", ["allow once", "deny"])
def test_the_clients_own_form_can_ask(tmp_path: Path, said: str) -> None:
    shown: list[str] = []

    async def form(context: Any, params: Any) -> ElicitResult:
        shown.append(params.message)
        return ElicitResult(action="accept", content={"answer": said})

    async def work() -> None:
        environ = alone(tmp_path)
        async with joined(
            environ, tmp_path / "project", "--elicit", mode="legacy", elicitation_callback=form
        ) as client:
            await client.call_tool("bash", {"command": "printf x > made; ./none"})

    run(work)
    assert len(shown) == 1
    assert "printf x > made; ./none" in shown[0]
    assert (tmp_path / "project/made").exists() is (said == "allow once")


def test_a_folder_that_is_none_is_told(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "assent", "mcp-tools", "--project", str(tmp_path / "none")]
    done = subprocess.run(words, capture_output=True, text=True, env=alone(tmp_path), check=False)
    assert done.returncode == 2
    assert "is not a folder" in done.stderr


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense",
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":["bash"]}}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"bash","arguments":[]}}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"bash","name":"read"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"none"}',
        b"[]",
    ],
)
def test_what_is_no_message_is_an_error_and_hurts_nobody(tmp_path: Path, line: bytes) -> None:
    words = [sys.executable, "-m", "assent", "mcp-tools", "--project", str(tmp_path)]
    given = line + b'\n{"jsonrpc":"2.0","id":2,"method":"ping"}\n'
    done = subprocess.run(words, input=given, capture_output=True, env=alone(tmp_path), check=True)
    first, second = done.stdout.splitlines()
    assert b'"error"' in first
    assert second == b'{"jsonrpc":"2.0","id":2,"result":{}}'
