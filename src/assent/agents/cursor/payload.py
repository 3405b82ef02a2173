"""Cursor: the hooks before shell commands, MCP tools, file reads and any tool, as its documentation describes them.

Not tried with the program itself; see its `[capabilities]`."""

from __future__ import annotations

from collections.abc import Mapping

from assent.agents import adapter, payload
from assent.agents.adapter import Adapter, Event, EventKind, Rendered
from assent.agents.claude.payload import WORDS
from assent.contract import Outcome, Reply
from assent.contract.display import visible

KINDS = {
    "preToolUse": EventKind.BEFORE_TOOL,
    "beforeShellExecution": EventKind.BEFORE_TOOL,
    "beforeMCPExecution": EventKind.BEFORE_TOOL,
    "beforeReadFile": EventKind.BEFORE_TOOL,
    "postToolUse": EventKind.AFTER_TOOL,
    "postToolUseFailure": EventKind.AFTER_TOOL,
    "stop": EventKind.STOP,
    "beforeSubmitPrompt": EventKind.PROMPT,
    "sessionStart": EventKind.SESSION_START,
}
ASKS = frozenset({"beforeShellExecution", "beforeMCPExecution"})  # the others treat an ask as an allow
NOBODY_ASKED = "a person has to approve this call first, and Cursor does not ask here"


class Cursor(Adapter):
    def asks(self, event: Event) -> bool:
        return event.name in ASKS

    def parse(self, given: Mapping[str, object], *, environ: Mapping[str, str], home: str, project: str = "") -> Event:
        name = payload.text(given, "hook_event_name")
        kind = adapter.kind_of(name, KINDS, given)
        session = payload.text_if_any(given, "conversation_id")
        roots = payload.folders(given.get("workspace_roots"))
        call = None
        if kind in adapter.WITH_CALL:
            tool, call_input = tool_of(name, given)
            cwd = payload.text_if_any(given, "cwd") or (roots[0] if len(roots) == 1 else "")
            call = self.call(tool, call_input, home, session, cwd=cwd, roots=roots)
        return Event(
            kind,
            name,
            call,
            session=session,
            call_id=payload.text_if_any(given, "tool_use_id"),
            transcript=payload.text_if_any(given, "transcript_path"),
        )

    def render(self, event: Event | None, reply: Reply) -> Rendered:
        if event is None or (reply.fault and event.kind is EventKind.BEFORE_TOOL):
            return adapter.blocked(reply)
        if event.kind is EventKind.BEFORE_TOOL:
            return adapter.printed(before(event, reply))
        if event.kind is EventKind.PROMPT and not reply.fault:
            allowed = reply.outcome is not Outcome.DENY
            return adapter.printed(
                {"continue": allowed} | ({} if allowed else {"user_message": visible(reply.for_person)})
            )
        return adapter.noted(reply) if reply.fault else adapter.printed({})


def tool_of(name: str, given: Mapping[str, object]) -> tuple[str, dict[str, object]]:
    match name:
        case "beforeShellExecution":
            return "Shell", {"command": payload.text(given, "command")}
        case "beforeReadFile":
            return "Read", {"file_path": payload.text(given, "file_path")}
        case "beforeMCPExecution":
            return mcp(payload.text(given, "tool_name")), payload.enclosed(given, "tool_input")
        case _:
            tool = payload.text(given, "tool_name")
            known = tool[:4].lower() != "mcp:"
            return tool if known else mcp(tool[4:]), payload.enclosed(given, "tool_input")


def mcp(tool: str) -> str:
    """Cursor does not name the server."""
    return tool if tool.lower().startswith("mcp__") else f"mcp__cursor__{tool.strip()}"


def before(event: Event, reply: Reply) -> dict[str, object]:
    outcome, text = reply.outcome, reply.for_agent
    if outcome is Outcome.ASK and event.name not in ASKS:
        outcome, text = Outcome.DENY, f"{NOBODY_ASKED}: {text}"
    return {
        "permission": WORDS[outcome],
        "user_message": visible(reply.for_person),
        "agent_message": visible(text),
    }


ADAPTER = Cursor("cursor")
