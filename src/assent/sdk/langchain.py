"""LangChain and LangGraph: a middleware that asks the gate before a tool runs.

Put it last in `create_agent(middleware=[…])`, so that it sees the arguments that the tool gets. An agent that is called
from a tool of another has its own `middleware`: give it the same one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from itertools import takewhile
from typing import Any

from langchain.agents.middleware import AgentMiddleware, AgentState, hook_config
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.errors import GraphInterrupt
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, Interrupt, interrupt

from assent.api.embedded import DAY
from assent.contract.approval import Verdict
from assent.sdk import tool_guard
from assent.sdk.tool_guard import Sessions, ToolGuard, denial_text

RUNTIME = "langchain"
STOP = "assent_stop"
Result = ToolMessage | Command[Any]


class LangChainMiddleware(AgentMiddleware[Any, Any, Any]):
    """Every tool call passes the gate. `durable`: a question pauses the graph, to be answered with `said` within so
    many `seconds`; without it the call waits while a person is asked in the gate's channels."""

    def __init__(self, session: Sessions, *, durable: bool = False, seconds: float = DAY) -> None:
        super().__init__()
        self._guard = ToolGuard(session, RUNTIME, seconds=seconds)
        self._durable = durable

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]) -> Result:
        settled = self._settled(request)
        verdict = settled if settled is not None else self._guard.guard_sync(*_call(request))
        return handler(request) if verdict.allowed is True else _denied(request, verdict)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        settled = self._settled(request)
        verdict = settled if settled is not None else await self._guard.guard(*_call(request))
        return await handler(request) if verdict.allowed is True else _denied(request, verdict)

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: AgentState[Any], runtime: Any) -> dict[str, Any] | None:
        """A person who said *no, and stop* ends the run."""
        results = takewhile(lambda each: isinstance(each, ToolMessage), reversed(state["messages"]))
        return {"jump_to": "end"} if any(STOP in each.additional_kwargs for each in results) else None

    def _settled(self, request: ToolCallRequest) -> Verdict | None:
        """The verdict by the answer that resumes a paused graph; None if there is nothing to pause for."""
        call = _call(request)
        if not self._durable or not self._guard.asks(*call):
            return None
        try:
            answer = interrupt(None)
        except GraphInterrupt as pause:  # nobody answered yet; a pause is no error, and propagates
            approval = self._guard.hold(*call)
            if approval.verdict is not None:
                return approval.verdict
            pause.args[0][0].value = tool_guard.question(approval)
            raise
        return self._guard.release(answer, *call)


_made = ToolNode.__init__


@wraps(_made)
def _with_both(node: ToolNode, *given: Any, **named: Any) -> None:
    """A node that is given the async half alone would run its tools without the gate in `invoke`: it gets both."""
    _made(node, *given, **named)
    ours = getattr(node._awrap_tool_call, "__self__", None)
    if isinstance(ours, LangChainMiddleware) and node._wrap_tool_call is None:
        node._wrap_tool_call = ours.wrap_tool_call


ToolNode.__init__ = _with_both  # type: ignore[method-assign, assignment]  # LangGraph has no hook for nodes that are called synchronously


def said(pause: Interrupt, *, allow: bool, who: str, message: str = "") -> dict[str, Any]:
    """The answer to one pause, for `Command(resume=…)`; those to several can be joined."""
    return {pause.id: tool_guard.answer(pause.value, allow=allow, who=who, message=message)}


def _call(request: ToolCallRequest) -> tuple[str, Any]:
    """The tool that will be invoked: another middleware may have replaced it under the same name."""
    name = request.tool.name if request.tool is not None else request.tool_call["name"]
    return name, request.tool_call["args"]


def _denied(request: ToolCallRequest, verdict: Verdict) -> ToolMessage:
    call = request.tool_call
    more = {STOP: True} if verdict.stop else {}
    return ToolMessage(
        denial_text(verdict), name=call["name"], tool_call_id=call["id"] or "", status="error", additional_kwargs=more
    )
