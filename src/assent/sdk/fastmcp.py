"""FastMCP: a middleware that asks the gate before a tool runs.

Add it last, with `server.add_middleware(…)`. Tools of a mounted server are known by the name that clients call them by,
prefix included: declare and name them so. A tool that the page of an app calls by a hash asks, unless that hash is
declared; denials of its own name also hold. Resources and prompts pass."""

from __future__ import annotations

from fastmcp.exceptions import ToolError
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.server.providers.addressing import parse_hashed_backend_name
from fastmcp.tools.base import ToolResult
from mcp.types import CallToolRequestParams

from assent.sdk.tool_guard import Sessions, ToolGuard, denial_text

RUNTIME = "fastmcp"


class FastMCPMiddleware(Middleware):
    """Every tool call of a FastMCP server, or of a proxy made with `create_proxy`, passes the gate."""

    def __init__(self, session: Sessions) -> None:
        self._guard = ToolGuard(session, RUNTIME)

    async def on_call_tool(
        self,
        context: MiddlewareContext[CallToolRequestParams],
        call_next: CallNext[CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        name, given = context.message.name, context.message.arguments
        hashed = parse_hashed_backend_name(name)
        if hashed is not None and self._guard.denies(hashed[1], given):
            raise ToolError(f"This call was not run: `{hashed[1]}` is denied.")
        verdict = await self._guard.guard(name, given)
        if verdict.allowed is not True:
            raise ToolError(denial_text(verdict))
        return await call_next(context)
