"""Cursor's hooks.json, as its documentation describes it."""

from __future__ import annotations

from assent.agents.settings import hooks
from assent.agents.settings.entry import Entry
from assent.agents.settings.holes import Hole
from assent.agents.settings.settings import JsonHooks

VERSION = '{\n  "version": 1\n}\n'


class CursorSettings(JsonHooks):
    runtime = "cursor"
    before = "beforeShellExecution"
    events = ("beforeShellExecution", "beforeMCPExecution", "beforeReadFile", "preToolUse")

    def entry(self, event: str, entry: Entry) -> object:
        return {"command": entry.guarded, "timeout": entry.timeout, "failClosed": True}

    def install(self, text: str, entry: Entry) -> str:
        return super().install(text if text.strip() else VERSION, entry)

    def uninstall(self, text: str) -> str:
        left = hooks.uninstall(text)
        return "" if left == VERSION and left != text else left

    def holes(self, text: str, *, http: bool = False) -> tuple[Hole, ...]:
        return ()


SETTINGS = CursorSettings()
