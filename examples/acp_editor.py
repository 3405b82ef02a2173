"""An editor that runs agents over the Agent Client Protocol, and asks its person only if the gate asks.

    pip install 'assent[acp]'

The agent's side is played by three requests, so it runs offline.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from acp.schema import AllowedOutcome, PermissionOption, RequestPermissionResponse, ToolCallUpdate

from assent import Gate
from assent.sdk.acp import AssentClient, Editor


class MyEditor:
    """Your client, which shows permission requests. This one prints them, and says yes."""

    async def request_permission(self, *, tool_call: ToolCallUpdate, **_: Any) -> RequestPermissionResponse:
        print(f"  the editor asks: {tool_call.title}")
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id="allow_once"))


async def main(folder: Path) -> None:
    editor: Any = MyEditor()
    gate = Gate(str(folder), mode="auto", channels=[Editor(editor, who="ada").ask], state=f"{folder}/.state")
    client = AssentClient(gate, editor, cwd=str(folder))  # give this to `connect_to_agent` in place of the editor

    options = [
        PermissionOption(option_id="yes", name="Yes", kind="allow_once"),
        PermissionOption(option_id="no", name="No", kind="reject_once"),
    ]
    for command in ("git status", "make release", "rm -rf ~"):
        call = ToolCallUpdate(tool_call_id="1", kind="execute", raw_input={"command": command})
        answer = await client.request_permission(session_id="s1", tool_call=call, options=options)
        print(f"{command}: {answer.outcome.option_id}")
    gate.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as found:
        asyncio.run(main(Path(found)))
