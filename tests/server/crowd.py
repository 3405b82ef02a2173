"""Thousands of callers that ask a server and wait for a person. Tests nothing."""

from __future__ import annotations

import json
import resource
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from tests.server.program import Program


class Crowd:
    """Callers that ask and wait, each on a connection of its own. They connect one after the other."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.lines: list[socket.socket] = []

    def ask(self, number: int, session: str, more: str = "") -> None:
        line = socket.socket(socket.AF_UNIX)
        line.connect(self.program.socket)
        call = {"tool": "bash", "input": {"command": f"make target-{number}", "more": more}}
        where = str(self.program.project)
        body = json.dumps({**call, "cwd": where, "session": session, "runtime": "codex", "wait": 600}).encode()
        head = b"POST /v1/calls HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n"
        line.sendall(b"%bContent-Length: %d\r\n\r\n%b" % (head, len(body), body))
        self.lines.append(line)

    def ask_all(self, count: int, sessions: int) -> None:
        for number in range(count):
            self.ask(number, f"s{number % sessions}")

    def answers(self) -> list[dict[str, Any]]:
        found = []
        for line in self.lines:
            with line, line.makefile("rb") as file:
                found.append(json.loads(file.read().partition(b"\r\n\r\n")[2]))
        return found


@pytest.fixture
def many_files() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    if before[1] < 8000:
        pytest.skip("this system lets no process open as many files")
    resource.setrlimit(resource.RLIMIT_NOFILE, before[1:] * 2)
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)
