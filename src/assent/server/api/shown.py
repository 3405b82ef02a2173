"""What is sent to be shown: foreign text made visible on the server, the same for every surface. Sends nothing.

A browser gets text in which nothing hides; what goes back to us (ids, digests, offered rules) stays as it is."""

from __future__ import annotations

import calendar
import math
import time
from collections.abc import Mapping
from typing import Any

from assent.approval import wire
from assent.contract import display
from assent.contract.approval import Grant, Held, Resolution

# Text that reads as a sentence; all other text is shown as code is.
PROSE = frozenset({"description", "reason", "warnings", "message", "flip", "width", "words", "note"})
KEPT = frozenset({"id", "digest"})
LONGEST = 200_000  # characters of one text
INLINE = 100_000  # characters of a preview that come with the question; the rest is asked for
MOST = 300  # parts of a decision
EXACT = 2**53 - 1  # up to here a browser keeps whole numbers as they are


def safe(value: object, name: str = "") -> Any:
    """JSON data with every text made visible, names of fields included."""
    if isinstance(value, str):
        if name in KEPT:
            return value
        text = value if len(value) <= LONGEST else f"{value[:LONGEST]}…"
        return display.visible(text) if name in PROSE else display.code(text)
    if isinstance(value, Mapping):
        return _fields(value)
    if isinstance(value, list | tuple):
        return [safe(each, name) for each in value]
    if isinstance(value, int) and abs(value) > EXACT:
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _fields(value: Mapping[Any, object]) -> dict[str, Any]:
    """Two names that look the same once they are made visible are told apart: neither hides the other's value."""
    found: dict[str, Any] = {}
    for key, each in value.items():
        name = shown = display.code(str(key))
        number = 1
        while name in found:
            number += 1
            name = f"{shown} ({number})"
        found[name] = safe(each, str(key))
    return found


def question(held: Held, *, state: str, position: int = 0, deadline: float | None = None) -> dict[str, Any]:
    """A held call for a surface."""
    found: dict[str, Any] = safe(_bounded(wire.plain(held)))
    found["preview"]["text"] = display.code(held.preview.text[:INLINE])
    found["preview"]["sent"] = min(len(held.preview.text), INLINE)
    found["suggestions"] = [
        {"rules": list(each.rules), "shown": [display.code(rule) for rule in each.rules], "width": safe(each.width)}
        for each in held.suggestions
    ]
    return {**found, "state": state, "position": position, "deadline": deadline}


def piece(held: Held, start: int) -> dict[str, Any]:
    """The part of a preview that begins with this character, and where the next one begins (0: there is none)."""
    text = held.preview.text
    end = min(len(text), start + INLINE)
    return {"text": display.code(text[start:end]), "next": end if end < len(text) else 0, "whole": held.preview.whole}


def _bounded(plain: Any) -> dict[str, Any]:
    """A held call with as many parts of its decision as a person could look at. What is left out is counted."""
    decision = plain["decision"]
    left = max(0, len(decision["parts"]) - MOST)
    return {**plain, "decision": {**decision, "parts": decision["parts"][:MOST], "left": left}}


def ended(resolution: Resolution) -> dict[str, Any]:
    """How a question ended, for a surface."""
    answer = resolution.answer
    return {
        "id": resolution.id,
        "ending": resolution.ending.value,
        "allowed": resolution.allowed,
        "reason": display.visible(resolution.reason),
        "waited": resolution.waited,
        "said": answer.said.value if answer is not None else "",
        "scope": answer.scope.value if answer is not None else "",
        "who": display.visible(answer.who) if answer is not None else "",
        "channel": display.visible(answer.channel) if answer is not None else "",
    }


def grant(given: Grant) -> dict[str, Any]:
    """A remembered answer, for a surface."""
    found: dict[str, Any] = safe({name: getattr(given, name) for name in given.__slots__ if name != "scope"})
    return {**found, "scope": given.scope.value}


def entry(fields: Mapping[str, object]) -> dict[str, Any]:
    """A line of the trail, with its time in seconds since the epoch."""
    found: dict[str, Any] = safe(fields)
    milliseconds = found.pop("latency_ms", 0)
    latency = milliseconds / 1000 if isinstance(milliseconds, int | float) else 0.0
    return {**found, "time": seconds(str(fields.get("time", ""))), "latency": latency}


def seconds(text: str) -> float:
    """Seconds since the epoch of a time as the trail writes it; 0 where it is none."""
    whole, _, rest = text.partition(".")
    try:
        return calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) + float(f"0.{rest[:3] or 0}")
    except ValueError:
        return 0.0
