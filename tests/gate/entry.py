"""The actions of every entry to the gate in a play: make a call, show its question, answer it, take it back.

A play has a state folder and a project folder of its own. Tests nothing."""

from __future__ import annotations

import asyncio
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Self

from assent.engine.memory import getuser
from tests.classifier.service import Service

PATIENCE = 20.0  # seconds, for a machine that has much else to do
SESSION = "play-session"
SCRIPT = "build.sh"
DENIED = "make never"  # does no harm in a folder without a Makefile, should it ever run


class Scratch:
    """The folders of one play, its configuration, its trail and its model."""

    def __init__(self, folder: Path, service: Service) -> None:
        self.home = folder
        self.project, self.state = folder / "project", folder / "state"
        self.project.mkdir()
        self.state.mkdir(mode=0o700)
        self.service = service
        self.timeout = 60
        self.environ = {"HOME": str(folder), "ASSENT_HOME": str(self.state)}

    def configure(self, *deny: str, timeout: int = 60, unseen: int = 60, classifier: bool = False) -> None:
        """Write the user's configuration file."""
        self.timeout = timeout
        rules = json.dumps([f"bash({DENIED})", *deny])
        text = f'mode = "default"\ndeny = {rules}\n[approval]\ntimeout = {timeout}\nunseen = {unseen}\n'
        (self.state / "config.toml").write_text(text + (self.service.config() if classifier else ""))

    def trail(self) -> list[dict[str, Any]]:
        """The records of the play, without those of sign-ins."""
        path = self.state / "audit" / "permissions.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return [each for each in map(json.loads, lines) if each["kind"] != "event"]


class Entry(ABC):
    """One way for a call to reach the gate, with the person who is asked there.

    `person`: somebody is there to answer. `channel` and `who` are recorded in the trail with that person's answers."""

    name: ClassVar[str]
    channel: ClassVar[str]
    tool: ClassVar[str] = "bash"
    runtime: ClassVar[str]
    who: ClassVar[str] = getuser()
    declares: ClassVar[bool] = False  # the tool is one that the program declares

    def __init__(self, scratch: Scratch, *, person: bool = True) -> None:
        self.scratch = scratch
        self.person = person

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close what was opened."""
        return

    @abstractmethod
    async def call(self, command: str) -> bool:
        """Make a call, and wait for what comes of it: whether it runs."""

    @abstractmethod
    async def shown(self) -> None:
        """Wait until a question is before the person."""

    @abstractmethod
    async def say(self, yes: bool, *, session: bool = False) -> None:
        """Answer the question that is shown. `session`: for the session, by the first rule that is suggested, if the
        person can say that here; otherwise a plain yes."""

    async def cancel(self, calling: asyncio.Task[bool]) -> None:
        """Take a call back whose question is shown."""
        calling.cancel()
        await asyncio.wait({calling})


async def until(holds: Callable[[], object], what: str) -> None:
    """Wait for something to hold."""
    end = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not happen in {PATIENCE:.0f} seconds")
        await asyncio.sleep(0.01)
