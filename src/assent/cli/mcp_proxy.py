"""`assent mcp-proxy`: puts the gate between an agent program and the tools of an MCP server."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import secrets
import shlex
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import cache
from typing import Any

from assent.agents import known
from assent.cli.command import MCP, PROJECT_FOLDER, flag, takes, text
from assent.contract import StoreError
from assent.contract.display import one_line
from assent.engine.contained_server import ServerStart
from assent.mcp import ends, listen
from assent.mcp.calls import CallOrigin, server_name
from assent.mcp.judge import McpJudge
from assent.mcp.proxy import Proxy
from assent.mcp.upstream import Upstream

DESCRIPTION = "Put the gate between an agent program and an MCP server: each tool call passes the gate before it runs."
EPILOG = "exit status: that of the MCP server; 126 if it may not be started, 127 if it cannot be"
HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x20-\x7e]+)")
RESERVED = frozenset(
    "host connection content-length content-type transfer-encoding accept accept-encoding last-event-id "
    "mcp-session-id mcp-protocol-version mcp-method mcp-name".split()
)
NOT_ALLOWED = 126
LAST_OUTPUT = 2.0  # seconds to read what an ended server still wrote


HEADERS = {"metavar": "HEADER", "action": "append", "default": []}
arguments = takes(
    {
        "server": {"metavar": "COMMAND", "nargs": "*", "help": "after --: the command that starts the MCP server"},
        "--name": text("SERVER", "the server's name; rules match its tools as mcp__SERVER__tool"),
        "--url": text("URL", "the address of an MCP server with Streamable HTTP, instead of a command"),
        "--header": {**HEADERS, "help": "`Name: value` to send to that server; $NAME is filled in"},
        "--listen": text("HOST:PORT", "serve clients over HTTP, on this machine only"),
        "--writes": flag("let a server that runs contained change the project's files"),
        "--elicit": flag("ask through the client's own form if no gate server runs"),
        **MCP,
        "--project": PROJECT_FOLDER,
        "--session": text("ID", "the session that the calls belong to"),
    }
)


def run(options: argparse.Namespace) -> int:
    if bool(options.server) == bool(options.url):
        raise StoreError("give the server's command after `--`, or its address with --url")
    if options.url and options.writes:
        raise StoreError("--writes goes with the server's command: a server on the network is not contained")
    if not options.url and (options.header or options.listen):
        raise StoreError("--header and --listen go with --url")
    if options.listen and options.elicit:
        raise StoreError("--elicit does not work with --listen; run `assent serve` to be asked")
    if options.listen and options.header:
        raise StoreError("with --listen the client sends its own headers, since anybody on this machine can connect")
    name = server_name(options.name, options.server, options.url)
    judge = McpJudge(os.environ, state=options.home, path=options.socket)
    project = os.path.abspath(options.project or os.getcwd())
    session = options.session or known.session(os.environ) or f"mcp-{secrets.token_hex(8)}"
    origin = CallOrigin(server=name, session=session, project=project, home=judge.home)
    try:
        return asyncio.run(_serve(options, judge, origin))
    except ValueError as error:
        raise StoreError(str(error)) from None
    finally:
        judge.close()
        errors().close()


async def _serve(options: argparse.Namespace, judge: McpJudge, origin: CallOrigin) -> int:
    stop = ends.on_signals()
    if options.listen:
        return await listen.serve(options.listen, options.url, judge, origin, note=note, stop=stop)
    if options.url:
        return await _over_http(options.url, headers_of(options.header), judge, origin, stop, options.elicit)
    start = await _started(options.server, judge, origin, stop, options.writes)
    if isinstance(start, int):
        return start
    try:
        return await _over_pipes(list(start.words) or options.server, judge, origin, stop, options.elicit)
    finally:
        if failed := judge.ended(start):
            note(f"the server ran contained ({start.profile}), and {failed}; {_ways_out(options.server)}")


async def _started(
    command: list[str], judge: McpJudge, origin: CallOrigin, stop: asyncio.Future[int], writes: bool
) -> ServerStart | int:
    """How the server is started, or our exit status if it is not. A person may be asked, so it can take long."""
    asking = asyncio.create_task(judge.start(origin.start(command), command, project=origin.project, writes=writes))
    either: set[asyncio.Future[Any]] = {asking, stop}
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    if not asking.done():
        asking.cancel()
        await asyncio.wait({asking})
        return 128 + stop.result()
    start = asking.result()
    if start.why:
        more = "" if start.denied else f"; it was to run contained: {_ways_out(command)}"
        note(f"the server is not started: {start.why}{more}")
        return NOT_ALLOWED
    return start


def _ways_out(command: list[str]) -> str:
    rule = json.dumps(f"bash({shlex.join(command)})")
    return f"`allow = [{rule}]` in your configuration lets it run outside, see docs/contain.md"


async def _over_pipes(
    command: list[str], judge: McpJudge, origin: CallOrigin, stop: asyncio.Future[int], elicit: bool
) -> int:
    try:
        child = await ends.Child.start(command, errors())
    except OSError as error:
        note(f"`{command[0]}` cannot be started: {error.strerror}")
        return 127
    client = ends.Stdio()
    proxy = Proxy(judge, origin, to_server=child.send, to_client=client.send, note=note, elicit=elicit)
    reading = asyncio.create_task(_pump(child.lines(), proxy.from_server))
    over: set[asyncio.Future[Any]] = {
        reading,
        asyncio.create_task(child.ended()),
        asyncio.create_task(client.gone.wait()),
        stop,
    }
    asking = asyncio.create_task(_pump(client.lines(), proxy.from_client))
    await asyncio.wait({asking, *over}, return_when=asyncio.FIRST_COMPLETED)
    theirs = any(each.done() for each in over)
    if theirs and not stop.done():
        await asyncio.wait({reading}, timeout=LAST_OUTPUT)
    asking.cancel()
    await proxy.close("the server has ended" if theirs else "")
    await judge.leave()
    status = await child.close()
    await asyncio.wait({reading}, timeout=LAST_OUTPUT)
    await client.close()
    return 128 + stop.result() if stop.done() else status


async def _over_http(
    url: str, headers: dict[str, str], judge: McpJudge, origin: CallOrigin, stop: asyncio.Future[int], elicit: bool
) -> int:
    async def deliver(line: bytes) -> None:
        await proxy.from_server(line)

    server = Upstream(url, headers, deliver=deliver, note=note)  # refuses a bad address before anything is read
    client = ends.Stdio()
    proxy = Proxy(judge, origin, to_server=server.send, to_client=client.send, note=note, elicit=elicit)
    asking = asyncio.create_task(_pump(client.lines(), proxy.from_client))
    over: set[asyncio.Future[Any]] = {asking, asyncio.create_task(client.gone.wait()), stop}
    await asyncio.wait(over, return_when=asyncio.FIRST_COMPLETED)
    asking.cancel()
    await proxy.close()
    await judge.leave()
    await server.close()
    await client.close()
    return 128 + stop.result() if stop.done() else 0


async def _pump(lines: AsyncIterator[bytes | None], take: Callable[[bytes | None], Awaitable[None]]) -> None:
    async for line in lines:
        await take(line)


def headers_of(given: list[str]) -> dict[str, str]:
    """The headers of `--header`. Write a secret as `$NAME`: other users can see command lines."""
    found: dict[str, str] = {}
    for each in given:
        filled = re.sub(r"\$(\w+)|\$\{(\w+)\}", lambda match: os.environ.get(match[1] or match[2], ""), each)
        match = HEADER.fullmatch(filled)
        if match is None or match[1].lower() in RESERVED:
            raise StoreError(f"`{each.partition(':')[0]}` cannot be given as a header; write `Name: value`")
        found[match[1]] = match[2].strip()
    return found


def note(text: str) -> None:
    """A line for the agent program's log."""
    errors().say(f"assent mcp-proxy: {one_line(text, 500)}\n".encode())


@cache
def errors() -> ends.Errors:
    return ends.Errors()
