"""Pydantic AI with its own function model, which follows a script."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter
from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from assent import Session
from assent.sdk.pydantic_ai import AssentCapability, results
from assent.sdk.tool_guard import Sessions

from .kit import Durable, Host, Ran, Use

REQUESTS: TypeAdapter[DeferredToolRequests] = TypeAdapter(DeferredToolRequests)


def model(turns: Sequence[Sequence[Use]], name: str = "run") -> FunctionModel:
    def say(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        turn = sum(isinstance(each, ModelResponse) for each in messages)
        if turn >= len(turns):
            return ModelResponse([TextPart("done")])
        return ModelResponse([ToolCallPart(name, {"command": each.command}, each.id) for each in turns[turn]])

    return FunctionModel(say)


def told(messages: Sequence[ModelMessage]) -> dict[str, str]:
    parts = [part for each in messages if isinstance(each, ModelRequest) for part in each.parts]
    return {each.tool_call_id: str(each.content) for each in parts if isinstance(each, ToolReturnPart)}


@dataclass
class Rewriting(AbstractCapability[Any]):
    rewrite: Callable[[str], str]

    async def before_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any) -> Any:
        return {"command": self.rewrite(args["command"])}


class PydanticAI(Host):
    name = "pydantic-ai"

    async def run(
        self,
        session: Sessions,
        turns: Sequence[Sequence[Use]],
        *,
        nested: bool = False,
        rewrite: Callable[[str], str] | None = None,
    ) -> Ran:
        ran = Ran()
        gate = AssentCapability(session)
        capabilities = [gate, *([Rewriting(rewrite)] if rewrite else [])]
        agent = Agent(model(turns), capabilities=capabilities)

        @agent.tool_plain
        def run(command: str) -> str:
            ran.commands.append(command)
            return f"ran {command}"

        outer = agent
        if nested:
            outer = Agent(model([[Use("your part", "outer")]], "delegate"), capabilities=[gate])

            @outer.tool_plain
            async def delegate(command: str) -> str:
                done = await agent.run(command)
                ran.told.update(told(done.all_messages()))
                return "it is done"

        done = await outer.run("go")
        ran.told.update(told(done.all_messages()))
        return ran


class PydanticDeferred(Durable):
    """A run that ended with deferred calls; its messages and its requests are kept as JSON."""

    name = "pydantic-ai"

    def _agent(self, session: Session, uses: Sequence[Use], ran: Ran, seconds: float) -> Agent[Any, Any]:
        gate = AssentCapability(session, durable=True, seconds=seconds)
        agent: Agent[Any, Any] = Agent(model([uses]), capabilities=[gate], output_type=[str, DeferredToolRequests])

        @agent.tool_plain
        def run(command: str) -> str:
            ran.commands.append(command)
            return f"ran {command}"

        return agent

    async def start(self, session: Session, uses: Sequence[Use], *, seconds: float = 3600.0) -> list[dict[str, Any]]:
        ran = Ran()
        done = await self._agent(session, uses, ran, seconds).run("go")
        requests = done.output if isinstance(done.output, DeferredToolRequests) else DeferredToolRequests()
        kept = {
            "messages": json.loads(done.all_messages_json()),
            "requests": REQUESTS.dump_python(requests, mode="json"),
        }
        kept["uses"] = [[each.command, each.id] for each in uses]
        (self.folder / "run").write_text(json.dumps(kept))
        (self.folder / "ran").write_text(json.dumps(ran.commands))
        return list(requests.metadata.values())

    async def resume(self, session: Session, answers: list[dict[str, Any]], *, bare: bool = False) -> Ran:
        ran = Ran()
        kept = json.loads((self.folder / "run").read_text())
        requests = REQUESTS.validate_python(kept["requests"])
        found = requests.build_results(approve_all=True) if bare else results(session, requests, answers)
        agent = self._agent(session, [Use(*each) for each in kept["uses"]], ran, 3600.0)
        history = ModelMessagesTypeAdapter.validate_python(kept["messages"])
        done = await agent.run(message_history=history, deferred_tool_results=found)
        ran.told.update(told(done.all_messages()))
        return ran

    def tamper(self, old: str, new: str) -> None:
        path = self.folder / "run"
        path.write_text(path.read_text().replace(old, new))
