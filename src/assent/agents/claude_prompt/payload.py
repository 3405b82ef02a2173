"""Claude Code's `--permission-prompt-tool`: the arguments of an MCP tool → Event, and its answer.

The MCP server that offers the tool is not here. It adds its own working folder as `cwd`: the arguments have none."""

from __future__ import annotations

from collections.abc import Mapping

from assent.agents import adapter, payload
from assent.agents.adapter import Adapter, Event, EventKind, Rendered
from assent.agents.claude.payload import shell_of
from assent.contract import Outcome, Reply
from assent.contract.display import visible


class ClaudePrompt(Adapter):
    def asks(self, event: Event) -> bool:
        return False

    def parse(self, given: Mapping[str, object], *, environ: Mapping[str, str], home: str, project: str = "") -> Event:
        session = environ.get("CLAUDE_CODE_SESSION_ID", "")
        call_input = payload.table(given, "input")
        call = self.call(
            payload.text(given, "tool_name"),
            call_input,
            home,
            session,
            cwd=payload.text_if_any(given, "cwd"),
            roots=payload.folder(environ.get("CLAUDE_PROJECT_DIR", "") or project),
            shell=shell_of(environ),
        )
        return Event(
            EventKind.PERMISSION,
            "permission-prompt-tool",
            call,
            session=session,
            attended=False,
            call_id=payload.text_if_any(given, "tool_use_id"),
        )

    def render(self, event: Event | None, reply: Reply) -> Rendered:
        """The text of the tool's result. Nobody else can be asked, so an ask is a denial."""
        if reply.outcome is Outcome.ALLOW and event is not None and event.call is not None:
            return adapter.printed({"behavior": "allow", "updatedInput": event.call.input})
        return adapter.printed({"behavior": "deny", "message": visible(reply.for_agent)})


ADAPTER = ClaudePrompt("claude-prompt")
