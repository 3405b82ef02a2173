"""An editor for the Agent Client Protocol, and an agent that lets it run commands."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from acp import RequestError
from acp.schema import AllowedOutcome, CreateTerminalResponse, RequestPermissionResponse

from assent import Session
from assent.sdk.acp import AssentClient
from assent.sdk.tool_guard import Sessions

from .kit import Host, Ran, Use


class EditorOfTests:
    """An editor that says yes to everything and starts terminals; what it starts is noted."""

    def __init__(self, ran: Ran) -> None:
        self._ran = ran

    async def request_permission(self, **_: Any) -> RequestPermissionResponse:
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id="y"))

    async def create_terminal(self, **given: Any) -> CreateTerminalResponse:
        command = str(given["args"][-1])
        self._ran.commands.append(command)
        return CreateTerminalResponse(terminal_id=f"ran {command}")


class ACP(Host):
    """An agent that lets its editor run the commands."""

    name = "acp"
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
        editor: Any = EditorOfTests(ran)
        client = AssentClient(lambda _: session if isinstance(session, Session) else session(), editor)

        async def one(use: Use) -> None:
            try:
                done = await client.create_terminal("inner" if nested else "s", "bash", ["-c", use.command])
                ran.told[use.id] = done.terminal_id
            except RequestError as error:
                ran.told[use.id] = str(error)

        for uses in turns:
            await asyncio.gather(*map(one, uses))
        return ran
