"""A hook file for Cline CLI: a script of our own, which must be executable.

Cline continues after a hook that fails, and reads only an answer on stdout; so the script itself cancels if there is
none."""

from __future__ import annotations

import json

from assent.agents.settings import WholeFile
from assent.agents.settings.entry import ANSWERED, FAILED, HookEntry
from assent.agents.settings.hooks import Wired

SCRIPT = """\
#!/bin/sh
# Assent's hook for Cline: written by `assent install cline`, removed by `assent uninstall cline`.
{answered}
printf '%s\\n' '{cancelled}'
"""


class ClineSettings(WholeFile):
    executable = True
    mark = "# Assent's hook for Cline:"

    def content(self, entry: HookEntry) -> str:
        cancelled = json.dumps({"cancel": True, "errorMessage": FAILED})
        return SCRIPT.format(answered=ANSWERED.format(entry.command), cancelled=cancelled)

    def wired(self, text: str, file: str) -> tuple[Wired, ...]:
        return (Wired("tool_call", (file,)),) if " hook cline" in text else ()


SETTINGS = ClineSettings("cline")
