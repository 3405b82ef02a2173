"""LangChain's agents with its own fake chat model, which follows a script."""

from __future__ import annotations

import asyncio
import json
import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolCall, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from assent import Session
from assent.sdk.langchain import LangChainMiddleware
from assent.sdk.tool_guard import Sessions

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
        gate = LangChainMiddleware(session)
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
    """The same by the other method, which needs a thread if a test has a loop."""

    name = "langchain-sync"

    async def _invoke(self, agent: Any) -> Any:
        return await asyncio.to_thread(agent.invoke, {"messages": [("user", "go")]})


class LangGraph(Durable):
    """A graph that is kept in a file, by the serializer of LangGraph's own checkpoints."""

    name = "langchain"
    config: Any = {"configurable": {"thread_id": "one"}}

    def _agent(self, session: Session, uses: Sequence[Use], ran: Ran, seconds: float) -> tuple[Any, InMemorySaver]:
        saver = InMemorySaver()
        gate = LangChainMiddleware(session, durable=True, seconds=seconds)
        return create_agent(resumable(uses), [noting(ran)], middleware=[gate], checkpointer=saver), saver

    async def start(self, session: Session, uses: Sequence[Use], *, seconds: float = 3600.0) -> list[dict[str, Any]]:
        ran = Ran()
        agent, saver = self._agent(session, uses, ran, seconds)
        await agent.ainvoke({"messages": [("user", "go")]}, self.config)
        kept = (plain(saver.storage), plain(saver.writes), plain(saver.blobs), [*uses])
        (self.folder / "graph").write_bytes(pickle.dumps(kept))
        (self.folder / "ran").write_text(json.dumps(ran.commands))
        return [each.value for each in agent.get_state(self.config).interrupts]

    async def resume(self, session: Session, answers: list[dict[str, Any]], *, bare: bool = False) -> Ran:
        ran = Ran()
        storage, writes, blobs, uses = pickle.loads((self.folder / "graph").read_bytes())
        agent, saver = self._agent(session, uses, ran, 3600.0)
        for thread, spaces in storage.items():
            saver.storage[thread].update({space: dict(found) for space, found in spaces.items()})
        for key, found in writes.items():
            saver.writes[key].update(found)
        saver.blobs.update(blobs)
        by_id = {each["assent"]: each for each in answers}
        pauses = agent.get_state(self.config).interrupts
        given = {each.id: True if bare else by_id.get(each.value["assent"]) for each in pauses}
        done = await agent.ainvoke(Command(resume=given), self.config)
        ran.told.update(told(done["messages"]))
        return ran

    def tamper(self, old: str, new: str) -> None:
        path = self.folder / "graph"
        path.write_bytes(path.read_bytes().replace(old.encode(), new.encode()))


def resumable(uses: Sequence[Use]) -> Scripted:
    """A model that finds its turn in the conversation."""

    class Looking(Scripted):
        def _generate(self, messages: Any, *_: Any, **__: Any) -> Any:
            if any(isinstance(each, ToolMessage) for each in messages):
                return ChatResult(generations=[ChatGeneration(message=AIMessage(content="done"))])
            calls = [ToolCall(name="run", args={"command": each.command}, id=each.id) for each in uses]
            return ChatResult(generations=[ChatGeneration(message=AIMessage(content="", tool_calls=calls))])

    return Looking(messages=iter(()))


def plain(value: Any) -> Any:
    return {key: plain(each) for key, each in value.items()} if isinstance(value, dict) else value
