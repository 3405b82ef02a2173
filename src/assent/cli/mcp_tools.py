"""`assent mcp-tools`: an MCP server with guarded tools: bash, read, write, edit, glob, grep."""

from __future__ import annotations

import argparse
import asyncio
import os
import secrets

from assent.agents import known
from assent.cli.command import MCP, flag, takes, text
from assent.contract import StoreError
from assent.mcp import ends
from assent.mcp.judge import McpJudge
from assent.mcp.offer import GateClient, ToolServer
from assent.tools import NAMES, Toolset

DESCRIPTION = "Serve tools to any MCP client; each call passes the gate: bash, read, write, edit, glob, grep."
EPILOG = "The client starts this as an MCP server, and connects over standard input and output."


arguments = takes(
    {
        "--project": text("DIR", "the folder to work in (default: the current folder)"),
        "--session": text("ID", "the session that the calls belong to"),
        "--tools": text("NAMES", "offer only these tools, separated by commas"),
        "--elicit": flag("ask through the client's own form if no gate server runs"),
        **MCP,
    }
)


def run(options: argparse.Namespace) -> int:
    project = os.path.realpath(options.project or os.getcwd())
    if not os.path.isdir(project):
        raise StoreError(f"`{options.project}` is not a folder; give one with --project")
    names = [each.strip() for each in options.tools.split(",") if each.strip()] or list(NAMES)
    session = options.session or known.session(os.environ) or f"mcp-tools-{secrets.token_hex(8)}"
    judge = McpJudge(os.environ, state=options.home, path=options.socket)
    try:
        return asyncio.run(_serve(judge, project, session, names, options.elicit))
    finally:
        judge.close()


async def _serve(judge: McpJudge, project: str, session: str, names: list[str], elicit: bool) -> int:
    gate = GateClient(judge, project, session)
    tools = Toolset(gate, project, names=names)
    stop = ends.on_signals()
    client = ends.Stdio()
    offer = ToolServer(tools, gate, client.send, elicit=elicit)

    async def listen() -> None:
        async for line in client.lines():
            await offer.take(line)

    listening = asyncio.create_task(listen())
    gone = asyncio.create_task(client.gone.wait())
    over: set[asyncio.Future[object]] = {listening, gone, stop}  # type: ignore[arg-type]  # whatever they give
    await asyncio.wait(over, return_when=asyncio.FIRST_COMPLETED)
    listening.cancel()
    gone.cancel()
    await offer.close()
    tools.close()
    await judge.leave()
    await client.close()
    return 128 + stop.result() if stop.done() else 0
