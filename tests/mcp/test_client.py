"""The official client and server with the proxy between them: on pipes, HTTP behind it, HTTP on both sides."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp_types import CreateMessageResult, TextContent

from tests.examples import combinations
from tests.mcp.pipes import PATIENCE
from tests.server.program import Person, Program

NOTES = Path(__file__).parent / "notes.py"
OPEN = 'allow = ["mcp__notes__note", "mcp__notes__echo", "mcp__notes__steps", "mcp__notes__sample"]\n'
OPEN += 'deny = [{ rule = "mcp__notes__crash", message = "write a note instead" }]\n'
WAYS = ("pipes", "url", "listen")
MODES = ("legacy", "2026-07-28")
VALUE = {"text": "é\u2028😀", "list": [1, 2.5, None, True, {"a": "b"}], "big": 2**60}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    found = Program(tmp_path_factory.mktemp("gate"), config=OPEN)
    yield found
    found.stop()


@pytest.fixture(scope="module")
def person(program: Program) -> Person:
    return program.sign_in()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Way:
    """The server, with or without the proxy before it."""

    def __init__(self, program: Program, folder: Path) -> None:
        self.notes = folder / "notes"
        self.notes.touch()
        self._program = program
        self._started: list[subprocess.Popen[bytes]] = []

    def proxy(self, *words: str) -> list[str]:
        home = str(self._program.state)
        return [sys.executable, "-m", "assent", "mcp-proxy", "--name", "notes", "--home", home, *words]

    def target(self, way: str) -> Any:
        """What the client connects to."""
        server = [sys.executable, str(NOTES), str(self.notes)]
        if way == "bare":
            return self._stdio(server)
        if way == "pipes":
            return self._stdio(self.proxy("--", *server))
        port = free_port()
        self._start([*server, str(port)])
        wait_for(port)
        url = f"http://127.0.0.1:{port}/mcp"
        if way == "url":
            return self._stdio(self.proxy("--url", url))
        front = self._start(self.proxy("--url", url, "--listen", "127.0.0.1:0"))
        assert front.stderr is not None
        line = front.stderr.readline().decode()
        found = re.search(r"http://\S+", line)
        assert found is not None, line
        return found[0]

    def _stdio(self, words: list[str]) -> StdioServerParameters:
        return StdioServerParameters(
            command=words[0], args=words[1:], env=self._program.environ, cwd=self._program.project
        )

    def _start(self, words: list[str]) -> subprocess.Popen[bytes]:
        listens = "--listen" in words
        self._started.append(
            subprocess.Popen(
                words,
                env=self._program.environ,
                cwd=self._program.project,
                stdin=subprocess.DEVNULL,
                stderr=subprocess.PIPE if listens else subprocess.DEVNULL,
            )
        )
        return self._started[-1]

    def ran(self) -> list[str]:
        return self.notes.read_text().splitlines()

    def stop(self) -> None:
        for each in self._started:
            each.terminate()
            each.wait(10)


def wait_for(port: int) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("the server does not listen")


@pytest.fixture
def way(program: Program, tmp_path: Path) -> Iterator[Way]:
    found = Way(program, tmp_path)
    yield found
    found.stop()


@asynccontextmanager
async def joined(target: Any, mode: str, **more: Any) -> AsyncIterator[Client]:
    async with asyncio.timeout(2 * PATIENCE), Client(target, mode=mode, **more) as client:
        yield client


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def all() -> None:
        await work()

    asyncio.run(all())


def text(result: Any) -> str:
    return str(result.content[0].text)


@pytest.mark.parametrize(("how", "mode"), combinations(WAYS, MODES))
def test_what_is_allowed_gives_what_the_server_gives(way: Way, how: str, mode: str) -> None:
    async def work() -> None:
        found: list[Any] = []
        for target in (way.target("bare"), way.target(how)):
            async with joined(target, mode) as client:
                listed = await client.list_tools()
                noted = await client.call_tool("note", {"text": "hello"})
                echo = await client.call_tool("echo", {"value": VALUE})
                resource = await client.read_resource("notes://all")
                found.append([each.model_dump_json() for each in (listed, noted, echo)] + [resource.contents[0].uri])
        assert found[0] == found[1]

    run(work)
    assert way.ran() == ["hello", "echo"] * 2


@pytest.mark.parametrize(("how", "mode"), combinations(WAYS, MODES))
def test_what_is_denied_does_not_run_and_the_model_reads_why(way: Way, how: str, mode: str) -> None:
    async def work() -> None:
        async with joined(way.target(how), mode) as client:
            result = await client.call_tool("crash", {})
            assert result.is_error
            assert "Write a note instead" in text(result)
            assert text(await client.call_tool("note", {"text": "still here"})) == "noted still here"

    run(work)
    assert way.ran() == ["still here"]


@pytest.mark.parametrize(("how", "mode"), combinations(WAYS, MODES))
def test_what_asks_is_held_for_a_person(way: Way, person: Person, how: str, mode: str) -> None:
    async def answered(said: str) -> None:
        question = (await asyncio.to_thread(person.held))[0]
        assert question["call"]["tool"] == "mcp__notes__hang"
        assert "hang" not in way.ran()
        assert (await asyncio.to_thread(person.answer, question, said, message="not today")).status == 200

    async def work() -> None:
        async with joined(way.target(how), mode) as client:
            calling = asyncio.create_task(client.call_tool("hang", {}))
            await answered("deny")
            assert "not today" in text(await calling)
            calling = asyncio.create_task(client.call_tool("hang", {}, read_timeout_seconds=3))
            await answered("allow")
            with pytest.raises(MCPError):  # it hangs, and the client gives up
                await calling

    run(work)
    assert way.ran()[0] == "hang"


@pytest.mark.parametrize(("how", "mode"), combinations(WAYS, MODES))
def test_a_call_that_the_client_gives_up_is_withdrawn(
    way: Way, program: Program, person: Person, how: str, mode: str
) -> None:
    async def work() -> None:
        async with joined(way.target(how), mode) as client:
            calling = asyncio.create_task(client.call_tool("hang", {}, read_timeout_seconds=2))
            await asyncio.to_thread(person.held)
            with pytest.raises(MCPError):
                await calling
            until = time.monotonic() + PATIENCE
            while await asyncio.to_thread(program.held_now) and time.monotonic() < until:
                await asyncio.sleep(0.05)
            assert await asyncio.to_thread(program.held_now) == 0

    run(work)
    assert way.ran() == []


@pytest.mark.parametrize("how", WAYS)
def test_progress_and_questions_of_the_server_reach_the_client(way: Way, how: str) -> None:
    seen: list[float] = []

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        seen.append(progress)

    async def model(context: Any, params: Any) -> CreateMessageResult:
        return CreateMessageResult(role="assistant", content=TextContent(type="text", text="4"), model="m")

    async def work() -> None:
        async with joined(way.target(how), "legacy", sampling_callback=model) as client:
            assert text(await client.call_tool("steps", {"count": 3}, progress_callback=progress)) == "done"
            assert text(await client.call_tool("sample", {})) == "the model said 4"

    run(work)
    assert seen == [1, 2, 3]


@pytest.mark.parametrize("how", WAYS)
def test_a_hundred_calls_at_once(way: Way, how: str) -> None:
    async def work() -> None:
        async with joined(way.target(how), "legacy") as client:
            calls = [
                client.call_tool("note" if n % 4 else "crash", {"text": str(n)} if n % 4 else {}) for n in range(100)
            ]
            results = await asyncio.gather(*calls)
            for number, result in enumerate(results):
                assert result.is_error is (number % 4 == 0)
                assert number % 4 == 0 or text(result) == f"noted {number}"

    run(work)
    assert sorted(map(int, way.ran())) == [number for number in range(100) if number % 4]


def test_a_server_that_is_not_there_is_told(way: Way) -> None:
    words = way.proxy("--url", f"http://127.0.0.1:{free_port()}/mcp")
    proxy = subprocess.Popen(words, env=way._program.environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert proxy.stdin is not None
    assert proxy.stdout is not None
    proxy.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    proxy.stdin.flush()
    assert b"cannot be reached" in proxy.stdout.readline()
    proxy.communicate(timeout=PATIENCE)
    assert proxy.returncode == 0


def test_headers_of_the_command_line_are_sent(way: Way, tmp_path: Path) -> None:
    """A server that answers nothing but writes down what it was sent."""
    with socket.create_server(("127.0.0.1", 0)) as fake:
        port = fake.getsockname()[1]
        words = way.proxy("--url", f"http://127.0.0.1:{port}/x", "--header", "Authorization: Bearer $SECRET")
        environ = {**way._program.environ, "SECRET": "abc"}
        proxy = subprocess.Popen(words, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert proxy.stdin is not None
        assert proxy.stdout is not None
        proxy.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        proxy.stdin.flush()
        line, _ = fake.accept()
        head = line.recv(65536).decode()
        line.sendall(b"HTTP/1.1 307 Moved\r\nLocation: http://evil.example/\r\nContent-Length: 0\r\n\r\n")
        line.close()
        answer = proxy.stdout.readline().decode()
        proxy.communicate(timeout=PATIENCE)
    assert "Authorization: Bearer abc\r\n" in head
    assert "Mcp-Method: ping\r\n" in head
    assert "http://evil.example/" in answer
    assert os.environ.get("SECRET") is None
