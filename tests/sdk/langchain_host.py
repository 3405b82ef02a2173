"""LangChain's agents with its own fake chat model, which follows a script."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolCall, ToolMessage
from langchain_core.tools import StructuredTool, tool
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Command

from assent import Session
from assent.sdk.langchain import AssentMiddleware
from assent.sdk.passage import Sessions

from .kit import Durable, Host, Ran, Use


class Scripted(GenericFakeChatModel):
    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self


def model(turns: Sequence[Sequence[Use]], name: str = "run") -> Scripted:
    def messages() -> Iterator[AIMessage]:
        for uses in turns:
            calls = [ToolCall(name=name, args={"command": each.command}, id=each.id) for each in uses]
            yield AIMessage(content="", tool_calls=calls)
        yield AIMessage(content="done")

    return Scripted(messages=messages())


def noting(ran: Ran) -> Any:
    @tool
    def run(command: str) -> str:
        """Run a command."""
        ran.commands.append(command)
        return f"ran {command}"

    return run


def told(messages: Sequence[Any]) -> dict[str, str]:
    return {each.tool_call_id: str(each.content) for each in messages if isinstance(each, ToolMessage)}


class Rewriting(AgentMiddleware[Any, Any, Any]):
    def __init__(self, rewrite: Callable[[str], str]) -> None:
        super().__init__()
        self._rewrite = rewrite

    def _changed(self, request: Any) -> Any:
        call = request.tool_call
        return request.override(tool_call={**call, "args": {"command": self._rewrite(call["args"]["command"])}})

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        return handler(self._changed(request))

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        return await handler(self._changed(request))


class LangChain(Host):
    name = "langchain"

    async def run(
        self,
        session: Sessions,
        turns: Sequence[Sequence[Use]],
        *,
        nested: bool = False,
        rewrite: Callable[[str], str] | None = None,
    ) -> Ran:
        ran = Ran()
        gate = AssentMiddleware(session)
        middleware = [*([Rewriting(rewrite)] if rewrite else []), gate]
        agent: Any = create_agent(model(turns), [noting(ran)], middleware=middleware)
        if nested:
            inner = agent

            def part(command: str) -> str:
                """Give a part to another agent."""
                ran.told.update(told(inner.invoke({"messages": [("user", command)]})["messages"]))
                return "it is done"

            async def part_later(command: str) -> str:
                done = await inner.ainvoke({"messages": [("user", command)]})
                ran.told.update(told(done["messages"]))
                return "it is done"

            delegate = StructuredTool.from_function(part, part_later, name="delegate")

            agent = create_agent(model([[Use("your part", "outer")]], "delegate"), [delegate], middleware=[gate])
        done = await self._invoke(agent)
        ran.told.update(told(done["messages"]))
        return ran

    async def _invoke(self, agent: Any) -> Any:
        return await agent.ainvoke({"messages": [("user", "go")]})


class LangChainSync(LangChain):
    """The same by the other method, which needs a thread where a test has a loop."""

    name = "langchain-sync"

    async def _invoke(self, agent: Any) -> Any:
        import asyncio

        return await asyncio.to_thread(agent.invoke, {"messages": [("user", "go")]})
