"""A LangGraph agent that pauses for an answer, and goes on later, with another gate and maybe in another process.

pip install 'assent[langchain]'
"""

from __future__ import annotations

import asyncio
import tempfile
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolCall
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from assent import Gate
from assent.sdk.langchain import LangChainMiddleware, said


class Scripted(GenericFakeChatModel):
    """A model that calls `shell` once. Use `model="provider:name"` in its place."""

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self


@tool
def shell(command: str) -> str:
    """Run a shell command; here it is only said."""
    return f"ran {command}"


def build(gate: Gate, checkpoints: InMemorySaver, *messages: AIMessage) -> Any:
    model = Scripted(messages=iter(messages))
    # A checkpointer that keeps to disk makes the pause survive this process.
    middleware = [LangChainMiddleware(gate, durable=True, seconds=24 * 3600)]
    return create_agent(model, [shell], middleware=middleware, checkpointer=checkpoints)


async def main(folder: str) -> None:
    checkpoints, config = InMemorySaver(), {"configurable": {"thread_id": "one"}}

    gate = Gate(folder, tools={"shell": "bash"}, channels=["nobody"], state=f"{folder}/.state")
    call = ToolCall(name="shell", args={"command": "make deploy"}, id="call_1")
    agent = build(gate, checkpoints, AIMessage("", tool_calls=[call]))
    await agent.ainvoke({"messages": [("user", "deploy it")]}, config)
    gate.close()  # the question is in Assent's folder, the run in the checkpoints

    gate = Gate(folder, tools={"shell": "bash"}, channels=["nobody"], state=f"{folder}/.state")
    agent = build(gate, checkpoints, AIMessage("I am done."))
    [pause] = (await agent.aget_state(config)).interrupts
    print("asked:", pause.value["preview"], "because", pause.value["reason"])
    done = await agent.ainvoke(Command(resume=said(pause, allow=True, who="ada")), config)
    print(done["messages"][-2].text)
    gate.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as found:
        asyncio.run(main(found))
