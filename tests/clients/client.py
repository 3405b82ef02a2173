"""The interface to the agent programs: a script goes in, and the program's actions come out. Each has its own file.

The harness's own settings (the model's address, no telemetry) go by environment and arguments, so that the user's and
the project's settings files hold what a test, or `assent install`, wrote there, and nothing else."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from .model import Call, Model, Request, Say, Step, Turn
from .programs import Programs
from .sandbox import NOTHING, Sandbox
from .terminal import Terminal, terminal

DEADLINE = 90.0
PROMPT = "do as the script says"
SUB_PROMPT = "do your part of it"


@dataclass(frozen=True)
class Hook:
    """A shell command that the host asks before a tool runs, its limit there in seconds, more keys of its entry."""

    command: str
    timeout: float = 20.0
    more: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """The result of a headless run.

    `told`, `told_sub`: the tool results that the model, and that a sub-agent, read. `changed`: files of the project
    that were made or changed, and None for those removed."""

    status: int | None
    stdout: str
    stderr: str
    seconds: float
    told: list[str]
    told_sub: list[str]
    requests: list[Request]
    changed: dict[str, str | None]


class Client(ABC):
    """One agent program, and the words its model uses for things that all of them can do."""

    name: ClassVar[str]
    loose: ClassVar[tuple[str, ...]] = ()  # arguments for the mode that asks nobody: only a hook is in the way
    trust: ClassVar[tuple[str, ...]] = ()  # arguments without which it passes over a hook that `hook` wrote

    def __init__(self, programs: Programs) -> None:
        self.programs = programs

    @abstractmethod
    def shell(self, command: str) -> Call:
        """The call that runs a shell command."""

    @abstractmethod
    def write(self, path: Path, content: str) -> Call:
        """The call that makes a file with the host's own tool."""

    @abstractmethod
    def edit(self, path: Path, old: str, new: str) -> list[Step]:
        """The turns that change one line of a file with the host's own tool."""

    @abstractmethod
    def delegate(self) -> list[Step]:
        """The turns that start a sub-agent and wait for its end. It follows the script `sub`."""

    def report(self, text: str) -> Turn:
        """The last turn of a sub-agent."""
        return Say(text)

    @abstractmethod
    def mcp(self, server: str, tool: str, arguments: Mapping[str, object]) -> Call:
        """The call of a tool of an MCP server."""

    @abstractmethod
    def hook(self, sandbox: Sandbox, hook: Hook) -> None:
        """Write the hook into the user's settings, for every tool."""

    @abstractmethod
    def words(self, sandbox: Sandbox, url: str, servers: Mapping[str, Sequence[str]]) -> list[str]:
        """How to start it headless, short of the prompt; `servers` are MCP servers by name."""

    @abstractmethod
    def attended_words(self, sandbox: Sandbox, url: str) -> list[str]:
        """How to start it before a person who has answered its first questions, short of the prompt."""

    def asking(self) -> list[str]:
        """The words with which it takes the prompt headless."""
        return [PROMPT]

    def opening(self) -> list[str]:
        """The words with which it takes the prompt before a person."""
        return [PROMPT]

    @abstractmethod
    def environment(self, sandbox: Sandbox, url: str, servers: Mapping[str, Sequence[str]]) -> dict[str, str]:
        """What it must find in its environment: the model's address, no telemetry, no updates."""

    def run(
        self,
        sandbox: Sandbox,
        script: Sequence[Step],
        *,
        sub: Sequence[Step] = (),
        args: Sequence[str] = (),
        servers: Mapping[str, Sequence[str]] | None = None,
        deadline: float = DEADLINE,
        patience: float = DEADLINE,
        more: Mapping[str, str] = NOTHING,
    ) -> Run:
        """Run it headless in the sandbox's project, with a model that follows the script.

        It is killed at the deadline, or after too long without a request to the model."""
        before = contents(sandbox.project)
        model = Model(sandbox.network, script, PROMPT, sub)
        try:
            words = [*self.words(sandbox, model.url, servers or {}), *args, *self.asking()]
            environment = self.environment(sandbox, model.url, servers or {})
            ended = sandbox.run(
                words, deadline=deadline, enough=lambda: model.silence() > patience, more={**environment, **more}
            )
        finally:
            model.close()
        changed = changes(before, contents(sandbox.project))
        told, told_sub = model.told(), model.told(sub=True)
        return Run(ended.status, ended.stdout, ended.stderr, ended.seconds, told, told_sub, model.requests, changed)

    @contextmanager
    def attended(
        self, sandbox: Sandbox, script: Sequence[Step], *, args: Sequence[str] = (), sub: Sequence[Step] = ()
    ) -> Iterator[tuple[Terminal, Model]]:
        """Run it before a person, for as long as the block lasts: a screen to read, keys to press."""
        model = Model(sandbox.network, script, PROMPT, sub)
        try:
            words = [*self.attended_words(sandbox, model.url), *args, *self.opening()]
            with terminal(sandbox, words, self.environment(sandbox, model.url, {})) as screen:
                yield screen, model
        finally:
            model.close()


def add_hook(settings: Path, event: str, group: Mapping[str, object]) -> None:
    """Add to the hooks in a settings file of the shape that Claude Code began, and others took up."""
    settings.parent.mkdir(exist_ok=True)
    known = json.loads(settings.read_text()) if settings.exists() else {}
    known.setdefault("hooks", {}).setdefault(event, []).append(group)
    settings.write_text(json.dumps(known))


def contents(folder: Path) -> dict[str, str]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_text(errors="replace") for path in found}


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str | None]:
    kept = {name: text for name, text in after.items() if before.get(name) != text}
    return kept | {name: None for name in before if name not in after}
