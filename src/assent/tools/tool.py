"""What a guarded tool is: its schema, its risk, the call that the gate judges, and the work after a yes.

Asks nobody. A tool looks first (`prepare`), the gate judges the call that this gives, only then the work is done."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Protocol

from assent.contract import Value
from assent.contract.approval import Verdict
from assent.tools.versions import Versions

Given = Mapping[str, Any]


class Risk(StrEnum):
    """The worst that a tool does by itself."""

    READ = "read"
    WRITE = "write"
    EXECUTE = "execute"


class Problem(Exception):
    """Why a tool cannot do what it was told. The text is for the model, and says what to do."""


class Result(Value):
    """What a call came to. `error`: it was refused or failed, and the text says why. `verdict` is the gate's, None
    where the call did not come that far."""

    __slots__ = ("text", "error", "verdict")

    def __init__(self, text: str, error: bool = False, verdict: Verdict | None = None) -> None:
        self.text = text
        self.error = error
        self.verdict = verdict


class Stop:
    """Tells work that goes on in a thread that nobody wants it any more."""

    def __init__(self) -> None:
        self._told = threading.Event()

    def set(self) -> None:
        self._told.set()

    def __bool__(self) -> bool:
        return self._told.is_set()


class Judging(Protocol):
    """How a tool asks whether a file may be read without asking a person."""

    def __call__(self, path: str) -> bool: ...


class Bench:
    """Where the tools of one agent work: its folder, what it has read so far, the environment of its commands."""

    def __init__(self, folder: str, environ: Mapping[str, str], readable: Judging) -> None:
        self.folder = folder
        self.environ = environ
        self.readable = readable
        self.versions = Versions()
        self.changing = threading.Lock()  # between the last look at a file and its replacement


class Job(Protocol):
    """A call that a tool has looked at: what the gate judges, and the work.

    `problem` speaks against doing it, whatever the gate says. The model is told of it only where the gate would not
    deny the call, so that it learns nothing of files that are closed to it."""

    input: dict[str, object]
    problem: str

    def run(self, stop: Stop) -> Result: ...


class Guarded:
    """One tool."""

    name: str
    risk: Risk
    description: str
    properties: dict[str, dict[str, object]]
    required: tuple[str, ...]

    def prepare(self, bench: Bench, given: Given) -> Job:
        """Look at a call. Raises Problem where it makes no sense."""
        raise NotImplementedError
