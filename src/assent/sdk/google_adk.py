"""Google ADK: a plugin that asks the gate before a tool runs. Decides nothing.

A plugin of the runner, `Runner(plugins=[AssentPlugin(session)])`, covers the agents within the agent too; a callback of
one agent would not. Put it last: the first plugin that answers for a tool ends the row."""

from __future__ import annotations

from typing import Any

from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext

from assent.sdk.passage import Passage, Sessions, told

RUNTIME = "google-adk"
UNSEEN = "This call was not run: the agent within runs without plugins, so its tools would pass no gate."


class AssentPlugin(BasePlugin):
    """Every tool call of a runner passes the gate."""

    def __init__(self, session: Sessions) -> None:
        super().__init__(name="assent")
        self._passage = Passage(session, RUNTIME)

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext
    ) -> dict[str, Any] | None:
        if isinstance(tool, AgentTool) and not tool.include_plugins:
            return {"error": UNSEEN}
        verdict = await self._passage.guard(tool.name, tool_args)
        if verdict.allowed is True:
            return None
        if verdict.stop:
            tool_context.actions.skip_summarization = True  # the agent has no further word
        return {"error": told(verdict)}
