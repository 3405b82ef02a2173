"""Gemini CLI's settings.json, or the hooks.json of an extension. Its timeouts are in milliseconds."""

from __future__ import annotations

from assent.adapters.settings.entry import Entry
from assent.adapters.settings.settings import JsonHooks


class GeminiCliSettings(JsonHooks):
    runtime = "gemini"
    comments = True
    places = {
        "user": "~/.gemini/settings.json",
        "project": ".gemini/settings.json",
        "managed": "/etc/gemini-cli/settings.json",
        "extension": "~/.gemini/extensions/assent/hooks/hooks.json",
    }
    events = ("BeforeTool",)

    def entry(self, event: str, entry: Entry) -> object:
        hook = {"type": "command", "name": "assent", "command": entry.guarded, "timeout": entry.timeout * 1000}
        return {"matcher": "*", "hooks": [hook]}


SETTINGS = GeminiCliSettings()
