"""Gemini CLI's settings.json, or the hooks.json of an extension. Its timeouts are in milliseconds."""

from __future__ import annotations

from assent.agents.settings.entry import Entry
from assent.agents.settings.settings import JsonHooks

MANIFEST = '{\n  "name": "assent",\n  "version": "1.0.0"\n}\n'


class GeminiCliSettings(JsonHooks):
    runtime = "gemini"
    comments = True
    events = ("BeforeTool",)
    # An extension is known by this file beside its hooks. Its hooks fire in folders too that are not trusted.
    beside = {"extension": ("../gemini-extension.json", MANIFEST)}

    def entry(self, event: str, entry: Entry) -> object:
        hook = {"type": "command", "name": entry.name, "command": entry.guarded, "timeout": entry.timeout * 1000}
        return {"matcher": "*", "hooks": [hook]}


SETTINGS = GeminiCliSettings()
