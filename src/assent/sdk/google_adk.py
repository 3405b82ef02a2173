"""Google ADK: a plugin that asks the gate before a tool runs.

A plugin of the app, `App(…, plugins=[AssentPlugin(session)])`, covers the agents within the agent too; a callback of
one agent would not. Put it last: the first plugin that answers for a tool ends the chain. Tools that run at the model's
provider (search, built-in code execution) are not seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from google.adk.agents.callback_context import CallbackContext
from google.adk.code_executors.built_in_code_executor import BuiltInCodeExecutor
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from assent.contract import texts
from assent.sdk.tool_guard import Sessions, ToolGuard, denial_text

RUNTIME = "google-adk"
CODE, CALLBACKS = "code_executor", "before_tool_callback"
UNSEEN = "This call was not run: the agent within runs without plugins, so its tools would pass no gate."


RUNS_CODE = (
    "Nothing was run: this agent has a code executor, whose code would pass no gate; give it a tool instead, or "
    'say `AssentPlugin(…, leave=["code_executor"])`.'
)
CHANGES = (
    "This call was not run: the agent has a `before_tool_callback`, which comes after the gate and could change it; "
    'make it a plugin that comes before the gate\'s, or say `AssentPlugin(…, leave=["before_tool_callback"])`.'
)


class AssentPlugin(BasePlugin):
    """Every tool call of a runner passes the gate. An agent whose code executor runs here, or whose own callbacks come
    between the gate and a tool, is stopped; `leave` names deliberate exceptions: `code_executor`,
    `before_tool_callback`."""

    def __init__(self, session: Sessions, *, leave: Sequence[str] = ()) -> None:
        super().__init__(name="assent")
        self._guard = ToolGuard(session, RUNTIME)
        self._leave = frozenset(texts(leave, "leave"))

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        executor = getattr(callback_context.get_invocation_context().agent, "code_executor", None)
        if executor is None or isinstance(executor, BuiltInCodeExecutor) or CODE in self._leave:
            return None
        return LlmResponse(content=types.Content(role="model", parts=[types.Part(text=RUNS_CODE)]))

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext
    ) -> dict[str, Any] | None:
        if isinstance(tool, AgentTool) and not tool.include_plugins:
            return {"error": UNSEEN}
        agent = tool_context.get_invocation_context().agent
        if getattr(agent, "canonical_before_tool_callbacks", None) and CALLBACKS not in self._leave:
            return {"error": CHANGES}
        verdict = await self._guard.guard(tool.name, tool_args)
        if verdict.allowed is True:
            return None
        if verdict.stop:
            tool_context.actions.skip_summarization = True  # the model is not asked again
        return {"error": denial_text(verdict)}
