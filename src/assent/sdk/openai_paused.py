"""OpenAI Agents: runs that pause for an answer and go on with it, in this process or another."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, TypeVar

from agents import FunctionTool, RunContextWrapper, RunResult, RunResultStreaming, RunState, ToolApprovalItem

from assent.api.embedded import DAY
from assent.sdk import tool_guard
from assent.sdk.tool_guard import Sessions, ToolGuard, told

RUNTIME = "openai-agents"
T = TypeVar("T")
Needs = bool | Callable[[RunContextWrapper[Any], dict[str, Any], str], Awaitable[bool]]


@dataclass(eq=False)
class Ticket:
    call: list[str]
    answer: Mapping[str, object]


# INVARIANT: answers are seen by the run that goes on with them, and by no other, whatever its call ids are.
_tickets: ContextVar[tuple[Ticket, ...] | list[Ticket]] = ContextVar("assent_tickets", default=())


@dataclass(eq=False)
class Pausing:
    """`needs_approval` of a tool: a call about which the gate asks pauses the run. `own` is the author's setting, which
    holds beside it."""

    guard: ToolGuard
    name: str
    own: Needs

    async def __call__(self, context: RunContextWrapper[Any], given: dict[str, Any], call_id: str) -> bool:
        theirs = self.own if isinstance(self.own, bool) else await self.own(context, given, call_id)
        return theirs or self.guard.asks(self.name, given)


def questions(
    session: Sessions, run: RunResult | RunResultStreaming | RunState[Any, Any], *, seconds: float = DAY
) -> list[dict[str, object]]:
    """What a paused run waits for, as JSON to be kept with its state and shown; each can be answered within so many
    seconds, with `tool_guard.answer`. What the author's own `needs_approval` paused for is not among them."""
    guard = ToolGuard(session, RUNTIME, seconds=seconds)
    items = run.get_interruptions() if isinstance(run, RunState) else run.interruptions
    held = [(item, guard.hold(name_of(item), item.arguments)) for item in items]
    return [
        {**tool_guard.question(approval), tool_guard.CALL: _mark(item.call_id, name_of(item), item.arguments)}
        for item, approval in held
        if approval.held is not None
    ]


@contextmanager
def answered(
    session: Sessions, state: RunState[Any, Any], answers: Iterable[Mapping[str, object]]
) -> Iterator[RunState[Any, Any]]:
    """Go on with a paused run: what is begun within this, by any of the `Runner`'s ways, has these answers."""
    guard, open = ToolGuard(session, RUNTIME), list(answers)
    tickets: list[Ticket] = []
    for item in state.get_interruptions():
        name, call = name_of(item), _mark(item.call_id, name_of(item), item.arguments)
        answer = _for(call, open, lambda each: each.get(tool_guard.CALL))
        if answer is None:
            if _ours_alone(item) and not guard.asks(name, item.arguments):
                state.approve(item)  # nothing to ask by now: its guardrail decides
            continue
        open.remove(answer)
        if answer.get("allow") is True:
            state.approve(item)
            tickets.append(Ticket(call, answer))
        else:
            state.reject(item, rejection_message=told(guard.release(answer, name, item.arguments)))
    token = _tickets.set(tickets)
    try:
        yield state
    finally:
        _tickets.reset(token)


def taken(call_id: str, name: str, given: str) -> Mapping[str, object] | None:
    """The answer that this run has for a call; each is used once."""
    tickets = _tickets.get()
    found = _for(_mark(call_id, name, given), tickets, lambda each: each.call)
    if found is None or not isinstance(tickets, list):
        return None
    tickets.remove(found)
    return found.answer


def _mark(call_id: str | None, name: str, given: str | None) -> list[str]:
    """A call by its id, and by what it is: agents within an agent may use the same ids."""
    return [call_id or "", sha256(f"{name} {given}".encode()).hexdigest()]


def _for(call: list[str], among: Sequence[T], mark: Callable[[T], object]) -> T | None:
    """The answer to a call; where its arguments changed, the answer to its id, to deny it with."""
    by_id = [each for each in among if isinstance(found := mark(each), list) and found[:1] == call[:1]]
    return next((each for each in by_id if mark(each) == call), by_id[0] if by_id else None)


def mcp_name(server: str, tool: str) -> str:
    """The name by which rules know a tool of an MCP server."""
    return f"mcp__{server}__{tool}"


def name_of(item: ToolApprovalItem) -> str:
    origin = item.tool_origin
    if origin is not None and origin.mcp_server_name:
        return mcp_name(origin.mcp_server_name, item.tool_name or "")
    return item.qualified_name or ""


def _ours_alone(item: ToolApprovalItem) -> bool:
    """Whether nothing but the gate paused for a call."""
    tools = [each for each in item.agent.tools if isinstance(each, FunctionTool)]
    needs = [each.needs_approval for each in tools if each.qualified_name == item.qualified_name]
    return bool(needs) and all(isinstance(each, Pausing) and each.own is False for each in needs)
