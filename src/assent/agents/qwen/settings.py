"""Qwen Code's settings.json. Its timeouts are in seconds."""

from __future__ import annotations

from assent.agents.settings.entry import Entry
from assent.agents.settings.holes import Hole
from assent.agents.settings.settings import JsonHooks


class QwenCodeSettings(JsonHooks):
    runtime = "qwen"
    before = "PreToolUse"
    comments = True
    events = ("PreToolUse", "PermissionRequest")

    def entry(self, event: str, entry: Entry) -> object:
        hook = {"type": "command", "name": "assent", "command": entry.guarded, "timeout": entry.timeout}
        return {"matcher": "*", "hooks": [hook]}

    def needed(self, text: str) -> tuple[Hole, ...]:
        said = "a project's `disableAllHooks` switches hooks off"
        return (Hole(said, "set `disableAllHooks` here", key="disableAllHooks", value=False),)


SETTINGS = QwenCodeSettings()
