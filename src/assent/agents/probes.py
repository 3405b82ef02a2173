"""A call to test a program's hook with, in the form of its events, and how the program would read the answer.

Both are in `agent.toml`, apart from the adapters, so that the two can disagree."""

from __future__ import annotations

import json

from assent.agents import known
from assent.agents.adapter import Rendered

FORBIDDEN = "cat ~/.ssh/id_rsa"  # on the floor: denied in every mode, with any rules
HARMLESS = "pwd"
ALLOWED, BLOCKED, UNSURE = "allowed", "blocked", "not an answer"


def event(runtime: str, command: str, folder: str) -> dict[str, object]:
    given = {"{command}": command, "{folder}": folder}
    return {key: known.filled(each, given) for key, each in known.section("probe")[runtime]["payload"].items()}


def understood(runtime: str, answer: Rendered) -> str:
    """How the program reads a hook's result: ALLOWED, BLOCKED or UNSURE."""
    row = known.section("probe")[runtime]
    key, status = str(row.get("answer", "")), row["status"]
    if status == "any" and answer.status:
        return BLOCKED
    if status == "2" and answer.status:
        return BLOCKED if answer.status == 2 and answer.stderr.strip() else UNSURE
    return _said(key, answer.stdout, silence=ALLOWED if row.get("silence") == "allow" else UNSURE) if key else ALLOWED


def _said(key: str, text: str, *, silence: str) -> str:
    """The meaning of the value at a path of keys; `silence` if its object is missing."""
    *above, last = key.split(".")
    try:
        found = json.loads(text)
    except ValueError:
        found = {}
    for name in above:
        found = found.get(name) if isinstance(found, dict) else {}
    if not isinstance(found, dict) or not found:
        return silence if above else UNSURE
    word = found.get(last)
    if isinstance(word, bool):  # whether the call is cancelled
        return BLOCKED if word else ALLOWED
    return {"allow": ALLOWED, "deny": BLOCKED, "block": BLOCKED}.get(word, UNSURE) if isinstance(word, str) else UNSURE
