"""OpenHarness: its hook executor, by command (payload in an environment variable) or by HTTP.

The executor reads an exit status or an HTTP status and nothing else; the output of a hook is the reason."""

from __future__ import annotations

from collections.abc import Mapping

from assent.agents import adapter, payload
from assent.agents.adapter import Adapter, Event, EventKind, Rendered, Response
from assent.contract import Call, Outcome, Reply
from assent.contract.display import visible

KINDS = {
    "pre_tool_use": EventKind.BEFORE_TOOL,
    "post_tool_use": EventKind.AFTER_TOOL,
    "stop": EventKind.STOP,
    "user_prompt_submit": EventKind.PROMPT,
    "session_start": EventKind.SESSION_START,
}
NOBODY_ASKED = "a person has to approve this call first, and OpenHarness cannot ask for a hook"
FORBIDDEN = 403


class OpenHarness(Adapter):
    variable = "OPENHARNESS_HOOK_PAYLOAD"

    def asks(self, event: Event) -> bool:
        return False

    def parse(self, given: Mapping[str, object], *, environ: Mapping[str, str], home: str, project: str = "") -> Event:
        """The folder of a session is the one that the executor starts hooks in; over HTTP it is not known.

        Its to-do list is a file, which the call may name or leave to the tool."""
        inner = payload.table(given, "payload") if "payload" in given else given
        name = payload.text(inner, "event")
        kind = adapter.kind_of(name, KINDS, inner)
        folder = project if inner is not given else environ.get("PWD", "") or project
        call = None
        if kind in adapter.WITH_CALL:
            call_input = payload.table(inner, "tool_input")
            tool = payload.text(inner, "tool_name")
            call = Call(
                tool,
                {"path": "TODO.md", **call_input} if tool == "todo_write" else call_input,
                cwd=folder,
                roots=payload.folder(folder),
                home=home,
                runtime=self.runtime,
                description=adapter.described(call_input),
                shell="bash",
            )
        return Event(kind, name, call, about=payload.text_if_any(inner, "notification_type"))

    def render(self, event: Event | None, reply: Reply) -> Rendered:
        if event is not None and event.kind is not EventKind.BEFORE_TOOL:
            return adapter.noted(reply) if reply.fault else Rendered()
        if reply.outcome is Outcome.ALLOW and event is not None:
            return Rendered()
        return Rendered(refused(reply) + "\n", status=adapter.BLOCKED)

    def respond(self, event: Event | None, reply: Reply) -> Response:
        deciding = event is None or event.kind is EventKind.BEFORE_TOOL
        if deciding and (event is None or reply.outcome is not Outcome.ALLOW):
            return Response(FORBIDDEN, refused(reply), "text/plain; charset=utf-8")
        return Response(200, "", "text/plain; charset=utf-8")


def refused(reply: Reply) -> str:
    text = reply.for_agent
    return visible(f"{NOBODY_ASKED}: {text}" if reply.outcome is Outcome.ASK else text)


ADAPTER = OpenHarness("openharness")
