"""Assent in a sandbox: its policy, its hook in a program's settings, its server and its trail. Tests nothing."""

from __future__ import annotations

import json
import os
import pty
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from assent.agents import settings
from assent.agents.settings.entry import HookEntry
from tests.server.program import LISTENS, READY, Answer, Person, Program

from .client import Client
from .sandbox import Sandbox

PYTHON = (sys.executable, "-I")


def runtime(client: Client) -> str:
    """Our name for the program: both forms of Codex have the same."""
    return client.name.partition("-")[0]


class Gate:
    """Assent for one sandbox. The policy is the user's own file; the project is trusted like any other folder."""

    def __init__(self, place: Sandbox, policy: str = "") -> None:
        self.place = place
        self.state = place.home / ".assent"
        self.state.mkdir(mode=0o700)
        self.policy(policy)

    def policy(self, text: str) -> None:
        (self.state / "config.toml").write_text(text)

    def install(self, client: Client, scope: str = "user") -> None:
        """Put the hook into settings of the program, by the command that people use."""
        words = [*PYTHON, "-m", "assent", "install", runtime(client), "--no-policy", "--scope", scope]
        ended = self.place.run(words, deadline=60)
        # The interpreter may lie where only root reads; the programs here run as root.
        closed = scope == "managed" and "WARNING: other users cannot read" in ended.stderr
        assert ended.status == (1 if closed else 0), ended.stderr

    def wire(self, client: Client, *, start: Sequence[str] = PYTHON, timeout: int = 60, deadline: int = 50) -> Path:
        """The same with other times, or another interpreter; `timeout` is the program's own limit."""
        name = runtime(client)
        known = settings.load(name)
        file = Path(known.places["user"].replace("~", str(self.place.home)))
        words = (*start, "-m", "assent", "hook", name, "--home", str(self.state), "--deadline", str(deadline))
        text = file.read_text() if file.exists() else ""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(known.install(text, HookEntry(words, timeout, file=str(file))))
        return file

    def protected(self, client: Client) -> list[Path]:
        """The files that no agent may change."""
        settled = settings.load(runtime(client)).places["user"]
        return [Path(settled.replace("~", str(self.place.home))), self.state / "config.toml", self.state / "bin/assent"]

    def records(self, kind: str) -> list[dict[str, Any]]:
        """The lines of the trail of one kind: `decision` or `answer`."""
        file = self.state / "audit" / "permissions.jsonl"
        lines = file.read_text().splitlines() if file.exists() else []
        return [each for each in map(json.loads, lines) if each["kind"] == kind]


class Server(Program):
    """`assent serve` in the network of a sandbox, over Assent's folder there."""

    def __init__(self, gate: Gate) -> None:
        self.place = gate.place
        self.state, self.project = gate.state, gate.place.project
        self.environ = gate.place.environment()
        self.options = ()
        self.pool = ThreadPoolExecutor(4)
        self.start()

    def start(self) -> None:
        self.terminal, inner = pty.openpty()
        words = [*PYTHON, "-m", "assent", "serve", "--port", "0"]
        self.process = self.place.start(words, stdin=inner, stdout=inner, stderr=inner)
        os.close(inner)
        self.seen = ""
        found = self.expect(LISTENS)
        self.expect(READY)
        self.port, self.socket, self.mode = int(found[1]), found[2], found[3]
        self.pid = int(super().ask("GET", "/v1/status", unix=True).json["pid"])  # as those see it who run beside it

    def ask(self, *words: Any, **named: Any) -> Answer:
        asking: Callable[..., Answer] = super().ask
        return self.place.network.inside(lambda: asking(*words, **named))

    def kill(self) -> None:
        """End it as a crash would: no question is answered, no file is tidied up."""
        if self.process in self.place.started:
            self.place.stop(self.process)

    def close(self) -> None:
        self.kill()
        os.close(self.terminal)
        self.pool.shutdown(cancel_futures=True)


class Answering:
    """A person who answers one question after the other, as a test wrote down; `seen` are the questions."""

    def __init__(self, person: Person, answer: Callable[[dict[str, Any]], dict[str, Any] | None]) -> None:
        self.seen: list[dict[str, Any]] = []
        self._person, self._answer = person, answer
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def _work(self) -> None:
        done: set[str] = set()
        while not self._over.wait(0.1):
            for question in self._held():
                if question["id"] in done:
                    continue
                done.add(question["id"])
                self.seen.append(question)
                said = self._answer(question)
                if said is not None:
                    self._person.answer(question, **said)

    def _held(self) -> list[dict[str, Any]]:
        try:
            found: list[dict[str, Any]] = self._person.ask("GET", "/v1/held").json["held"]
        except OSError:  # the server is gone
            return []
        return found

    def close(self) -> None:
        self._over.set()
        self._thread.join()


@contextmanager
def serving(gate: Gate) -> Iterator[Server]:
    server = Server(gate)
    try:
        yield server
    finally:
        server.close()


@contextmanager
def answering(server: Server, answer: Callable[[dict[str, Any]], dict[str, Any] | None]) -> Iterator[Answering]:
    person = Answering(server.sign_in(), answer)
    try:
        yield person
    finally:
        person.close()


def until(seen: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not seen():
        if time.monotonic() > end:
            raise AssertionError(f"not seen within {seconds} s")
        time.sleep(0.1)
