"""Gemini CLI: BeforeTool and the events that only tell.

Here `cwd` is the session's folder, not the call's: the folder of a shell command is an argument of its own."""

from __future__ import annotations

from collections.abc import Mapping

from assent.agents import adapter, payload
from assent.agents.adapter import ATTENDED, Adapter, Event, Kind, Rendered
from assent.contract import Call, Outcome, PayloadError, Reply
from assent.contract.display import visible

KINDS = {
    "BeforeTool": Kind.BEFORE_TOOL,
    "AfterTool": Kind.AFTER_TOOL,
    "AfterAgent": Kind.STOP,
    "BeforeAgent": Kind.PROMPT,
    "SessionStart": Kind.SESSION_START,
}


class GeminiCli(Adapter):
    runtime = "gemini"
    once = ("-p", "--prompt")

    def parse(self, given: Mapping[str, object], *, environ: Mapping[str, str], home: str, project: str = "") -> Event:
        name = payload.text(given, "hook_event_name")
        kind = adapter.kind_of(name, KINDS, given)
        session = payload.text_if_any(given, "session_id")
        call = None
        if kind in adapter.WITH_CALL:
            cwd = payload.text(given, "cwd")
            call_input = payload.table(given, "tool_input")
            call = Call(
                tool_of(given),
                call_input,
                cwd=cwd,
                roots=payload.folder(cwd),
                home=home,
                session=session,
                runtime=self.runtime,
                description=adapter.described(call_input),
                shell="bash",
            )
        return Event(
            kind,
            name,
            call,
            session=session,
            attended=False if environ.get(ATTENDED) == "0" else None,
            transcript=payload.text_if_any(given, "transcript_path"),
            about="" if call is not None else payload.text_if_any(given, "source", "reason", "notification_type"),
        )

    def render(self, event: Event | None, reply: Reply) -> Rendered:
        if event is None or (reply.fault and event.kind is Kind.BEFORE_TOOL):
            return adapter.blocked(reply)
        if event.kind is Kind.CONFIG_CHANGE:  # an event that Gemini CLI does not have
            return adapter.printed({})
        return adapter.observed(event, reply) or adapter.printed(answer(reply))


def tool_of(given: Mapping[str, object]) -> str:
    """The tool; those of MCP servers by the name that rules use, whatever else the server calls them."""
    name = payload.text(given, "tool_name")
    context = given.get("mcp_context")
    if context is None:
        return name
    if not isinstance(context, dict):
        raise PayloadError("`mcp_context` in the payload is not an object")
    return f"mcp__{payload.text(context, 'server_name')}__{payload.text(context, 'tool_name')}"


def answer(reply: Reply) -> dict[str, object]:
    """The decision in lower case and at the top: any other place or spelling lets the call run."""
    match reply.outcome:
        case Outcome.ALLOW:
            return {"decision": "allow"}
        case Outcome.ASK:
            return {"decision": "ask", "reason": visible(reply.for_agent), "systemMessage": visible(reply.for_person)}
        case _:
            out: dict[str, object] = {"decision": "deny", "reason": visible(reply.for_agent)}
            if reply.stop:
                out |= {"continue": False, "stopReason": visible(reply.for_person)}
            return out


ADAPTER = GeminiCli()
