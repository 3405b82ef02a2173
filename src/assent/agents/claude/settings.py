"""Claude Code's settings.json: a command or an HTTP hook for each event.

One entry that Claude Code does not accept drops the whole file, so entries hold known keys only. So does a comment."""

from __future__ import annotations

from assent.agents.settings.entry import NOTICE, Entry
from assent.agents.settings.settings import JsonHooks

TOOL_EVENTS = frozenset({"PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure"})
MUST_BLOCK = frozenset({"PreToolUse", "ConfigChange"})  # of a failed permission request the dialog stays
OVER_HTTP = frozenset({"PreToolUse", "PermissionRequest"})


class ClaudeCodeSettings(JsonHooks):
    runtime = "claude"
    events = (
        "PreToolUse",
        "PermissionRequest",
        "ConfigChange",
        "PostToolUse",
        "PostToolUseFailure",
        "UserPromptSubmit",
        "Stop",
    )

    def install(self, text: str, entry: Entry) -> str:
        """Over HTTP a call tells neither the project's folder nor whether somebody attends, so a command tells it when
        the session starts."""
        more = ("SessionStart",) if entry.url and not entry.events else ()
        return super().install(text, entry.but(events=(*(entry.events or self.events), *more)))

    def entry(self, event: str, entry: Entry) -> object:
        hook: dict[str, object]
        if entry.url and event in OVER_HTTP:
            hook = {"type": "http", "url": entry.url, "timeout": entry.timeout}
            if entry.headers:
                hook |= {"headers": dict(entry.headers), "allowedEnvVars": list(entry.variables)}
        else:
            hook = {"type": "command", "command": entry.words[0], "args": list(entry.words[1:])}
            hook["timeout"] = entry.timeout
        if event in MUST_BLOCK:
            hook["onFailure"] = "block"
        if event == "PreToolUse":
            hook["statusMessage"] = NOTICE
        return {"matcher": "*", "hooks": [hook]} if event in TOOL_EVENTS else {"hooks": [hook]}


SETTINGS = ClaudeCodeSettings()
