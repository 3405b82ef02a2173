"""Google ADK with a model that follows a script."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import InMemoryRunner
from google.adk.tools.agent_tool import AgentTool
from google.genai import types

from assent.sdk.google_adk import AssentPlugin
from assent.sdk.tool_guard import Sessions

from .kit import Host, Ran, Use


class Scripted(BaseLlm):
    """Makes the calls of one turn after the other, and notes what it is told."""

    turns: list[list[Use]]
    tool: str = "run"
    ran: Any = None
    at: int = 0

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        for content in llm_request.contents:
            for part in content.parts or []:
                if part.function_response is not None and part.function_response.id:
                    said = part.function_response.response or {}
                    self.ran.told[part.function_response.id] = str(said.get("error") or said.get("result") or said)
        if self.at < len(self.turns):
            key = "request" if self.tool != "run" else "command"
            parts = [
                types.Part(function_call=types.FunctionCall(id=use.id, name=self.tool, args={key: use.command}))
                for use in self.turns[self.at]
            ]
        else:
            parts = [types.Part(text="done")]
        self.at += 1
        yield LlmResponse(content=types.Content(role="model", parts=parts))


class Rewriting(BasePlugin):
    def __init__(self, rewrite: Callable[[str], str]) -> None:
        super().__init__(name="rewriting")
        self._rewrite = rewrite

    async def before_tool_callback(self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any) -> None:
        tool_args["command"] = self._rewrite(tool_args["command"])


class GoogleADK(Host):
    name = "google-adk"

    async def run(
        self,
        session: Sessions,
        turns: Sequence[Sequence[Use]],
        *,
        nested: bool = False,
        rewrite: Callable[[str], str] | None = None,
    ) -> Ran:
        ran = Ran()

        def run(command: str) -> str:
            """Run a command."""
            ran.commands.append(command)
            return f"ran {command}"

        model = Scripted(model="scripted", turns=[list(each) for each in turns], ran=ran)
        agent = LlmAgent(name="worker", model=model, tools=[run])
        if nested:
            outer = Scripted(model="outer", turns=[[Use("your part", "outer")]], tool="delegate", ran=ran)
            inner = agent.model_copy(update={"name": "delegate"})
            agent = LlmAgent(name="boss", model=outer, tools=[AgentTool(inner)])
        plugins = [*([Rewriting(rewrite)] if rewrite else []), AssentPlugin(session)]
        runner = InMemoryRunner(agent, app_name="test", plugins=plugins)
        place = await runner.session_service.create_session(app_name="test", user_id="ada")
        said = types.Content(role="user", parts=[types.Part(text="go")])
        async for _ in runner.run_async(user_id="ada", session_id=place.id, new_message=said):
            pass
        return ran
