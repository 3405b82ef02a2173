"""Droid's settings.json. Its timeouts are in seconds."""

from __future__ import annotations

from assent.agents.settings.entry import Entry
from assent.agents.settings.settings import JsonHooks


class DroidSettings(JsonHooks):
    runtime = "droid"
    before = "PreToolUse"
    events = ("PreToolUse",)

    def entry(self, event: str, entry: Entry) -> object:
        hook = {"type": "command", "command": entry.guarded, "timeout": entry.timeout}
        return {"matcher": "*", "hooks": [hook]}


SETTINGS = DroidSettings()
