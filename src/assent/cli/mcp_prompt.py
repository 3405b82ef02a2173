"""`assent mcp-prompt`: an MCP server that an agent program asks instead of opening its dialog. One tool, `approve`.

Each question passes the gate, and is put to a person if a server runs. Any fault is a denial."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import secrets
from typing import Any

from assent import __version__, agents
from assent.agents import known
from assent.agents.capabilities import NAMES
from assent.cli.command import MCP, PROJECT_FOLDER, takes
from assent.contract import Outcome, PayloadError, Reply, fault
from assent.mcp import ends, frames
from assent.mcp.frames import INVALID, NO_METHOD, PARAMS, BadMessage, Body, Frame, FrameKind
from assent.mcp.judge import McpJudge

(RUNTIME,) = known.runtimes("prompt")  # the only agent program that has such prompts
NAME = NAMES[RUNTIME]
DESCRIPTION = (
    f"Answer the permission prompts of {NAME} instead of its dialog: {known.texts('prompt', 'usage')[RUNTIME]}"
)
EPILOG = f"{NAME} starts this as an MCP server named `assent`, and calls its tool `approve`."
TOOL = "approve"
PROTOCOLS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
SCHEMA: Body = {
    "type": "object",
    "properties": {
        "tool_name": {"type": "string"},
        "input": {"type": "object", "additionalProperties": True},
        "tool_use_id": {"type": "string"},
    },
    "required": ["tool_name", "input"],
}
LISTED: Body = {
    "name": TOOL,
    "description": "Whether a tool call may run. For the agent program itself; the model has no use for it.",
    "inputSchema": SCHEMA,
}


arguments = takes({**MCP, "--project": PROJECT_FOLDER})


def run(options: argparse.Namespace) -> int:
    judge = McpJudge(os.environ, state=options.home, path=options.socket)
    try:
        asyncio.run(_serve(judge, os.path.abspath(options.project or os.getcwd())))
    finally:
        judge.close()
    return 0


async def _serve(judge: McpJudge, project: str) -> None:
    client = ends.Stdio()
    prompt = Prompt(judge, project, client)
    async for line in client.lines():
        await prompt.take(line)
    await prompt.close()
    await client.close()


class Prompt:
    """One client."""

    def __init__(self, judge: McpJudge, project: str, client: ends.Stdio) -> None:
        self._judge = judge
        self._project = project
        self._client = client
        self._environ = {known.texts("prompt", "session")[RUNTIME]: f"prompt-{secrets.token_hex(8)}", **os.environ}
        self._asking: dict[str, asyncio.Task[None]] = {}

    async def take(self, line: bytes | None) -> None:
        """Handle one line of the client; None is one that was too long."""
        try:
            found = frames.read(line)
            for each in found if isinstance(found, list) else [found]:
                if isinstance(each, BadMessage):
                    raise each
                await self._message(each)
        except BadMessage as error:
            await self._client.send(error.answer())

    async def close(self) -> None:
        """The client has disconnected: cancel its open questions."""
        tasks = list(self._asking.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=5)

    async def _message(self, frame: Frame) -> None:
        if frame.kind is FrameKind.NOTIFICATION and frame.method == "notifications/cancelled":
            task = self._asking.pop(frames.key_of(frame.params.get("requestId")), None)
            if task is not None:
                task.cancel()
        if frame.kind is not FrameKind.REQUEST:
            return
        if frame.method == "tools/call":
            await self._call(frame)
        else:
            await self._client.send(_reply(frame))

    async def _call(self, frame: Frame) -> None:
        id, given = frame.body["id"], frame.params.get("arguments")
        if frame.params.get("name") != TOOL or not isinstance(given, dict):
            raise BadMessage(PARAMS, f"the only tool is `{TOOL}`, and takes `tool_name` and `input`", id)
        if frame.key in self._asking:
            raise BadMessage(INVALID, "a request with this id is in progress", id)
        self._asking[frame.key] = asyncio.create_task(self._answer(frame, given))

    async def _answer(self, frame: Frame, given: Body) -> None:
        try:
            text = await self.approve(given)
        finally:
            if self._asking.get(frame.key) is asyncio.current_task():
                del self._asking[frame.key]
        await self._client.send(frames.success(frame.body["id"], {"content": [{"type": "text", "text": text}]}))

    async def approve(self, given: Body) -> str:
        """The answer to one question, in the agent program's format."""
        adapter = agents.load(RUNTIME)
        event = None
        try:
            payload = json.dumps({**given, "cwd": os.getcwd()})
            event = adapter.parse_text(payload, environ=self._environ, home=self._judge.home, project=self._project)
            assert event.call is not None
            project = event.call.roots[0] if event.call.roots else ""
            verdict = await self._judge.ask(event.call, project=project)
            refused = Reply(Outcome.DENY, verdict.message, message=verdict.message)
            reply = Reply(Outcome.ALLOW) if verdict.allowed is True else refused
        except PayloadError as error:
            reply = fault(str(error))
        except Exception as error:  # any fault inside is a denial
            reply = fault(f"Assent failed inside: {type(error).__name__}: {error}")
        return adapter.render(event, reply).stdout.strip()


def _reply(frame: Frame) -> Body:
    """The answer to a request other than a tool call."""
    id = frame.body["id"]
    match frame.method:
        case "initialize":
            asked = frame.params.get("protocolVersion")
            result: Any = {
                "protocolVersion": asked if asked in PROTOCOLS else PROTOCOLS[0],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "assent", "version": __version__},
            }
        case "ping":
            result = {}
        case "tools/list":
            result = {"tools": [LISTED]}
        case _:
            return frames.failure(id, NO_METHOD, "there is no such method")
    return frames.success(id, result)
