"""A Pydantic AI agent that ends its run for an answer, and goes on later from text, maybe in another process.

pip install 'assent[pydantic-ai]'
"""

from __future__ import annotations

import asyncio
import tempfile
from typing import Any

from pydantic import TypeAdapter
from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from assent import Gate
from assent.sdk.pydantic_ai import AssentCapability, results
from assent.sdk.tool_guard import answer

REQUESTS: TypeAdapter[DeferredToolRequests] = TypeAdapter(DeferredToolRequests)


def scripted(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """A model that calls `shell` once. Use `Agent("provider:name")` in its place."""
    if any(isinstance(each, ModelResponse) for each in messages):
        return ModelResponse([TextPart("I am done.")])
    return ModelResponse([ToolCallPart("shell", {"command": "make deploy"})])


def build(gate: Gate) -> Agent[Any, Any]:
    agent: Agent[Any, Any] = Agent(
        FunctionModel(scripted),
        capabilities=[AssentCapability(gate, durable=True)],
        output_type=[str, DeferredToolRequests],
    )

    @agent.tool_plain
    def shell(command: str) -> str:
        """Run a shell command; here it is only said."""
        return f"ran {command}"

    return agent


async def main(folder: str) -> None:
    gate = Gate(folder, tools={"shell": "bash"}, channels=["nobody"], state=f"{folder}/.state")
    done = await build(gate).run("deploy it")
    kept = done.all_messages_json(), REQUESTS.dump_json(done.output)
    gate.close()  # the question is in Assent's folder, the run in these texts

    gate = Gate(folder, tools={"shell": "bash"}, channels=["nobody"], state=f"{folder}/.state")
    history, requests = ModelMessagesTypeAdapter.validate_json(kept[0]), REQUESTS.validate_json(kept[1])
    [asked] = requests.metadata.values()
    print("asked:", asked["preview"], "because", asked["reason"])
    given = results(gate, requests, [answer(asked, allow=True, who="ada")])
    done = await build(gate).run(message_history=history, deferred_tool_results=given)
    parts = [part for message in done.new_messages() for part in message.parts]
    print([part.content for part in parts if isinstance(part, ToolReturnPart)])
    gate.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as found:
        asyncio.run(main(found))
