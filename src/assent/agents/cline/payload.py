"""Cline CLI: its file hooks, and the messages of Assent's own plugin before a tool (`hookName` = `beforeTool`).

A file hook can only cancel the whole run; a plugin can skip one call, or have it asked about."""

from __future__ import annotations

from collections.abc import Mapping

from assent.agents import adapter, payload
from assent.agents.adapter import Adapter, Event, EventKind, Rendered
from assent.contract import Outcome, Reply
from assent.contract.display import visible
from assent.contract.tools import ALIASES

KINDS = {
    "tool_call": EventKind.BEFORE_TOOL,
    "beforeTool": EventKind.BEFORE_TOOL,
    "tool_result": EventKind.AFTER_TOOL,
    "agent_end": EventKind.STOP,
    "agent_abort": EventKind.STOP,
    "prompt_submit": EventKind.PROMPT,
    "agent_start": EventKind.SESSION_START,
}
# Cline's own tools; a tool of a server or a plugin may have any other name.
NATIVE = frozenset(
    "run_commands read_files editor apply_patch search_codebase fetch_web_content ask_question submit_and_exit "
    "spawn_agent".split()
)
PLUGIN = "beforeTool"


class Cline(Adapter):
    limit = 120

    def asks(self, event: Event) -> bool:
        return event.name == PLUGIN

    def parse(self, given: Mapping[str, object], *, environ: Mapping[str, str], home: str, project: str = "") -> Event:
        name = payload.text(given, "hookName")
        kind = adapter.kind_of(name, KINDS, given)
        session = session_of(given)
        call, call_id = None, ""
        if kind in adapter.WITH_CALL:
            inner = payload.table(given, "tool_call" if kind is EventKind.BEFORE_TOOL else "tool_result")
            roots = payload.folders(given.get("workspaceRoots"))
            call_input = arguments(inner)
            call_id = payload.text_if_any(inner, "id")
            tool = tool_of(payload.text(inner, "name"))
            cwd = payload.text_if_any(given, "cwd") or (roots[0] if len(roots) == 1 else "")
            call = self.call(tool, call_input, home, session, cwd=cwd, roots=roots)
        return Event(
            kind,
            name,
            call,
            session=session,
            call_id=call_id,
            agent=payload.text_if_any(given, "agent_id") if given.get("parent_agent_id") else "",
        )

    def render(self, event: Event | None, reply: Reply) -> Rendered:
        """Never by exit status: Cline continues after a hook that fails."""
        if event is None:
            return adapter.printed({**skipped(reply), **cancelled(reply)})
        if event.kind is not EventKind.BEFORE_TOOL:
            return adapter.noted(reply) if reply.fault else adapter.printed({})
        if event.name == PLUGIN:
            return adapter.printed(for_plugin(reply))
        return adapter.printed({"cancel": False} if reply.outcome is Outcome.ALLOW else cancelled(reply))


# Tools that take their only argument without its name.
BARE = {"read_files": "files", "run_commands": "commands", "search_codebase": "queries", "apply_patch": "input"}


def arguments(inner: Mapping[str, object]) -> dict[str, object]:
    """The arguments of a call, with the name of one that came alone."""
    value, key = inner.get("input"), BARE.get(payload.text(inner, "name"), "")
    return {key: value} if key and isinstance(value, str | list) else payload.table(inner, "input")


def session_of(given: Mapping[str, object]) -> str:
    context = given.get("sessionContext")
    root = context.get("rootSessionId") if isinstance(context, dict) else None
    return root if isinstance(root, str) and root else payload.text_if_any(given, "taskId")


def tool_of(name: str) -> str:
    return name if name in NATIVE or name.lower() not in ALIASES else f"mcp__cline__{name}"


def for_plugin(reply: Reply) -> dict[str, object]:
    if reply.outcome is Outcome.DENY:
        return skipped(reply)
    return {"policy": {"autoApprove": reply.outcome is Outcome.ALLOW}}


def skipped(reply: Reply) -> dict[str, object]:
    return {"skip": True, "reason": visible(reply.for_agent)} | ({"stop": True} if reply.stop else {})


def cancelled(reply: Reply) -> dict[str, object]:
    return {"cancel": True, "errorMessage": visible(reply.for_agent)}


ADAPTER = Cline("cline")
