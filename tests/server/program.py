"""A real server in a process of its own, with a terminal, and clients that talk to it. Tests nothing."""

from __future__ import annotations

import http.client
import json
import os
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.server.impatient import PATHS

CODE = re.compile(r"the code  ([A-Z2-9]{4}-[A-Z2-9]{4})")
READY = re.compile(r"Ctrl-C stops the server\r?\n")
LISTENS = re.compile(r"assent listens on http://127\.0\.0\.1:(\d+)/ and (\S+), mode (\w+)")


class Answer:
    """What the server said."""

    def __init__(self, status: int, headers: dict[str, str], raw: bytes) -> None:
        self.status = status
        self.headers = headers
        self.raw = raw

    @property
    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.raw)
        return found

    @property
    def error(self) -> str:
        return str(self.json["error"]["code"])


class OverSocket(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=30)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(30)
        self.sock.connect(self._path)


class Person:
    """A signed-in person."""

    def __init__(self, program: Program, cookie: str, key: str) -> None:
        self.program = program
        self.headers = {"Cookie": cookie, "Assent-Key": key}

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> Answer:
        return self.program.ask(method, path, body, headers={**self.headers, **headers})

    def held(self, count: int = 1) -> list[dict[str, Any]]:
        """The held questions, once there are so many."""
        until = time.monotonic() + 10
        while time.monotonic() < until:
            found: list[dict[str, Any]] = self.ask("GET", "/v1/held").json["held"]
            if len(found) >= count:
                return found
            time.sleep(0.02)
        raise AssertionError(f"there are not {count} questions")

    def held_in(self, session: str) -> dict[str, Any]:
        """The question of a session, once there is one."""
        until = time.monotonic() + 10
        while time.monotonic() < until:
            for each in self.ask("GET", "/v1/held").json["held"]:
                if each["call"]["session"] == session:
                    return dict(each)
            time.sleep(0.02)
        raise AssertionError(f"no question of {session} waits")

    def offers(self) -> list[dict[str, Any]]:
        """The open offers, as a page receives them when it opens."""
        stream = http.client.HTTPConnection("127.0.0.1", self.program.port, timeout=20)
        stream.request("GET", "/v1/events", headers=self.headers)
        told = next(line for line in stream.getresponse() if line.startswith(b"data: "))
        stream.close()
        found: list[dict[str, Any]] = json.loads(told[6:])["offers"]
        return found

    def answer(self, question: dict[str, Any], said: str = "allow", **more: object) -> Answer:
        body = {"digest": question["digest"], "said": said, **more}
        return self.ask("POST", f"/v1/held/{question['id']}/answer", body)


class Program:
    """One server over a state folder of its own."""

    def __init__(
        self,
        folder: Path,
        *,
        config: str = "",
        options: tuple[str, ...] = (),
        project: str = "project",
        state: str = "state",
        impatient: bool = False,
        crowded: bool = False,
    ) -> None:
        self.state = folder / state
        self.project = folder / project
        for each in (self.state, self.project / "src"):
            each.mkdir(parents=True, exist_ok=True)
        if config:
            (self.state / "config.toml").write_text(config)
        self.environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "ASSENT_HOME": str(self.state), "TERM": "dumb"}
        self.module = "tests.server.impatient" if impatient else "tests.server.crowded" if crowded else "assent"
        self.paths = PATHS if impatient or crowded else {}
        self.options = options
        self.seen = ""
        self.pool = ThreadPoolExecutor(128)
        self.start()

    def start(self) -> None:
        self.terminal, inner = pty.openpty()
        command = [sys.executable, "-m", self.module, "serve", "--port", "0", *self.options]
        self.process = subprocess.Popen(
            command,
            stdin=inner,
            stdout=inner,
            stderr=inner,
            env=self.environ | self.paths,
            cwd=self.project,
            start_new_session=True,
        )
        os.close(inner)
        self.seen = ""
        found = self.expect(LISTENS)
        self.expect(READY)
        self.port, self.socket, self.mode = int(found[1]), found[2], found[3]
        self.address = f"http://127.0.0.1:{self.port}"

    def expect(self, pattern: re.Pattern[str], seconds: float = 20.0) -> re.Match[str]:
        """Wait for the terminal to show something."""
        until = time.monotonic() + seconds
        while (found := pattern.search(self.seen)) is None:
            ready, _, _ = select.select([self.terminal], [], [], max(0, until - time.monotonic()))
            if not ready:
                raise AssertionError(f"the terminal does not show {pattern.pattern!r}, but {self.seen!r}")
            try:
                self.seen += os.read(self.terminal, 65536).decode(errors="replace")
            except OSError:
                raise AssertionError(f"the server ended: {self.seen}") from None
        return found

    def code(self) -> str:
        """A fresh code, as Enter shows it in the server's terminal."""
        while select.select([self.terminal], [], [], 0.1)[0]:
            os.read(self.terminal, 65536)  # codes that other events showed are void by then
        self.seen = ""
        os.write(self.terminal, b"\n")
        return self.expect(CODE)[1]

    def stop(self, how: int = signal.SIGTERM) -> None:
        if self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(30)
        os.close(self.terminal)

    # Clients

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        headers: dict[str, str] | None = None,
        unix: bool = False,
        raw: bytes | None = None,
    ) -> Answer:
        """One request, on TCP or over the socket."""
        connection = OverSocket(self.socket) if unix else http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        given = dict(headers or {})
        if body is not None:
            raw = json.dumps(body).encode()
        if raw is not None:
            given.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, path, raw, given)
            answer = connection.getresponse()
            return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def call(self, command: str, *, wait: float = 30, session: str = "s1", **more: object) -> Answer:
        """Submit a shell command as an agent's hook does."""
        where = str(self.project)
        body: dict[str, object] = {"tool": "bash", "input": {"command": command}, "cwd": where, "project": where}
        body |= {"session": session, "runtime": "claude", "wait": wait, **more}
        return self.ask("POST", "/v1/calls", body, unix=True)

    def calling(self, command: str, **more: Any) -> Future[Answer]:
        """The same, in the background."""
        return self.pool.submit(lambda: self.call(command, **more))

    def records(self, **fields: Any) -> list[dict[str, Any]]:
        """What the trail has of something."""
        lines = (self.state / "audit/permissions.jsonl").read_text().splitlines()
        found = [json.loads(line) for line in lines]
        return [each for each in found if all(each.get(name) == value for name, value in fields.items())]

    def clear(self) -> None:
        """End everything that waits or is offered."""
        person = self.sign_in()
        for question in person.ask("GET", "/v1/held").json["held"]:
            person.answer(question, "deny")
        for offer in person.offers():
            person.ask("POST", "/v1/offers", {"id": offer["id"]})

    def held_now(self) -> int:
        """How many questions wait."""
        return int(self.ask("GET", "/v1/status", unix=True).json["held"])

    def sign_in(self) -> Person:
        answer = self.ask("POST", "/v1/session", {"code": self.code()})
        assert answer.status == 200, answer.raw
        return Person(self, answer.headers["set-cookie"].split(";")[0], answer.json["key"])

    @property
    def token(self) -> str:
        return (self.state / "caller.token").read_text()
