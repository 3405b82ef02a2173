"""A hook file of our own for Copilot CLI, in its own style: that of the other events takes another answer."""

from __future__ import annotations

import json

from assent.agents.settings import holes
from assent.agents.settings.entry import Entry
from assent.agents.settings.holes import Hole
from assent.agents.settings.whole import WholeFile


class CopilotCliSettings(WholeFile):
    runtime = "copilot"
    before = "preToolUse"
    mark = " hook copilot"

    def content(self, entry: Entry) -> str:
        hook = {"type": "command", "bash": entry.command, "timeoutSec": entry.timeout}
        events = entry.events or ("preToolUse",)
        return json.dumps({"version": 1, "hooks": {event: [hook] for event in events}}, indent=2) + "\n"

    def holes(self, text: str, *, http: bool = False) -> tuple[Hole, ...]:
        return tuple(holes.switched_off(holes.objects(text)))


SETTINGS = CopilotCliSettings()
