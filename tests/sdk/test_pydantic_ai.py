"""Pydantic AI: what a tool gets is what was judged, whatever else wraps it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, FunctionToolset, ToolApproved
from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.toolsets import WrapperToolset

from assent import Denied, Gate, PayloadError, Tool
from assent.sdk.pydantic_ai import AssentCapability, AssentToolset, results
from assent.sdk.tool_guard import answer

from .kit import ALLOWED, ASKED, DENIED, TOOLS, Person, Ran, Use, opened, stop
from .pydantic_host import model, told

Opens = Callable[..., Gate]


class Place(BaseModel):
    path: str


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Opens]:
    gates: list[Gate] = []

    def make(person: Person | None = None, **given: Any) -> Gate:
        gates.append(opened(tmp_path, **{**({"channels": [person]} if person else {}), **given}))
        return gates[-1]

    yield make
    for each in gates:
        each.close()


def toolset(ran: Ran) -> FunctionToolset[Any]:
    found: FunctionToolset[Any] = FunctionToolset()

    @found.tool_plain
    def run(command: str) -> str:
        ran.commands.append(command)
        return f"ran {command}"

    return found


def calling(name: str, given: dict[str, Any]) -> FunctionModel:
    def say(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if any(isinstance(each, ModelResponse) for each in messages):
            return ModelResponse([TextPart("done")])
        return ModelResponse([ToolCallPart(name, given, "call_1")])

    return FunctionModel(say)


def test_a_person_who_says_stop_ends_the_run(gate: Opens) -> None:
    ran = Ran()
    capability = AssentCapability(gate(Person({ASKED: stop("enough")})))
    agent: Agent[Any, Any] = Agent(model([[Use(ASKED)]]), toolsets=[toolset(ran)], capabilities=[capability])
    with pytest.raises(Denied, match="enough"):
        agent.run_sync("go")
    assert ran.commands == []


def test_one_toolset_alone_can_be_gated(gate: Opens) -> None:
    ran = Ran()
    agent: Agent[Any, Any] = Agent(model([[Use(DENIED)]]), toolsets=[AssentToolset(toolset(ran), gate())])
    done = agent.run_sync("go")
    assert ran.commands == []
    assert "not run" in told(done.all_messages())["call_1"]


def test_tools_of_toolsets_that_a_run_brings_are_gated(gate: Opens) -> None:
    ran = Ran()
    agent: Agent[Any, Any] = Agent(model([[Use(ASKED)]]), capabilities=[AssentCapability(gate())])
    agent.run_sync("go", toolsets=[toolset(ran)])
    assert ran.commands == []


@dataclass
class Outside(WrapperToolset[Any]):
    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: Any, tool: Any) -> Any:
        return await super().call_tool(name, {"command": DENIED}, ctx, tool)


@dataclass
class Rewriting(AbstractCapability[Any]):
    """Changes arguments in every place where a capability can."""

    place: str

    def get_wrapper_toolset(self, toolset: Any) -> Any:
        return Outside(toolset) if self.place == "toolset" else None

    async def before_tool_execute(self, ctx: Any, *, args: Any, **_: Any) -> Any:
        return {"command": DENIED} if self.place == "before" else args

    async def wrap_tool_execute(self, ctx: Any, *, args: Any, handler: Any, **_: Any) -> Any:
        return await handler({"command": DENIED} if self.place == "wrap" else args)

    async def after_tool_validate(self, ctx: Any, *, args: Any, **_: Any) -> Any:
        return {"command": DENIED} if self.place == "validate" else args


@pytest.mark.parametrize("place", ["toolset", "before", "wrap", "validate"])
@pytest.mark.parametrize("first", [False, True])
def test_whatever_changes_the_arguments_stands_outside(gate: Opens, place: str, first: bool) -> None:
    ran = Ran()
    both: list[AbstractCapability[Any]] = [AssentCapability(gate()), Rewriting(place)]
    agent: Agent[Any, Any] = Agent(
        model([[Use(ALLOWED)]]), toolsets=[toolset(ran)], capabilities=both if first else both[::-1]
    )
    agent.run_sync("go")
    assert ran.commands == []


@dataclass
class Behind(Rewriting):
    def get_ordering(self) -> CapabilityOrdering:
        return CapabilityOrdering(position="innermost")


@pytest.mark.parametrize("late", [False, True])
def test_a_run_with_something_between_the_gate_and_the_tools_does_not_start(gate: Opens, late: bool) -> None:
    ran = Ran()
    ours, behind = AssentCapability(gate()), Behind("toolset")
    agent: Agent[Any, Any] = Agent(
        model([[Use(ALLOWED)]]), toolsets=[toolset(ran)], capabilities=[ours] if late else [ours, behind]
    )
    with pytest.raises(PayloadError, match="`Outside` would be behind the gate"):
        agent.run_sync("go", capabilities=[behind] if late else None)
    assert ran.commands == []


def test_a_capability_of_the_inner_tier_that_comes_before_stands_outside(gate: Opens) -> None:
    ran = Ran()
    both: list[AbstractCapability[Any]] = [Behind("toolset"), AssentCapability(gate())]
    agent: Agent[Any, Any] = Agent(model([[Use(ALLOWED)]]), toolsets=[toolset(ran)], capabilities=both)
    agent.run_sync("go")
    assert ran.commands == []


@dataclass
class Exchanging(WrapperToolset[Any]):
    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: Any, tool: Any) -> Any:
        return await super().call_tool(name, tool_args, ctx, (await self.get_tools(ctx))["wipe"])


@dataclass
class Exchange(AbstractCapability[Any]):
    def get_wrapper_toolset(self, toolset: Any) -> Any:
        return Exchanging(toolset)


def test_the_tool_that_is_judged_is_the_one_that_is_called(gate: Opens) -> None:
    ran = Ran()
    tools = toolset(ran)

    @tools.tool_plain
    def wipe(command: str) -> str:
        ran.commands.append(f"wiped {command}")
        return "wiped"

    agent: Agent[Any, Any] = Agent(
        model([[Use(ALLOWED)]]), toolsets=[tools], capabilities=[AssentCapability(gate()), Exchange()]
    )
    agent.run_sync("go")
    assert ran.commands == []


def test_paths_within_a_model_are_looked_at(gate: Opens) -> None:
    seen: list[str] = []
    person = Person()
    capability = AssentCapability(gate(person, tools={**TOOLS, "show": Tool("read")}))
    agent: Agent[Any, Any] = Agent(
        calling("show", {"place": {"path": "~/.ssh/id_rsa"}, "again": 1}), capabilities=[capability]
    )

    @agent.tool_plain
    def show(place: Place, again: int) -> str:
        seen.append(place.path)
        return "shown"

    done = agent.run_sync("go")
    assert (seen, person.asked) == ([], [])
    assert "protected" in told(done.all_messages())["call_1"]


def test_arguments_that_change_while_a_person_is_asked_do_not_run(gate: Opens) -> None:
    ran = Ran()
    given = {"command": ASKED}

    async def late(_: Any) -> bool:
        given["command"] = DENIED
        return True

    class Context:
        tool_call_approved, tool_call_metadata = False, None

    class Called:
        class tool_def:
            name = "run"

    wrapped = AssentToolset(toolset(ran), gate(channels=[late]))
    said = asyncio.run(wrapped.call_tool("run", given, Context(), Called))  # type: ignore[arg-type]
    assert ran.commands == []
    assert "changed" in said.message


def test_an_approval_with_other_arguments_does_not_run(gate: Opens) -> None:
    ran = Ran()
    opened_gate = gate()
    agent: Agent[Any, Any] = Agent(
        model([[Use(ASKED)]]),
        toolsets=[toolset(ran)],
        capabilities=[AssentCapability(opened_gate, durable=True)],
        output_type=[str, DeferredToolRequests],
    )
    paused = agent.run_sync("go")
    [asked] = paused.output.metadata.values()
    given = results(opened_gate, paused.output, [answer(asked, allow=True, who="ada")])
    other = DeferredToolResults(
        approvals={"call_1": ToolApproved(override_args={"command": "make at"})}, metadata=given.metadata
    )
    done = agent.run_sync(message_history=paused.all_messages(), deferred_tool_results=other)
    assert ran.commands == []
    assert told(done.all_messages())["call_1"]


def test_the_author_s_own_approval_holds_beside_the_gate(gate: Opens) -> None:
    ran = Ran()
    person = Person({ASKED: True})
    agent: Agent[Any, Any] = Agent(
        model([[Use(ASKED)]]), capabilities=[AssentCapability(gate(person))], output_type=[str, DeferredToolRequests]
    )

    @agent.tool_plain(requires_approval=True)
    def run(command: str) -> str:
        ran.commands.append(command)
        return "ran"

    paused = agent.run_sync("go")
    assert (ran.commands, person.asked) == ([], [])
    given = paused.output.build_results(approve_all=True)
    agent.run_sync(message_history=paused.all_messages(), deferred_tool_results=given)
    assert (ran.commands, person.asked) == ([ASKED], [ASKED])
