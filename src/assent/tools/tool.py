"""Defines guarded tools: the schema, the risk, the call that the gate judges, and the work to do after a yes.

A tool first checks a call (`prepare`), the gate judges the call that this gives, and only then the work is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from threading import Event, Lock
from typing import Any

from assent.contract.approval import Verdict

Given = Mapping[str, Any]
MOST_FILES = 2000  # whose version is remembered
KINDS: dict[str, type] = {"string": str, "integer": int, "boolean": bool}


class Problem(Exception):
    """Why a tool cannot do what was asked. The text is for the model, and says what to do."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a call. `error`: it was refused or failed, and the text says why. `verdict` is the gate's, None if
    the call did not reach it."""

    text: str
    error: bool = False
    verdict: Verdict | None = None


class Versions:
    """Which version of each file an agent has read, by the hash of its bytes. Safe for threads. The oldest are
    forgotten first: they only have to be read again."""

    def __init__(self) -> None:
        self._digests: dict[str, bytes] = {}
        self._lock = Lock()

    def add(self, path: str, raw: bytes) -> None:
        with self._lock:
            self._digests.pop(path, None)
            self._digests[path] = sha256(raw).digest()
            while len(self._digests) > MOST_FILES:
                del self._digests[next(iter(self._digests))]

    def __contains__(self, path: str) -> bool:
        return path in self._digests

    def is_current(self, path: str, raw: bytes) -> bool:
        return self._digests.get(path) == sha256(raw).digest()


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What the tools of one agent share. `readable` says whether a file may be read without asking a person."""

    folder: str
    environ: Mapping[str, str]
    readable: Callable[[str], bool]
    versions: Versions = field(default_factory=Versions)
    changing: Lock = field(default_factory=Lock)  # held from the last check of a file to its replacement


@dataclass(frozen=True, slots=True)
class ToolJob:
    """A call that a tool has checked: the arguments that the gate judges, and the work, which ends early once its
    event is set.

    `problem` prevents the work, whatever the gate says. The model gets it only if the gate would not deny the call, so
    that it learns nothing about files that are closed to it. `contained` returns the work for another command, which
    runs the call contained."""

    input: dict[str, object]
    work: Callable[[Event], Result]
    problem: str = ""
    contained: Callable[[str], Callable[[Event], Result]] | None = None


class GuardedTool:
    """One tool. `risk` is the worst that it does by itself: read, write or execute."""

    name: str
    risk: str
    description: str
    properties: dict[str, dict[str, Any]]
    required: tuple[str, ...]

    def prepare(self, context: ToolContext, given: Given) -> ToolJob:
        """Check a call. Raises Problem if it makes no sense."""
        raise NotImplementedError

    def schema(self) -> dict[str, object]:
        required = list(self.required)
        return {"type": "object", "properties": self.properties, "required": required, "additionalProperties": False}

    def check(self, given: object) -> Given:
        """The arguments, with nothing missing and nothing else. An argument that is null is absent. Raises Problem."""
        if not isinstance(given, dict) or not all(isinstance(key, str) for key in given):
            raise Problem(f"`{self.name}` takes an object of arguments")
        found = {key: value for key, value in given.items() if value is not None}
        if unknown := [key for key in found if key not in self.properties]:
            raise Problem(f"`{self.name}` has no argument `{unknown[0]}`; it takes {', '.join(self.properties)}")
        if missing := [key for key in self.required if key not in found]:
            raise Problem(f"`{self.name}` needs `{missing[0]}`")
        for key, value in found.items():
            _check(f"`{key}` of `{self.name}`", value, self.properties[key])
        return found


def _check(label: str, value: object, shape: Mapping[str, Any]) -> None:
    kind = shape["type"]
    if not isinstance(value, KINDS[kind]) or (kind != "boolean" and isinstance(value, bool)):
        raise Problem(f"{label} is {'an' if kind == 'integer' else 'a'} {kind}")
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:  # it cannot be written, nor shown to a person as it is
            raise Problem(f"{label} holds half a character") from None
    low, high = shape.get("minimum"), shape.get("maximum")
    if isinstance(value, int) and ((low is not None and value < low) or (high is not None and value > high)):
        raise Problem(f"{label} is between {low} and {high}")
