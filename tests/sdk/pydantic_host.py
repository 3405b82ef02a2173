"""Pydantic AI with its own function model, which follows a script."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from assent.sdk.passage import Sessions
from assent.sdk.pydantic_ai import AssentCapability

from .kit import Host, Ran, Use


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
