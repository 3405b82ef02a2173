"""OpenAI Agents: guardrails on every tool of an agent that ask the gate.

Agents that are tools of the agent, or that it hands over to, are gated with it. Tools that run at the model's provider,
or that click on a computer, are not seen: they are refused unless left out by name. A run that pauses for an answer can
go on in another process."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from typing import Any, TypeVar

from agents import (
    Agent,
    ApplyPatchTool,
    CustomTool,
    FunctionTool,
    Handoff,
    LocalShellTool,
    RunContextWrapper,
    RunResult,
    RunResultStreaming,
    RunState,
    ShellTool,
    ToolApprovalItem,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrail,
    ToolInputGuardrailData,
    handoffs,
)
from agents.editor import ApplyPatchOperation, ApplyPatchResult
from agents.mcp import MCPServer
from agents.tool import LocalShellCommandRequest, ShellCommandRequest
from agents.tool_context import ToolContext

from assent.api.embedded import DAY
from assent.api.functions import Denied
from assent.contract import PayloadError, texts
from assent.contract.approval import Verdict
from assent.effects.native import LIKE
from assent.sdk import tool_guard
from assent.sdk.tool_guard import Sessions, ToolGuard, denial_text

RUNTIME = "openai-agents"


def guard(
    session: Sessions, agent: Agent[Any], *, durable: bool = False, seconds: float = DAY, leave: Sequence[str] = ()
) -> Agent[Any]:
    """Put all tools of an agent behind the gate, and those of the agents within it; in place, since an agent that is a
    tool cannot be replaced. Gating an agent again replaces its session.

    `durable`: a question pauses the run, for `questions` and `answered`. Raises PayloadError for a tool that cannot be
    gated; `leave` names deliberate exceptions."""
    Arming(ToolGuard(session, RUNTIME, seconds=seconds), durable, frozenset(texts(leave, "leave"))).agent(agent)
    return agent


class Guardrail(ToolInputGuardrail[Any]):
    """Asks the gate about the calls of a tool, which is known to it by this name."""

    def __init__(self, guard: ToolGuard, name: str, *, mcp: bool = False) -> None:
        super().__init__(self._ask, "assent")
        self._guard = guard
        self._name = name
        self._mcp = mcp

    async def _ask(self, data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        context = data.context
        name = mcp_name(self._name, context.tool_name) if self._mcp else self._name
        given = context.tool_arguments
        answer = taken(context.tool_call_id, name, given)
        guard = self._guard
        verdict = await guard.guard(name, given) if answer is None else guard.release(answer, name, given)
        if verdict.allowed is True:
            return ToolGuardrailFunctionOutput.allow()
        if verdict.stop:
            return ToolGuardrailFunctionOutput.raise_exception(denial_text(verdict))
        return ToolGuardrailFunctionOutput.reject_content(denial_text(verdict))


@dataclass(eq=False)
class Arming:
    _guard: ToolGuard
    _durable: bool
    _leave: frozenset[str]
    _seen: set[int] = field(default_factory=set)

    def agent(self, agent: Agent[Any]) -> None:
        if id(agent) in self._seen:
            return
        self._seen.add(id(agent))
        if agent.mcp_servers and agent.mcp_config.get("include_server_in_tool_names"):
            raise PayloadError("rules would miss MCP tools by the names of `include_server_in_tool_names`; turn it off")
        if type(agent).get_all_tools is not Agent.get_all_tools and agent.name not in self._leave:
            raise PayloadError(
                f"the agent `{agent.name}` brings tools that cannot be seen; `leave` it, or take another"
            )
        agent.tools = [self._tool(each) for each in agent.tools]
        for server in agent.mcp_servers:
            self._server(server)
        agent.handoffs = [self._handoff(each) for each in agent.handoffs]

    def _tool(self, tool: Any) -> Any:
        if not isinstance(tool, FunctionTool):
            return gated(tool, self._guard, self._leave)
        if tool._is_agent_tool:
            self.agent(tool._agent_instance)
        tool = copy(tool)
        tool.tool_input_guardrails = [*_others(tool), Guardrail(self._guard, tool.qualified_name)]
        own = tool.needs_approval.own if isinstance(tool.needs_approval, Pausing) else tool.needs_approval
        tool.needs_approval = Pausing(self._guard, tool.qualified_name, own) if self._durable else own
        return tool

    def _server(self, server: MCPServer) -> None:
        server.tool_input_guardrails = [*_others(server), Guardrail(self._guard, server.name, mcp=True)]
        vars(server).pop("_get_needs_approval_for_tool", None)
        if self._durable:  # if this is no longer called, a question is asked in the gate's channels
            theirs = server._get_needs_approval_for_tool
            vars(server)["_get_needs_approval_for_tool"] = lambda tool, agent: Pausing(
                self._guard, mcp_name(server.name, tool.name), theirs(tool, agent)
            )

    def _handoff(self, given: Agent[Any] | Handoff[Any, Any]) -> Any:
        found = given if isinstance(given, Agent) else given._agent_ref() if given._agent_ref is not None else None
        if isinstance(found, Agent):
            self.agent(found)
        elif isinstance(given, Handoff) and given.tool_name not in self._leave:
            raise PayloadError(
                f"`{given.tool_name}` hands over to an agent that cannot be seen; gate that, and `leave` it"
            )
        if not isinstance(given, Handoff) or given.tool_name in self._leave or _only_hands_over(given):
            return given
        given = copy(given)
        theirs = given.on_invoke_handoff
        own = theirs.own if isinstance(theirs, HandingOver) else theirs
        given.on_invoke_handoff = HandingOver(self._guard, given.tool_name, own)
        return given


@dataclass(eq=False)
class HandingOver:
    """Asks the gate before a handoff that runs a function. A denied one ends the run: there is no answer to give."""

    guard: ToolGuard
    name: str
    own: Callable[[Any, str], Awaitable[Any]]

    async def __call__(self, context: Any, given: str) -> Any:
        verdict = await self.guard.guard(self.name, given)
        if verdict.allowed is not True:
            raise Denied(verdict)
        return await self.own(context, given)


def _only_hands_over(given: Handoff[Any, Any]) -> bool:
    """Whether a handoff is known to run nothing: made by `handoff()`, without `on_handoff`."""
    found = given.on_invoke_handoff
    made = found.args[0] if isinstance(found, partial) and len(found.args) == 1 else found
    if getattr(made, "__module__", "") != handoffs.__name__ or not inspect.isfunction(made):
        return False
    return inspect.getclosurevars(made).nonlocals.get("on_handoff", made) is None


def _others(of: FunctionTool | MCPServer) -> list[ToolInputGuardrail[Any]]:
    return [each for each in of.tool_input_guardrails or () if not isinstance(each, Guardrail)]


def gated(tool: Any, guard: ToolGuard, leave: frozenset[str]) -> Any:
    """The tool behind the gate. Raises PayloadError if it cannot be gated."""
    name = getattr(tool, "name", type(tool).__name__)
    if name in leave:
        return tool
    match tool:
        case ShellTool() if tool.executor is not None:
            return replace(tool, executor=_Shell(guard, _bare(tool.executor)))
        case LocalShellTool():
            return replace(tool, executor=_LocalShell(guard, _bare(tool.executor)))
        case ApplyPatchTool():
            return replace(tool, editor=_Editor(guard, _bare(tool.editor)))
        case CustomTool():
            return replace(tool, on_invoke_tool=_Custom(guard, _bare(tool.on_invoke_tool), name))
    raise PayloadError(f"the tool `{name}` runs where the gate cannot see it; `leave=[{name!r}]` lets it run ungated")


@dataclass(eq=False)
class _Behind:
    guard: ToolGuard
    inner: Any

    async def _pass(self, tool: str, given: dict[str, object], *, runtime: str = LIKE, cwd: str = "") -> Verdict:
        verdict = await self.guard.guard(tool, given, runtime=runtime, cwd=cwd)
        if verdict.stop and verdict.allowed is not True:
            raise Denied(verdict)  # ends the run
        return verdict


class _Shell(_Behind):
    async def __call__(self, request: ShellCommandRequest) -> Any:
        commands = tuple(request.data.action.commands)
        # Whether they share a shell is up to the executor: each is judged alone, and several together as well.
        for text in (*commands, "\n".join(commands)) if len(commands) > 1 else commands:
            verdict = await self._pass("bash", {"command": text})
            if verdict.allowed is not True:
                return denial_text(verdict)
        if tuple(request.data.action.commands) != commands:
            return "This call was not run: its commands changed while a person was asked."
        return await _done(self.inner(request))


class _LocalShell(_Behind):
    async def __call__(self, request: LocalShellCommandRequest) -> Any:
        action = request.data.action
        env = {"env": dict(action.env)} if action.env else {}
        given: dict[str, object] = {"command": shlex.join(action.command), **env}
        verdict = await self._pass("bash", given, cwd=action.working_directory or "")
        return await _done(self.inner(request)) if verdict.allowed is True else denial_text(verdict)


class _Editor(_Behind):
    async def create_file(self, operation: ApplyPatchOperation) -> Any:
        return await self._edit("write", operation, self.inner.create_file)

    async def update_file(self, operation: ApplyPatchOperation) -> Any:
        return await self._edit("write", operation, self.inner.update_file)

    async def delete_file(self, operation: ApplyPatchOperation) -> Any:
        return await self._edit("delete", operation, self.inner.delete_file)

    async def _edit(self, tool: str, operation: ApplyPatchOperation, then: Callable[[Any], Any]) -> Any:
        for path in filter(None, (operation.path, operation.move_to)):
            verdict = await self._pass(tool, {"file_path": path, "content": operation.diff or ""})
            if verdict.allowed is not True:
                return ApplyPatchResult("failed", denial_text(verdict))
        return await _done(then(operation))


@dataclass(eq=False)
class _Custom(_Behind):
    name: str

    async def __call__(self, context: ToolContext[Any], text: str) -> Any:
        verdict = await self._pass(self.name, {"input": text}, runtime=RUNTIME)
        return await _done(self.inner(context, text)) if verdict.allowed is True else denial_text(verdict)


def _bare(of: Any) -> Any:
    """The wrapped executor, editor or function of a gated tool; any other as it is."""
    return of.inner if isinstance(of, _Behind) else of


async def _done(result: Any) -> Any:
    return await result if inspect.isawaitable(result) else result


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
    also holds."""

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
    seconds, with `tool_guard.answer`. Pauses of the author's own `needs_approval` are not included."""
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
    """Resume a paused run: a run that starts within this, by any method of `Runner`, has these answers."""
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
            state.reject(item, rejection_message=denial_text(guard.release(answer, name, item.arguments)))
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
    """The answer to a call; if its arguments changed, the answer to its id, to deny it with."""
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
