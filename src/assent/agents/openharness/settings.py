"""OpenHarness's settings.json. Without `block_on_failure` its hooks block nothing."""

from __future__ import annotations

from assent.agents.settings.entry import Entry
from assent.agents.settings.settings import JsonHooks

LONGEST = 600  # a longer time is refused, and the file with it


class OpenHarnessSettings(JsonHooks):
    runtime = "openharness"
    before = "pre_tool_use"
    blocking = ("block_on_failure", True)
    events = ("pre_tool_use",)

    def entry(self, event: str, entry: Entry) -> object:
        blocks: dict[str, object] = {"timeout_seconds": min(entry.timeout, LONGEST), "block_on_failure": True}
        if entry.url:
            return {"type": "http", "url": entry.url, "headers": dict(entry.headers), **blocks}
        return {"type": "command", "command": entry.command, **blocks}


SETTINGS = OpenHarnessSettings()
