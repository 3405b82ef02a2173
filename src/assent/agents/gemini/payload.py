"""Gemini CLI: BeforeTool and the events that only inform.

Here `cwd` is the session's folder, not the call's: the folder of a shell command is an argument of its own."""

from __future__ import annotations

from collections.abc import Mapping

from assent.agents import adapter, payload
from assent.agents.adapter import Adapter, Event, EventKind, Rendered
from assent.contract import Outcome, Reply
from assent.contract.display import visible

KINDS = {
    "BeforeTool": EventKind.BEFORE_TOOL,
    "AfterTool": EventKind.AFTER_TOOL,
    "AfterAgent": EventKind.STOP,
    "BeforeAgent": EventKind.PROMPT,
    "SessionStart": EventKind.SESSION_START,
}


class GeminiCli(Adapter):
    once = ("-p", "--prompt")

    def parse(self, given: Mapping[str, object], *, environ: Mapping[str, str], home: str, project: str = "") -> Event:
        return adapter.parse(
            given,
            runtime=self.runtime,
            home=home,
            roots=payload.folder(payload.text_if_any(given, "cwd")),
            kinds=KINDS,
            shell="bash",
            attended=adapter.unattended(environ),
            tool=server_tool(given),
        )

    def render(self, event: Event | None, reply: Reply) -> Rendered:
        if event is None or (reply.fault and event.kind is EventKind.BEFORE_TOOL):
            return adapter.blocked(reply)
        if event.kind is EventKind.CONFIG_CHANGE:  # an event that Gemini CLI does not have
            return adapter.printed({})
        return adapter.observed(event, reply) or adapter.printed(answer(reply))


def server_tool(given: Mapping[str, object]) -> str:
    """A tool of an MCP server by the name that rules use, whatever the server calls it; `""` for any other."""
    if given.get("mcp_context") is None:
        return ""
    context = payload.table(given, "mcp_context")
    return f"mcp__{payload.text(context, 'server_name')}__{payload.text(context, 'tool_name')}"


def answer(reply: Reply) -> dict[str, object]:
    """The decision in lower case and at the top: any other place or spelling lets the call run."""
    if reply.outcome is Outcome.ALLOW:
        return {"decision": "allow"}
    out: dict[str, object] = {"decision": reply.outcome.word, "reason": visible(reply.for_agent)}
    if reply.outcome is Outcome.ASK:
        out["systemMessage"] = visible(reply.for_person)
    elif reply.stop:
        out |= {"continue": False, "stopReason": visible(reply.for_person)}
    return out


ADAPTER = GeminiCli("gemini")
