"""What the scripted model says, and what it was told. Knows no wire format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """A tool call that the model makes, in the words of the program that will run it."""

    tool: str
    arguments: Mapping[str, Any]
    group: str = ""  # Codex keeps some tools in named groups
    text: str = ""  # in place of arguments, for a tool that takes plain text


@dataclass(frozen=True)
class Say:
    """The model ends its turn with a text."""

    text: str


@dataclass(frozen=True)
class Use:
    """The model makes these calls at once, and waits for their results."""

    calls: tuple[Call, ...]

    def __init__(self, *calls: Call) -> None:
        object.__setattr__(self, "calls", calls)


Turn: TypeAlias = Say | Use
# A script may settle a turn only when it comes to it, from the tool results of the conversation so far.
Step: TypeAlias = Turn | Callable[[Sequence[str]], Turn]
ASIDE = Say('{"title": "the script"}')  # what it says to housekeeping, which mostly wants a title
OVER = Say("that is all")  # what a model says that has no turn left


@dataclass(frozen=True)
class Request:
    """One request of the program. `turn` is the one it was answered with, None for housekeeping.

    `sub`: it comes from a sub-agent. `results`: all tool results of its conversation so far."""

    path: str
    body: Json
    turn: Turn | None
    sub: bool
    results: tuple[str, ...]
