"""MCP servers of the Python SDK and of FastMCP, each with its own client in the same process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import fastmcp
from fastmcp.server.middleware import Middleware
from mcp import Client
from mcp.server.mcpserver import MCPServer

from assent.sdk.fastmcp import FastMCPMiddleware
from assent.sdk.mcp import MCPMiddleware
from assent.sdk.tool_guard import Sessions

from .kit import Host, Ran, Use


def text_of(result: Any) -> str:
    return "".join(getattr(each, "text", "") for each in result.content)


async def used(client: Any, turns: Sequence[Sequence[Use]], ran: Ran, name: str = "run", **more: Any) -> None:
    """The calls of one turn at once, as frameworks make them."""

    async def one(use: Use) -> None:
        ran.told[use.id] = text_of(await client.call_tool(name, {"command": use.command}, **more))

    for uses in turns:
        await asyncio.gather(*map(one, uses))


class MCP(Host):
    name = "mcp"

    async def run(
        self,
        session: Sessions,
        turns: Sequence[Sequence[Use]],
        *,
        nested: bool = False,
        rewrite: Callable[[str], str] | None = None,
    ) -> Ran:
        ran = Ran()
        server = MCPServer("tools")

        @server.tool()
        def run(command: str) -> str:
            ran.commands.append(command)
            return f"ran {command}"

        @server.tool()
        async def delegate(command: str) -> str:
            """A tool that calls tools of the same server, as a client of it."""
            async with Client(server) as inner:
                await used(inner, turns, ran)
            return "it is done"

        async def rewriting(ctx: Any, call_next: Any) -> Any:
            if ctx.method == "tools/call" and rewrite is not None:
                changed = {"command": rewrite(ctx.params["arguments"]["command"])}
                ctx = replace(ctx, params={**ctx.params, "arguments": changed})
            return await call_next(ctx)

        server.middleware.append(rewriting)
        server.middleware.append(MCPMiddleware(session))
        async with Client(server) as client:
            if nested:
                await used(client, [[Use("your part", "outer")]], ran, "delegate")
            else:
                await used(client, turns, ran)
        return ran


class FastMCP(Host):
    name = "fastmcp"

    async def run(
        self,
        session: Sessions,
        turns: Sequence[Sequence[Use]],
        *,
        nested: bool = False,
        rewrite: Callable[[str], str] | None = None,
    ) -> Ran:
        ran = Ran()
        server: Any = fastmcp.FastMCP("tools")

        def run(command: str) -> str:
            ran.commands.append(command)
            return f"ran {command}"

        server.tool(run)

        class Rewriting(Middleware):
            async def on_call_tool(self, context: Any, call_next: Any) -> Any:
                message = context.message
                if rewrite is not None:
                    given = {"command": rewrite(message.arguments["command"])}
                    context = context.copy(message=message.model_copy(update={"arguments": given}))
                return await call_next(context)

        if nested:  # a server within a server
            outer: Any = fastmcp.FastMCP("outer")
            outer.mount(server)
            server = outer
        server.add_middleware(Rewriting())
        server.add_middleware(FastMCPMiddleware(session))
        async with fastmcp.Client(server) as client:
            await used(client, turns, ran, raise_on_error=False)
        return ran
