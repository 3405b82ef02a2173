"""Pydantic AI: a capability that asks the gate before a tool runs.

It is innermost, around the toolsets themselves, so that it sees the arguments that the tool gets; a run with another
capability in between does not start. An agent that is called from a tool of another has its own `capabilities`: give it
the same one. Tools that the model's provider runs, and output functions, are not seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_ai import (
    ApprovalRequired,
    DeferredToolRequests,
    DeferredToolResults,
    RunContext,
    ToolApproved,
    ToolDenied,
)
from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.toolsets import AbstractToolset, PreparedToolset, ToolsetTool, WrapperToolset

from assent.api.embedded import DAY
from assent.api.functions import Denied
from assent.contract import PayloadError
from assent.contract.approval import Verdict
from assent.sdk import tool_guard
from assent.sdk.tool_guard import Sessions, ToolGuard, denial_text

RUNTIME = "pydantic-ai"


@dataclass
class AssentToolset(WrapperToolset[Any]):
    """A toolset whose calls pass the gate. `durable`: a question ends the run with DeferredToolRequests, to be answered
    with `results` within so many `seconds`."""

    session: Sessions
    durable: bool = False
    seconds: float = DAY

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        # The tool that will be called: something outside may have replaced it under the same name.
        verdict = await self._verdict(tool.tool_def.name, tool_args, ctx)
        if verdict.allowed is True:
            return await super().call_tool(name, tool_args, ctx, tool)
        if verdict.stop:
            raise Denied(verdict)  # ends the run
        return ToolDenied(denial_text(verdict))

    async def _verdict(self, name: str, given: dict[str, Any], ctx: RunContext[Any]) -> Verdict:
        guard = ToolGuard(self.session, RUNTIME, seconds=self.seconds)
        answer = ctx.tool_call_metadata if ctx.tool_call_approved else None
        if self.durable and isinstance(answer, Mapping) and tool_guard.KEY in answer:
            return guard.release(answer, name, given)
        if not self.durable or ctx.tool_call_approved:
            return await guard.guard(name, given)
        approval = guard.hold(name, given)
        if approval.verdict is None:
            raise ApprovalRequired(tool_guard.question(approval))
        return approval.verdict


@dataclass
class AssentCapability(AbstractCapability[Any]):
    """All tools of an agent behind the gate, whatever toolset they come from. Fields as in AssentToolset."""

    session: Sessions
    durable: bool = False
    seconds: float = DAY

    def get_ordering(self) -> CapabilityOrdering:
        return CapabilityOrdering(position="innermost")

    def get_wrapper_toolset(self, toolset: AbstractToolset[Any]) -> AbstractToolset[Any]:
        # INVARIANT: nothing of another capability is between the gate and the tools.
        if type(toolset) is not PreparedToolset:
            inside = type(toolset).__name__
            raise PayloadError(f"`{inside}` would be behind the gate; list AssentCapability after its capability")
        return AssentToolset(toolset, self.session, self.durable, self.seconds)


def results(
    session: Sessions, requests: DeferredToolRequests, answers: Iterable[Mapping[str, object]]
) -> DeferredToolResults:
    """The answers to a paused run's questions, as the next run takes them: `agent.run(…, deferred_tool_results=…)`."""
    by_id = {each[tool_guard.KEY]: each for each in answers}
    found = DeferredToolResults()
    for part in requests.approvals:
        asked = requests.metadata.get(part.tool_call_id, {})
        answer = by_id.get(asked.get(tool_guard.KEY))
        if answer is None:
            continue
        if answer.get("allow") is True:
            found.approvals[part.tool_call_id] = ToolApproved()
            found.metadata[part.tool_call_id] = dict(answer)
        else:  # recorded now, since a denied call does not come by again
            verdict = ToolGuard(session, RUNTIME).release(answer, asked["tool"], asked["input"])
            found.approvals[part.tool_call_id] = ToolDenied(denial_text(verdict))
    return found
