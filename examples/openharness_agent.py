"""OpenHarness's engine whose tools pass the gate. A scripted model replaces the real one, so it runs offline.

pip install 'assent[openharness]'
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from openharness.api.client import ApiMessageCompleteEvent
from openharness.api.usage import UsageSnapshot
from openharness.config.settings import PermissionSettings
from openharness.engine.messages import ConversationMessage, TextBlock, ToolUseBlock
from openharness.engine.query_engine import QueryEngine
from openharness.engine.stream_events import ToolExecutionCompleted
from openharness.permissions import PermissionChecker, PermissionMode
from openharness.tools import create_default_tool_registry

from assent import Gate
from assent.sdk.openharness import AssentHooks

COMMANDS = ["echo hello > greeting.txt", "cat greeting.txt", "rm -rf ~"]


class Scripted:
    """A model that calls `bash` once with each command. Use one of OpenHarness's API clients in its place."""

    def __init__(self) -> None:
        self._left = list(COMMANDS)

    async def stream_message(self, request: Any) -> Any:
        content: list[Any] = [TextBlock(text="I am done.")]
        if self._left:
            content = [ToolUseBlock(name="bash", input={"command": self._left.pop(0)})]
        message = ConversationMessage(role="assistant", content=content)
        yield ApiMessageCompleteEvent(message=message, usage=UsageSnapshot(), stop_reason="end_turn")


async def main(folder: Path) -> None:
    gate = Gate(str(folder), mode="auto", channels=["nobody"], state=f"{folder}/.state")
    engine = QueryEngine(
        api_client=Scripted(),
        tool_registry=create_default_tool_registry(),
        # Its own checker can be wide open: the gate sees every call before it, with all arguments.
        permission_checker=PermissionChecker(PermissionSettings(mode=PermissionMode.FULL_AUTO)),
        cwd=folder,
        model="scripted",
        system_prompt="",
        hook_executor=AssentHooks(gate, cwd=str(folder)),
    )
    async for event in engine.submit_message("greet"):
        if isinstance(event, ToolExecutionCompleted):
            print(event.output.strip() or "(no output)")
    gate.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as found:
        asyncio.run(main(Path(found)))
