"""Words and short forms for what the inbox shows. All foreign text comes out inert; draws nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping

from assent.contract.approval import Ending, Held, Said, Scope
from assent.contract.display import code, for_terminal, visible

SCOPE_WORDS = {
    Scope.ONCE: "once",
    Scope.QUARTER: "for 15 minutes",
    Scope.SESSION: "for this session",
    Scope.PROJECT: "always in this project",
    Scope.EVERYWHERE: "always and everywhere",
}
VERBS = {
    "bash": "wants to run a command",
    "write": "wants to change a file",
    "delete": "wants to delete a file",
    "move": "wants to move a file",
    "read": "wants to read a file",
    "fetch": "wants to fetch from the web",
    "agent": "wants to start another agent",
    "search": "wants to search",
    "list": "wants to list files",
}
RUNTIMES = {
    "claude": "Claude Code",
    "claude-code": "Claude Code",
    "codex": "Codex",
    "gemini": "Gemini CLI",
    "gemini-cli": "Gemini CLI",
    "opencode": "opencode",
    "openharness": "OpenHarness",
    "qwen-code": "Qwen Code",
    "copilot-cli": "Copilot CLI",
    "cursor": "Cursor",
    "cline": "Cline",
    "python": "Python agent",
    "example": "An example agent",
    "assent": "assent run",
    "assent-tools": "Agent",
}
ENDINGS = {
    Ending.SETTLED: "settled by what you allowed before",
    Ending.EXPIRED: "expired: nobody answered in time",
    Ending.UNSEEN: "nobody could see it",
    Ending.DISMISSED: "put away",
    Ending.UNANSWERED: "the agent program did not tell what was answered",
    Ending.LOST: "lost: the place that showed it went away",
    Ending.CANCELLED: "the agent took it back",
    Ending.CHANGED: "it changed after it was shown",
    Ending.OVERRULED: "the rules deny it by now",
    Ending.FAULT: "something broke",
    Ending.CLOSED: "the server was stopped",
}
# The fields of a tool's input that tell a call from others, the first that is there.
TELLING = ("command", "cmd", "file_path", "path", "url", "query", "pattern", "subagent_type", "prompt")


def flat(text: str, limit: int = 0) -> str:
    """Foreign text as code on one line, its end cut off where it is long."""
    shown = for_terminal(code(text[: limit * 4 + 400] if limit else text)).replace("\n", "⏎")
    return shown if not limit or len(shown) <= limit else f"{shown[: limit - 1]}…"


def prose(text: str) -> str:
    """A sentence that may hold foreign text."""
    return for_terminal(visible(text))


def runtime(name: str) -> str:
    return RUNTIMES.get(name) or flat(name, 30) or "an agent"


def folder(path: str) -> str:
    return flat(path.rstrip("/").rpartition("/")[2], 40)


def within(path: str, project: str) -> str:
    """A path as seen from the project that it lies in."""
    return path.removeprefix(f"{project}/") if project else path


def title(held: Held) -> str:
    return VERBS.get(held.decision.tool) or f"wants to use {flat(held.call.tool, 40)}"


def headline(held: Held, limit: int = 160) -> str:
    """The one line by which a call is told apart from others."""
    given = held.call.input
    for name in TELLING:
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
        if allowed:
            return f"allowed {SCOPE_WORDS[scope]}"
        return "denied, and the agent is told to stop" if said is Said.STOP else "denied"
    if how is Ending.SETTLED and allowed:
        return ENDINGS[how]
    return f"{ENDINGS.get(how, how.value)}; it did not run"


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
