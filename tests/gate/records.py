"""Records of the trail without what differs from run to run: ids, times, hashes, folders and names. Tests nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tests.gate.entry import SESSION, Entry

DROPPED = frozenset({"n", "time", "prev", "hash", "latency_ms", "tokens", "cost", "until"})
# The session of a grant: the gate of a program puts its own name before it.
OWN_SESSION = re.compile(rf"([0-9a-f-]{{36}}/)?{SESSION}")


def normal(entry: Entry) -> list[dict[str, Any]]:
    """The records of an entry's play. Ids are numbered as they come; fields that say nothing are left out."""
    ids: dict[str, str] = {}
    return [_record(each, entry, ids) for each in entry.scratch.trail()]


def _record(record: Mapping[str, Any], entry: Entry, ids: dict[str, str]) -> dict[str, Any]:
    ids.setdefault(str(record["id"]), f"#{len(ids) + 1}")
    names = {
        "runtime": entry.runtime,
        "tool": entry.tool,
        "who": entry.who,
        "channel": entry.channel,
        "project": str(entry.scratch.project),
        "cwd": str(entry.scratch.project),
    }
    found: dict[str, Any] = {}
    for key, each in record.items():
        found[key] = f"<{key}>" if names.get(key) == each else _plain(each, entry, ids)
    if entry.declares and record["kind"] == "decision":
        found["effects"].remove(f"call {entry.tool}")  # of a tool that a program declares, before what it does
    if OWN_SESSION.fullmatch(str(record.get("session", ""))):
        found["session"] = "<session>"
    return {key: value for key, value in found.items() if key not in DROPPED and value not in ("", [], False)}


def _plain(value: Any, entry: Entry, ids: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_plain(each, entry, ids) for each in value]
    if isinstance(value, dict):
        return {key: _plain(each, entry, ids) for key, each in value.items() if key not in DROPPED}
    if not isinstance(value, str):
        return value
    for id, number in ids.items():
        value = value.replace(id, number)
    return value.replace(str(entry.scratch.home), "<home>").replace(f"allowed by {entry.who}", "allowed by <who>")
