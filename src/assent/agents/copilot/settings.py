"""A hook file of our own for Copilot CLI, in its own style: the other style needs another answer."""

from __future__ import annotations

import json

from assent.agents.settings import WholeFile
from assent.agents.settings.entry import HookEntry


class CopilotCliSettings(WholeFile):
    mark = " hook copilot"

    def content(self, entry: HookEntry) -> str:
        hook = {"type": "command", "bash": entry.command, "timeoutSec": entry.timeout}
        events = {event: [hook] for event in entry.events or self.events}
        return json.dumps({"version": 1, "hooks": events}, indent=2) + "\n"


SETTINGS = CopilotCliSettings("copilot")
