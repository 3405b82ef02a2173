"""A real MCP server, made with the official package: `python notes.py FILE [PORT]`. It writes down whatever runs.

Without a port it serves on standard input and output, else over HTTP on 127.0.0.1."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp.server.mcpserver import Context, MCPServer

FILE = Path(sys.argv[1])
server = MCPServer("notes")


def wrote(text: str) -> None:
    with FILE.open("a") as notes:
        notes.write(f"{text}\n")


@server.tool()
def note(text: str) -> str:
    """Write a text down."""
    wrote(text)
    return f"noted {text}"


@server.tool()
def echo(value: Any) -> list[types.TextContent | types.ImageContent]:
    """Give back what was given, and a picture."""
    wrote("echo")
    text = types.TextContent(type="text", text=repr(value))
    return [text, types.ImageContent(type="image", data="aGVsbG8=", mime_type="image/png")]


@server.tool()
async def steps(count: int, ctx: Context[Any, Any]) -> str:
    """Report progress."""
    for step in range(count):
        await ctx.report_progress(step + 1, count, f"step {step + 1}")
    wrote("steps")
    return "done"


@server.tool()
async def sample(ctx: Context[Any, Any]) -> str:
    """Ask the client's model."""
    said = await ctx.session.create_message(
        [types.SamplingMessage(role="user", content=types.TextContent(type="text", text="2+2?"))], max_tokens=10
    )
    wrote("sample")
    return f"the model said {said.content.text}"


@server.tool()
async def hang() -> str:
    """Wait until it is cancelled."""
    wrote("hang")
    try:
        await asyncio.sleep(600)
    except asyncio.CancelledError:
        wrote("cancelled")
        raise
    return "never"


@server.tool()
def crash() -> str:
    """End the server."""
    wrote("crash")
    os.kill(os.getpid(), signal.SIGKILL)
    return "never"


@server.resource("notes://all")
def notes() -> str:
    """All that was written down."""
    return FILE.read_text()


if __name__ == "__main__":
    if len(sys.argv) > 2:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
    else:
        server.run("stdio")
