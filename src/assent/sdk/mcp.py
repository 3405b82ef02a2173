"""MCP servers of the Python SDK: a middleware that asks the gate before a tool runs.

For a server of your own; other people's servers go behind `assent mcp-proxy`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.types import CallToolResult, TextContent

from assent.sdk.tool_guard import Sessions, ToolGuard, denial_text

RUNTIME = "mcp"


class MCPMiddleware:
    """`server.middleware.append(MCPMiddleware(session))`: last, so that it sees the arguments that the tool gets."""

    def __init__(self, session: Sessions) -> None:
        self._guard = ToolGuard(session, RUNTIME)

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if ctx.method != "tools/call":
            return await call_next(ctx)
        given: Mapping[str, Any] = ctx.params or {}
        name = given.get("name")
        verdict = await self._guard.guard(name if isinstance(name, str) else "", given.get("arguments"))
        if verdict.allowed is True:
            return await call_next(ctx)
        return CallToolResult(content=[TextContent(type="text", text=denial_text(verdict))], is_error=True)
