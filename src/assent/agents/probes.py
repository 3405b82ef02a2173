"""A call to try a runtime's hook with, in the form of its events, and what the runtime would make of the answer.

Both are in `agent.toml`, apart from the adapters, so that the two can disagree. Starts nothing."""

from __future__ import annotations

import json

from assent.agents import known
from assent.agents.adapter import Rendered

FORBIDDEN = "cat ~/.ssh/id_rsa"  # on the floor: denied in every mode, whatever the rules
HARMLESS = "pwd"
ALLOWED, BLOCKED, UNSURE = "allowed", "blocked", "not an answer"


def event(runtime: str, command: str, folder: str) -> dict[str, object]:
    """The payload before a shell command, for a call in a folder."""
    places = {"{command}": command, "{folder}": folder}

    def filled(value: object) -> object:
        if isinstance(value, dict):
            return {key: filled(each) for key, each in value.items()}
        if isinstance(value, list):
            return [filled(each) for each in value]
        return places.get(value, value) if isinstance(value, str) else value

    payload = known.section("probe")[runtime]["payload"]
    assert isinstance(payload, dict)
    return {key: filled(each) for key, each in payload.items()}


def understood(runtime: str, answer: Rendered) -> str:
    """What the runtime makes of a hook's end."""
    row = known.section("probe")[runtime]
    key, status = str(row.get("answer", "")), row["status"]
    if status == "any" and answer.status:
        return BLOCKED
    if status == "2" and answer.status:
        return BLOCKED if answer.status == 2 and answer.stderr.strip() else UNSURE
    return _said(key, answer.stdout, silence=ALLOWED if row.get("silence") == "allow" else UNSURE) if key else ALLOWED


def _said(key: str, text: str, *, silence: str) -> str:
    """What the value of a key says, as a path through objects; `silence` where its object is not there."""
    *above, last = key.split(".")
    found = _json(text)
    for name in above:
        inner = found.get(name)
        found = inner if isinstance(inner, dict) else {}
    if above and not found:
        return silence
    word = found.get(last)
    if isinstance(word, bool):  # whether the call is cancelled
        return BLOCKED if word else ALLOWED
    return {"allow": ALLOWED, "deny": BLOCKED, "block": BLOCKED}.get(word, UNSURE) if isinstance(word, str) else UNSURE


def _json(text: str) -> dict[str, object]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
