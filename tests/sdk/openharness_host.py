"""OpenHarness's query engine with a model that follows a script."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from openharness.api.client import ApiMessageCompleteEvent
from openharness.api.usage import UsageSnapshot
from openharness.config.settings import PermissionSettings
from openharness.engine.messages import ConversationMessage, TextBlock, ToolResultBlock, ToolUseBlock
from openharness.engine.query_engine import QueryEngine
from openharness.permissions import PermissionChecker, PermissionMode
from openharness.tools.base import BaseTool, ToolRegistry, ToolResult
from pydantic import BaseModel

from assent.sdk.openharness import AssentHooks
from assent.sdk.tool_guard import Sessions

from .kit import Host, Ran, Use


class Scripted:
    def __init__(self, turns: Sequence[Sequence[Use]], tool: str, ran: Ran) -> None:
        self._turns = list(turns)
        self._tool = tool
        self._ran = ran

    async def stream_message(self, request: Any) -> Any:
        for message in request.messages:
            for block in message.content:
                if isinstance(block, ToolResultBlock):
                    self._ran.told[block.tool_use_id] = block.content
        content: list[Any] = [TextBlock(text="done")]
        if self._turns:
            uses = self._turns.pop(0)
            content = [ToolUseBlock(id=use.id, name=self._tool, input={"command": use.command}) for use in uses]
        message = ConversationMessage(role="assistant", content=content)
        yield ApiMessageCompleteEvent(message=message, usage=UsageSnapshot(), stop_reason="end_turn")


class Command(BaseModel):
    command: str


class Noting(BaseTool):  # type: ignore[misc]  # untyped
    description = "Run a command."
    input_model = Command

    def __init__(self, name: str, work: Callable[[str], Any]) -> None:
        self.name = name
        self._work = work

    async def execute(self, arguments: Any, context: Any) -> ToolResult:
        return ToolResult(output=await self._work(arguments.command))


class OpenHarness(Host):
    name = "openharness"
    rewrites = False  # hooks can only block

    async def run(
        self,
        session: Sessions,
        turns: Sequence[Sequence[Use]],
        *,
        nested: bool = False,
        rewrite: Callable[[str], str] | None = None,
    ) -> Ran:
        ran = Ran()

        async def run(command: str) -> str:
            ran.commands.append(command)
            return f"ran {command}"

        async def part(command: str) -> str:
            await self._engine(session, turns, ran, "bash", run)
            return "it is done"

        if nested:
            await self._engine(session, [[Use("your part", "outer")]], ran, "delegate", part)
        else:
            await self._engine(session, turns, ran, "bash", run)
        return ran

    async def _engine(
        self, session: Sessions, turns: Sequence[Sequence[Use]], ran: Ran, tool: str, work: Callable[[str], Any]
    ) -> None:
        registry = ToolRegistry()
        registry.register(Noting(tool, work))
        engine = QueryEngine(
            api_client=Scripted(turns, tool, ran),
            tool_registry=registry,
            permission_checker=PermissionChecker(PermissionSettings(mode=PermissionMode.FULL_AUTO)),
            cwd=Path.cwd(),
            model="scripted",
            system_prompt="",
            hook_executor=AssentHooks(session),
        )
        async for _ in engine.submit_message("go"):
            pass
