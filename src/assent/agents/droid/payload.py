"""Factory's Droid: PreToolUse and the events that only inform, as its documentation describes them.

Only its modes that are no looser than asking are used."""

from __future__ import annotations

from collections.abc import Mapping

from assent.agents import adapter, payload
from assent.agents.adapter import Adapter, Event, EventKind, Rendered
from assent.contract import Outcome, Reply

MODES = {"plan": "plan", "spec": "plan", "default": "default"}


class Droid(Adapter):
    def parse(self, given: Mapping[str, object], *, environ: Mapping[str, str], home: str, project: str = "") -> Event:
        """`cwd` may change during a session, and is never the workspace."""
        return adapter.parse(
            given, runtime=self.runtime, home=home, roots=payload.folder(project), modes=MODES, shell="bash"
        )

    def render(self, event: Event | None, reply: Reply) -> Rendered:
        if event is None or (reply.fault and event.kind is EventKind.BEFORE_TOOL):
            return adapter.blocked(reply)
        match event.kind:
            case EventKind.BEFORE_TOOL:
                # Without a person an ask may end as a denial whose reason the model reads.
                text = reply.for_person if reply.outcome is Outcome.ALLOW else reply.for_agent
                return adapter.printed(adapter.pre_tool_use(reply, reply.outcome.word, text))
            case EventKind.PERMISSION | EventKind.CONFIG_CHANGE:  # events that are not among the documented ones
                return adapter.blocked(reply) if reply.outcome is Outcome.DENY else adapter.printed({})
            case _:
                return adapter.observed(event, reply) or adapter.printed(adapter.blocking(reply))


ADAPTER = Droid("droid")
