"""A project with a policy and a model to ask, and the whole path of a call through them. Tests nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from assent.contract import Call, Decision
from assent.engine import configure
from assent.engine.engine import Engine, Request
from assent.engine.memory import Memory
from assent.gate import CallGate
from tests.classifier.service import Service


class World:
    """A project, a state folder, and a memory that settles calls. `policy` is the user's file before the model's."""

    def __init__(self, folder: Path, service: Service, policy: str = 'mode = "default"\n', **backend: object) -> None:
        self.service = service
        self.project, self.state = folder / "project", folder / "state"
        self.project.mkdir(exist_ok=True)
        self.state.mkdir(mode=0o700, exist_ok=True)
        self.environ = {"HOME": str(folder), "ASSENT_HOME": str(self.state)}
        self.configure(policy, **backend)
        self.memory = Memory(str(self.state))

    def configure(self, policy: str, **backend: object) -> None:
        self.config = policy + self.service.config(**backend)  # type: ignore[arg-type]  # as a file would have it
        (self.state / "config.toml").write_text(self.config)

    def gate(self) -> Engine:
        return configure.open_gate(configure.place(str(self.project), self.environ), self.environ)[0]

    def call(
        self, given: str | dict[str, object], tool: str = "bash", *, session: str = "s1", description: str = ""
    ) -> Call:
        body = {"command": given} if isinstance(given, str) else given
        root = str(self.project)
        home = self.environ["HOME"]
        return Call(
            tool, body, cwd=root, roots=(root,), home=home, session=session, shell="bash", description=description
        )

    def settle(self, given: str | dict[str, object], tool: str = "bash", **more: Any) -> Decision:
        """The decision on a call after everything but a person."""
        headless, host_mode = more.pop("headless", False), more.pop("host_mode", "")
        call = self.call(given, tool, **more)
        request = Request(
            self.gate(), call, str(self.project), headless=headless, host_mode=host_mode, reopen=self.gate
        )
        return CallGate(self.memory).decide(request).judged.decision

    def outcome(self, given: str | dict[str, object], tool: str = "bash", **more: Any) -> tuple[str, str]:
        decision = self.settle(given, tool, **more)
        return decision.outcome.word, decision.code

    def records(self) -> list[dict[str, Any]]:
        lines = (self.state / "audit" / "permissions.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def close(self) -> None:
        self.memory.close()
