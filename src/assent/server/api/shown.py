"""Prepares foreign text for display: every hidden character is made visible, the same for every surface.

Values that a surface sends back to us (ids, digests, offered rules) stay unchanged."""

from __future__ import annotations

import calendar
import math
import time
from collections.abc import Mapping
from typing import Any

from assent.approval import wire
from assent.contract import display, keep
from assent.contract.approval import Grant, Held, Resolution

# Fields with sentences; all other text is shown as code.
PROSE = frozenset({"description", "reason", "warnings", "message", "flip", "width", "words", "note"})
KEPT = frozenset({"id", "digest"})
LONGEST = 200_000  # characters of one text
INLINE = 100_000  # characters of a preview that are sent with the question; the rest is requested
MOST = 300  # parts of a decision
MOST_READERS = 4096  # pairs of question and session; the oldest are forgotten, and have to be sent again
EXACT = 2**53 - 1  # the largest integer that a browser keeps exact


def safe(value: object, name: str = "") -> Any:
    """JSON data with hidden characters made visible in every text and field name."""
    if isinstance(value, str):
        if name in KEPT:
            return value
        text = value if len(value) <= LONGEST else f"{value[:LONGEST]}…"
        return display.visible(text) if name in PROSE else display.code(text)
    if isinstance(value, Mapping):
        return _fields(value)
    if isinstance(value, list | tuple):
        return [safe(each, name) for each in value]
    inexact = isinstance(value, int) and abs(value) > EXACT
    return str(value) if inexact or (isinstance(value, float) and not math.isfinite(value)) else value


def _fields(value: Mapping[Any, object]) -> dict[str, Any]:
    """Names that look the same after that are numbered, so that neither hides the other's value."""
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
    found: dict[str, Any] = safe(_bounded(wire.plain(held)))
    found["preview"]["text"] = display.code(held.preview.text[:INLINE])
    found["preview"]["sent"] = min(len(held.preview.text), INLINE)
    found["suggestions"] = [
        {"rules": list(each.rules), "shown": [display.code(rule) for rule in each.rules], "width": safe(each.width)}
        for each in held.suggestions
    ]
    return {**found, "state": state, "position": position, "deadline": deadline}


def piece(held: Held, start: int) -> dict[str, Any]:
    """The part of a preview from this character on, and where the next part begins (0: there is none)."""
    text = held.preview.text
    end = min(len(text), start + INLINE)
    return {"text": display.code(text[start:end]), "next": end if end < len(text) else 0, "whole": held.preview.whole}


def _bounded(plain: Any) -> dict[str, Any]:
    """A held call with the first parts of its decision. The others are counted."""
    decision = plain["decision"]
    left = max(0, len(decision["parts"]) - MOST)
    return {**plain, "decision": {**decision, "parts": decision["parts"][:MOST], "left": left}}


def ended(resolution: Resolution) -> dict[str, Any]:
    answer = resolution.answer
    given = (answer.said.value, answer.scope.value, answer.who, answer.channel) if answer is not None else ("",) * 4
    return {
        "id": resolution.id,
        "ending": resolution.ending.value,
        "allowed": resolution.allowed,
        "reason": display.visible(resolution.reason),
        "waited": resolution.waited,
        **dict(zip(("said", "scope", "who", "channel"), map(display.visible, given), strict=True)),
    }


def grant(given: Grant) -> dict[str, Any]:
    found: dict[str, Any] = safe({name: getattr(given, name) for name in given.__slots__ if name != "scope"})
    return {**found, "scope": given.scope.value}


def entry(fields: Mapping[str, object]) -> dict[str, Any]:
    """A line of the trail, with its time in seconds since the epoch."""
    found: dict[str, Any] = safe(fields)
    milliseconds = found.pop("latency_ms", 0)
    latency = milliseconds / 1000 if isinstance(milliseconds, int | float) else 0.0
    return {**found, "time": seconds(str(fields.get("time", ""))), "latency": latency}


def seconds(text: str) -> float:
    """Seconds since the epoch of a time in the trail; 0 for any other text."""
    whole, _, rest = text.partition(".")
    try:
        return calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) + float(f"0.{rest[:3] or 0}")
    except ValueError:
        return 0.0


class Readers:
    """How much of each long preview was sent to which signed-in session.

    INVARIANT: a session allows no call, on the page or in the inbox, unless all of it was sent to that session."""

    def __init__(self) -> None:
        self._sent: dict[tuple[str, str, str], int] = {}  # question, digest, session → characters without a gap

    def sent(self, held: Held, session: str, start: int, end: int) -> None:
        """A part was sent. It does not count if an earlier part is missing."""
        key = (held.id, held.digest, session)
        sent = self._sent.pop(key, INLINE)
        keep(self._sent, key, max(sent, end) if start <= sent else sent, MOST_READERS)

    def has_all(self, held: Held, session: str) -> bool:
        sent = self._sent.get((held.id, held.digest, session), INLINE)
        return held.preview.whole and sent >= held.preview.length
