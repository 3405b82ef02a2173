"""An agent of the OpenAI Agents SDK that pauses for an answer, and goes on later from text, maybe in another process.

pip install 'assent[openai]'
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator
from typing import Any

from agents import Agent, Model, ModelResponse, RunConfig, Runner, RunState, Usage, function_tool
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from assent import Gate
from assent.sdk.openai_agents import answered, guard, questions
from assent.sdk.tool_guard import answer

QUIET = RunConfig(tracing_disabled=True)


class Scripted(Model):
    """A model that calls `shell` once. Give the name of a real one in its place."""

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:
        text = ResponseOutputText(text="I am done.", type="output_text", annotations=[])
        said: Any = ResponseOutputMessage(id="m", content=[text], role="assistant", status="completed", type="message")
        if not any(each.get("type") == "function_call_output" for each in input):
            call = json.dumps({"command": "make deploy"})
            said = ResponseFunctionToolCall(name="shell", arguments=call, call_id="call_1", type="function_call")
        return ModelResponse([said], Usage(), None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


@function_tool
def shell(command: str) -> str:
    """Run a shell command; here it is only said."""
    return f"ran {command}"


def build(gate: Gate) -> Agent[Any]:
    return guard(gate, Agent(name="helper", model=Scripted(), tools=[shell]), durable=True)


async def main(folder: str) -> None:
    gate = Gate(folder, tools={"shell": "bash"}, channels=["nobody"], state=f"{folder}/.state")
    done = await Runner.run(build(gate), "deploy it", run_config=QUIET)
    kept = json.dumps({"state": done.to_state().to_string(), "asked": questions(gate, done)})
    gate.close()  # the question is in Assent's folder, the run in this text

    gate = Gate(folder, tools={"shell": "bash"}, channels=["nobody"], state=f"{folder}/.state")
    agent, found = build(gate), json.loads(kept)
    [asked] = found["asked"]
    print("asked:", asked["preview"], "because", asked["reason"])
    state = await RunState.from_string(agent, found["state"])
    with answered(gate, state, [answer(asked, allow=True, who="ada")]):
        done = await Runner.run(agent, state, run_config=QUIET)
    print([item.output for item in done.new_items if item.type == "tool_call_output_item"])
    gate.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as found:
        asyncio.run(main(found))
