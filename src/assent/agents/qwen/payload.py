"""Qwen Code: PreToolUse, PermissionRequest and the events that only inform, in Claude Code's shape.

Its PreToolUse comes last, after the person was asked; `cwd` is the session's folder, not the call's."""

from __future__ import annotations

from collections.abc import Mapping

from assent.agents import adapter, payload
from assent.agents.adapter import Adapter, Event, EventKind, Rendered
from assent.agents.claude.payload import WORDS
from assent.contract import Outcome, Reply

MODES = {"plan": "plan", "default": "default", "auto_edit": "auto", "auto": "auto", "yolo": "full_auto"}


class QwenCode(Adapter):
    once = ("-p", "--prompt")
    limit = 60  # of its message bus: `timeout` in its settings changes nothing beyond
    asks_first = True

    def parse(self, given: Mapping[str, object], *, environ: Mapping[str, str], home: str, project: str = "") -> Event:
        return adapter.parse(
            given,
            runtime=self.runtime,
            home=home,
            roots=payload.folder(payload.text_if_any(given, "cwd")),
            modes=MODES,
            shell="bash",
            attended=adapter.unattended(environ),
        )

    def render(self, event: Event | None, reply: Reply) -> Rendered:
        if event is None or (reply.fault and event.kind is EventKind.BEFORE_TOOL):
            return adapter.blocked(reply)
        match event.kind:
            case EventKind.BEFORE_TOOL:
                # Without a person an ask is a denial whose reason the model reads: never the receipt for a person.
                text = reply.for_person if reply.outcome is Outcome.ALLOW else reply.for_agent
                return adapter.printed(adapter.pre_tool_use(reply, WORDS[reply.outcome], text))
            case EventKind.PERMISSION:
                return adapter.printed(adapter.permission_request(reply, interrupts=True))
            case EventKind.CONFIG_CHANGE:  # an event that Qwen Code does not have
                return adapter.printed({})
            case _:
                return adapter.observed(event, reply) or adapter.printed(adapter.blocking(reply))


ADAPTER = QwenCode("qwen")
