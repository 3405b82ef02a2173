"""OpenAI Agents with a model that follows a script."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from agents import Agent, Model, ModelResponse, RunConfig, Runner, RunState, Usage, function_tool
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from assent import Session
from assent.sdk.openai_agents import answered, guard, questions
from assent.sdk.tool_guard import Sessions

from .kit import Durable, Host, Ran, Use

QUIET = RunConfig(tracing_disabled=True)


class Scripted(Model):
    """Its turn is the number of its own answers in the conversation, so that it survives a pause."""

    def __init__(self, turns: Sequence[Sequence[Use]], name: str = "run") -> None:
        self._turns = turns
        self._name = name
        self.seen: list[Any] = []

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:
        self.seen = list(input) if not isinstance(input, str) else []
        ids = [each["call_id"] for each in self.seen if each.get("type") == "function_call_output"]
        turn = next((i for i, uses in enumerate(self._turns) if any(each.id not in ids for each in uses)), None)
        return ModelResponse(output=self._say(turn), usage=Usage(), response_id=None)

    def _say(self, turn: int | None) -> list[Any]:
        if turn is None:
            text = ResponseOutputText(text="done", type="output_text", annotations=[])
            return [ResponseOutputMessage(id="m", content=[text], role="assistant", status="completed", type="message")]
        return [
            ResponseFunctionToolCall(
                arguments=json.dumps({"command": each.command}), call_id=each.id, name=self._name, type="function_call"
            )
            for each in self._turns[turn]
        ]

    async def stream_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> AsyncIterator[Any]:
        said = await self.get_response(system_instructions, input)
        response = Response.model_construct(id="r", created_at=0, model="m", object="response", output=said.output)
        yield ResponseCompletedEvent.model_construct(type="response.completed", response=response, sequence_number=0)


def told(items: Sequence[Any]) -> dict[str, str]:
    return {each["call_id"]: str(each["output"]) for each in items if each.get("type") == "function_call_output"}


def noting(ran: Ran) -> Any:
    @function_tool
    def run(command: str) -> str:
        """Run a command."""
        ran.commands.append(command)
        return f"ran {command}"

    return run


class OpenAIAgents(Host):
    name = "openai-agents"
    rewrites = False

    async def run(
        self,
        session: Sessions,
        turns: Sequence[Sequence[Use]],
        *,
        nested: bool = False,
        rewrite: Callable[[str], str] | None = None,
    ) -> Ran:
        ran = Ran()
        scripted = Scripted(turns)
        agent: Agent[Any] = Agent(name="worker", model=scripted, tools=[noting(ran)])
        if nested:
            inner = agent.as_tool("delegate", "give a part to another agent")
            outer = [
                ResponseFunctionToolCall(arguments='{"input": "x"}', call_id="o", name="delegate", type="function_call")
            ]
            agent = Agent(name="chief", model=Chief(outer), tools=[inner])
        guard(session, agent)
        await Runner.run(agent, "go", run_config=QUIET)
        ran.told.update(told(scripted.seen))
        return ran


class Chief(Scripted):
    """Gives its one part away."""

    def __init__(self, calls: list[Any]) -> None:
        super().__init__([[Use("", each.call_id) for each in calls]])
        self._calls = calls

    def _say(self, turn: int | None) -> list[Any]:
        return self._calls if turn is not None else super()._say(None)


class OpenAIPaused(Durable):
    """A run that paused; its state and its questions are kept as text."""

    name = "openai-agents"

    def _agent(self, session: Session, uses: Sequence[Use], ran: Ran) -> Agent[Any]:
        agent: Agent[Any] = Agent(name="worker", model=Scripted([uses]), tools=[noting(ran)])
        return guard(session, agent, durable=True)

    async def start(self, session: Session, uses: Sequence[Use], *, seconds: float = 3600.0) -> list[dict[str, Any]]:
        ran = Ran()
        done = await Runner.run(self._agent(session, uses, ran), "go", run_config=QUIET)
        (self.folder / "state").mkdir(exist_ok=True)
        kept = {"state": done.to_state().to_string(), "uses": [[each.command, each.id] for each in uses]}
        (self.folder / "run").write_text(json.dumps(kept))
        (self.folder / "ran").write_text(json.dumps(ran.commands))
        return questions(session, done, seconds=seconds)

    async def resume(self, session: Session, answers: list[dict[str, Any]], *, bare: bool = False) -> Ran:
        ran = Ran()
        kept = json.loads((self.folder / "run").read_text())
        agent = self._agent(session, [Use(*each) for each in kept["uses"]], ran)
        state = await RunState.from_string(agent, kept["state"])
        for item in state.get_interruptions() if bare else ():
            state.approve(item)
        with answered(session, state, answers):
            await Runner.run(agent, state, run_config=QUIET)
        ran.told.update(told(agent.model.seen))  # type: ignore[union-attr]  # it is ours
        return ran

    def tamper(self, old: str, new: str) -> None:
        """As somebody would who knows that the state has a fingerprint of each call, and that it may have none."""
        path = self.folder / "run"
        kept = json.loads(path.read_text().replace(old, new))
        state = json.loads(kept["state"])
        state["context"]["tool_invocations"] = {}
        path.write_text(json.dumps({**kept, "state": json.dumps(state)}))
