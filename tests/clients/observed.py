"""How each host reads a hook's answers in its mode that asks nobody: facts about the hosts, not about Assent.

The tests check them against the pinned versions, so a changed behaviour shows when a version is updated."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping

from .model import Say

MAKE = "echo made-by-agent > made && cat made"  # the call in question
MADE = {"made": "made-by-agent\n"}
DONE = Say("all is done")
REASON = "the gate speaks"
RAN = "the call ran"
WAITS = "the call did not run, and the host waits for ever"
# Whatever else: what the model read, since the call did not run.
Outcome = str


def _claude(decision: str) -> str:
    return printed(
        {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": decision,
                "permissionDecisionReason": REASON,
            }
        }
    )


def _gemini(decision: str) -> str:
    return printed({"decision": decision, "reason": REASON, "systemMessage": REASON})


def printed(answer: Mapping[str, object]) -> str:
    """The command that answers with this JSON."""
    return f"echo {shlex.quote(json.dumps(answer))}"


FAILURES = {
    "exit 1": f"echo {REASON} >&2; exit 1",
    "exit 2": f"echo {REASON} >&2; exit 2",
    "exit 2 without a word": "exit 2",
    "killed": "kill -KILL $$",
    "garbage": "echo all is well",
    "silence": "true",
    "late": "sleep 5",  # the host's own limit is set to one second
    "missing": "/nowhere/gate",
}
DECISIONS = ("allow", "ask", "deny")
CLAUDE = {decision: _claude(decision) for decision in DECISIONS} | FAILURES
GEMINI = {decision: _gemini(decision) for decision in DECISIONS} | FAILURES
# The shell commands that answer, by host. Codex reads Claude Code's form.
ANSWERS = {"claude": CLAUDE, "codex": CLAUDE, "codex-code": CLAUDE, "gemini": GEMINI}

# Codex does the same where the call comes from its JavaScript.
CODEX: dict[str, Outcome] = {
    "allow": RAN,
    "ask": RAN,
    "deny": f"Command blocked by PreToolUse hook: {REASON}",
    "exit 1": RAN,
    "exit 2": f"Command blocked by PreToolUse hook: {REASON}",
    "exit 2 without a word": RAN,
    "killed": RAN,
    "garbage": RAN,
    "silence": RAN,
    "late": RAN,
    "missing": RAN,
}
COMMANDS: dict[str, dict[str, Outcome]] = {
    "claude": {
        "allow": RAN,
        "ask": REASON,
        "deny": f"PreToolUse:Bash hook error: {REASON}",
        "exit 1": RAN,
        "exit 2": f": {REASON}\n",
        "exit 2 without a word": "No stderr output",
        "killed": RAN,
        "garbage": RAN,
        "silence": RAN,
        "late": RAN,
        "missing": RAN,
    },
    # The same with `"onFailure": "block"` in the hook's entry.
    "claude, blocking": {
        "allow": RAN,
        "ask": REASON,
        "deny": f"PreToolUse:Bash hook error: {REASON}",
        "exit 1": 'failed; blocking because onFailure is "block"',
        "exit 2": f": {REASON}\n",
        "exit 2 without a word": "No stderr output",
        "killed": 'failed; blocking because onFailure is "block"',
        "garbage": RAN,
        "silence": RAN,
        "late": 'timed out; blocking because onFailure is "block"',
        "missing": 'failed; blocking because onFailure is "block"',
    },
    "codex": CODEX,
    "codex-code": CODEX,
    "gemini": {
        "allow": RAN,
        "ask": WAITS,
        "deny": f"Tool execution blocked: {REASON}",
        "exit 1": RAN,
        "exit 2": f"Tool execution blocked: {REASON}",
        "exit 2 without a word": RAN,
        "killed": RAN,
        "garbage": RAN,
        "silence": RAN,
        "late": RAN,
        "missing": "Tool execution blocked: ",  # the shell's own complaint is a text, and its status is above 1
    },
}

# opencode has plugins only: what comes of the text of one.
_BEFORE = 'export const Gate = async () => ({ "tool.execute.before": async (input, output) => { %s } })'
PLUGINS = {
    "returns": _BEFORE % "",
    "returns a refusal": _BEFORE % 'return { decision: "deny", status: "deny" }',
    "throws": _BEFORE % f'throw new Error("{REASON}")',
    "never returns": _BEFORE % "await new Promise(() => {})",
    "throws at its start": f'export const Gate = async () => {{ throw new Error("{REASON}") }}',
    "is no JavaScript": "export const Gate = async ( =>",
}
OPENCODE: dict[str, Outcome] = {
    "returns": RAN,
    "returns a refusal": RAN,
    "throws": REASON,
    "never returns": WAITS,
    "throws at its start": RAN,
    "is no JavaScript": RAN,
}
