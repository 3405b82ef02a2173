"""Qwen Code's settings.json. Its timeouts are in seconds."""

from __future__ import annotations

from assent.agents.settings.entry import Entry
from assent.agents.settings.settings import JsonHooks


class QwenCodeSettings(JsonHooks):
    runtime = "qwen"
    comments = True
    events = ("PreToolUse", "PermissionRequest")

    def entry(self, event: str, entry: Entry) -> object:
        hook = {"type": "command", "name": "assent", "command": entry.guarded, "timeout": entry.timeout}
        return {"matcher": "*", "hooks": [hook]}


SETTINGS = QwenCodeSettings()
