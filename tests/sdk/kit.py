"""Shared by the tests of all adapters: a script for a model, a person who answers, a gate, and a host.

A host is one framework with an agent that has the tools `run` (a shell command) and `look` (at a file). Nothing is
really executed: what ran is noted."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from assent import Answer, Gate, Held, Said, Session, Tool
from assent.sdk.tool_guard import Sessions

# What the gate of these tests makes of a command.
ALLOWED = "ls -la"
WRITES = "touch made"  # allowed too, where it can be recorded
ASKED = "make it"
ASKED_TOO = "make that"
DENIED = "rm -rf ~"
TOOLS: dict[str, Tool | str] = {"run": "bash", "look": Tool("read", paths=["target"]), "delegate": Tool("nothing")}


@dataclass(frozen=True)
class Use:
    """One tool call that the model makes. Its id is like that of another run, as with some models."""

    command: str
    id: str = "call_1"


@dataclass
class Ran:
    """The result of a run: the commands that ran, and what the model was told for each call, by its id."""

    commands: list[str] = field(default_factory=list)
    told: dict[str, str] = field(default_factory=dict)


class Person:
    """Who is asked. Answers after a moment, by what the command is; what has no answer waits."""

    def __init__(self, answers: dict[str, Answer | bool] | None = None, *, after: float = 0.02) -> None:
        self.answers = answers or {}
        self.after = after
        self.asked: list[str] = []
        self.at_once = 0
        self.most = 0
        self.shown = asyncio.Event()
        self.fault: Exception | None = None

    async def __call__(self, held: Held) -> Answer | bool | None:
        command = str(held.call.input.get("command", ""))
        self.asked.append(command)
        self.shown.set()
        if self.fault is not None:
            raise self.fault
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        try:
            await asyncio.sleep(self.after)
            if command not in self.answers:
                await asyncio.Event().wait()
            return self.answers[command]
        finally:
            self.at_once -= 1


def no(message: str) -> Answer:
    return Answer(Said.DENY, message=message, who="ada", channel="test")


def stop(message: str) -> Answer:
    return Answer(Said.STOP, message=message, who="ada", channel="test")


class Host(ABC):
    """One framework."""

    name: ClassVar[str]
    rewrites: ClassVar[bool] = True  # something else in the framework can change the arguments of a call

    @abstractmethod
    async def run(
        self,
        session: Sessions,
        turns: Sequence[Sequence[Use]],
        *,
        nested: bool = False,
        rewrite: Callable[[str], str] | None = None,
    ) -> Ran:
        """Run an agent behind the gate whose model calls these tools, turn by turn.

        `nested`: the calls are those of an agent within it. `rewrite`: something else changes the command first."""


class Durable(ABC):
    """A framework whose runs can pause. Every step has a gate of its own, as in another process, and passes on only
    text and files in `folder`."""

    name: ClassVar[str]

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @abstractmethod
    async def start(self, session: Session, uses: Sequence[Use], *, seconds: float = 3600.0) -> list[dict[str, Any]]:
        """Run until the questions."""

    @abstractmethod
    async def resume(self, session: Session, answers: list[dict[str, Any]], *, bare: bool = False) -> Ran:
        """Resume the stored run with these answers. `bare`: with the framework's own yes instead."""

    @abstractmethod
    def tamper(self, old: str, new: str) -> None:
        """Change a command in the stored run."""


def opened(folder: Path, **given: Any) -> Gate:
    (folder / "project").mkdir(exist_ok=True)
    settings = {"files": False, "mode": "auto", "state": str(folder / "state"), "channels": ["nobody"], "tools": TOOLS}
    return Gate(str(folder / "project"), **{**settings, **given})
