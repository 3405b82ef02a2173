"""Words and short forms for what the inbox shows. All foreign text comes out inert; draws nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping

from assent.agents.capabilities import NAMES
from assent.contract import words
from assent.contract.approval import Ending, Held, Said, Scope
from assent.contract.display import code, for_terminal, visible


def flat(text: str, limit: int = 0) -> str:
    """Foreign text as code on one line, its end cut off where it is long."""
    shown = for_terminal(code(text[: limit * 4 + 400] if limit else text)).replace("\n", "⏎")
    return shown if not limit or len(shown) <= limit else f"{shown[: limit - 1]}…"


def prose(text: str) -> str:
    """A sentence that may hold foreign text."""
    return for_terminal(visible(text))


def runtime(name: str) -> str:
    return NAMES.get(name) or words.CALLERS.get(name) or flat(name, 30) or "an agent"


def folder(path: str) -> str:
    return flat(path.rstrip("/").rpartition("/")[2], 40)


def within(path: str, project: str) -> str:
    """A path as seen from the project that it lies in."""
    return path.removeprefix(f"{project}/") if project else path


def title(held: Held) -> str:
    return words.VERBS.get(held.decision.tool) or f"wants to use {flat(held.call.tool, 40)}"


def headline(held: Held, limit: int = 160) -> str:
    """The one line by which a call is told apart from others."""
    given = held.call.input
    for name in words.TELLING:
        value = given.get(name)
        if isinstance(value, str) and value:
            return flat(within(value, held.project), limit)
        if isinstance(value, list | tuple) and value:
            return flat(" ".join(str(each) for each in value), limit)
    return flat(as_json(given), limit) if given else flat(held.call.tool, limit)


def as_json(given: Mapping[str, object]) -> str:
    return json.dumps(given, indent=2, ensure_ascii=False, default=str)


def clock(seconds: float) -> str:
    """Seconds that are left, short."""
    left = max(0, int(seconds + 0.999))
    if left >= 600:
        return f"{left // 60}m"
    return f"{left // 60}:{left % 60:02}" if left >= 60 else f"{left}s"


def plural(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def ending(how: Ending, said: Said | None, scope: Scope, allowed: bool) -> str:
    """How a question ended, for the person."""
    if how is Ending.ANSWERED:
        if allowed or said is None:
            said = Said.ALLOW if allowed else Said.DENY
        return words.of_answer(said, scope)
    told = words.of_ending(how)
    return told if how is Ending.SETTLED and allowed else f"{told}; it did not run"


def next_step(code: str) -> str:
    """What to do after an answer that did not count, by the server's code."""
    return {
        "late": "if it should still run, tell the agent to try again",
        "unknown": "if it should still run, tell the agent to try again",
        "mismatch": "",
        "not-whole": "",
        "absent": "",
        "not-allowed": "you are signed out: sign in, then answer again",
    }.get(code, "it may still wait: look at it, and answer again")
