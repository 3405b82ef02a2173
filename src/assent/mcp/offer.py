"""The guarded tools as an MCP server: messages in, results out. Moves no bytes, judges nothing.

It speaks both ways of the protocol: with a handshake (`initialize`), and without one (`server/discover`)."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from assent import __version__
from assent.contract import Call, Decision
from assent.contract.approval import Verdict
from assent.contract.display import visible
from assent.engine.remote import denied
from assent.mcp import frames
from assent.mcp.calls import CALL, VERSION, can_ask
from assent.mcp.frames import INVALID, NO_METHOD, PARAMS, BadMessage, Body, Frame, FrameKind
from assent.mcp.judge import McpJudge
from assent.tools import Result, Toolset

HANDSHAKES = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
WITHOUT = ("2026-07-28",)  # versions of the protocol that have no handshake
CANCELLED = "notifications/cancelled"
SIGN = 15.0  # seconds between signs of life
ENDING = 10.0  # seconds to take questions back, and to end what runs
MOST = 1000  # calls under way
HINTS = {
    "read": {"readOnlyHint": True},
    "write": {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False},
    "execute": {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True},
}
CACHING: Body = {"ttlMs": 0, "cacheScope": "private"}
ABOUT: Body = {"name": "assent-tools", "version": __version__}
SERVER_INFO = "io.modelcontextprotocol/serverInfo"

Send = Callable[[object], Awaitable[None]]


class GateClient:
    """The way of the tools to the gate: the gate server where one runs, else this process."""

    def __init__(self, judge: McpJudge, project: str, session: str) -> None:
        self._judge = judge
        self._project = project
        self._session = session
        self._loop = asyncio.get_running_loop()
        self.ask_client: Callable[[Body], Awaitable[Body]] | None = None

    def call(
        self,
        tool: str,
        input: Mapping[str, object],
        *,
        cwd: str = "",
        description: str = "",
        runtime: str = "",
        shell: str = "",
    ) -> Call:
        return Call(
            tool,
            input,
            cwd=cwd or self._project,
            roots=(self._project,),
            home=self._judge.home,
            session=self._session,
            runtime=runtime,
            description=description,
            shell=shell,
        )

    def decide(self, call: Call) -> Decision:
        """From a thread of the tools, never from the loop itself."""
        checking = self._judge.check(call, project=self._project)
        return asyncio.run_coroutine_threadsafe(checking, self._loop).result()

    async def guard(self, call: Call) -> Verdict:
        return await self._judge.verdict(call, project=self._project, ask_client=self.ask_client)

    def guard_sync(self, call: Call) -> Verdict:
        return denied("this way to the gate needs an event loop")


class ToolServer:
    """One client, and the tools that it may use."""

    def __init__(self, tools: Toolset, door: GateClient, send: Send, *, elicit: bool = False) -> None:
        self._tools = tools
        self._door = door
        self._send = send
        self._elicit = elicit
        self._running: dict[str, asyncio.Task[None]] = {}
        self._own: dict[str, asyncio.Future[Body]] = {}
        self._mark = f"assent-{secrets.token_hex(8)}-"
        self._asked = 0

    async def take(self, line: bytes | None) -> None:
        """Take one line of the client; None is one that was too long."""
        try:
            if line is None:
                raise frames.too_long()
            found = frames.read(line)
        except BadMessage as error:
            await self._send(error.answer())
            return
        for each in found if isinstance(found, list) else [found]:
            try:
                if isinstance(each, BadMessage):
                    raise each
                await self._message(each)
            except BadMessage as error:
                await self._send(error.answer())

    async def close(self) -> None:
        """The client is gone: what is asked for it is taken back, and what runs is ended."""
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=ENDING)

    async def _message(self, frame: Frame) -> None:
        if frame.kind is FrameKind.NOTIFICATION and frame.method == CANCELLED:
            task = self._running.pop(frames.key_of(frame.params.get("requestId")), None)
            if task is not None:
                task.cancel()
        elif frame.kind is FrameKind.RESPONSE:
            found = self._own.pop(frame.key, None)
            if found is not None and not found.done():
                found.set_result(frame.body)
        elif frame.kind is FrameKind.REQUEST:
            if frame.method == CALL:
                self._start(frame)
            else:
                await self._send(self._plainly(frame))

    def _start(self, frame: Frame) -> None:
        id, name = frame.body["id"], frame.params.get("name")
        given = frame.params.get("arguments", {})
        if name not in self._tools.names or not isinstance(given, dict) or "task" in frame.params:
            raise BadMessage(PARAMS, f"`name` is one of {', '.join(self._tools.names)}, `arguments` an object", id)
        if frame.key in self._running or len(self._running) >= MOST:
            raise BadMessage(INVALID, "a request with this id is under way, or too many are", id)
        self._running[frame.key] = asyncio.create_task(self._call(frame, str(name), given))

    async def _call(self, frame: Frame, name: str, given: Body) -> None:
        signs = asyncio.create_task(self._signs(frame))
        try:
            done = await self._tools.call(name, given)
        finally:
            signs.cancel()
            if self._running.get(frame.key) is asyncio.current_task():
                del self._running[frame.key]
        await self._send(frames.success(frame.body["id"], self._result(frame, told(done))))

    async def _signs(self, frame: Frame) -> None:
        """Tell a client that follows the progress of its call that it goes on, so that it does not give up."""
        meta = frame.params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        step = 0
        while token is not None:
            await asyncio.sleep(SIGN)
            step += 1
            params = {"progressToken": token, "progress": step, "message": "it runs, or waits for a person's assent"}
            await self._send({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})

    def _plainly(self, frame: Frame) -> Body:
        """The answer to what needs no thought."""
        match frame.method:
            case "initialize":
                asked = frame.params.get("protocolVersion")
                if self._elicit and can_ask(frame.params):
                    self._door.ask_client = self._ask_client
                result: Body = {
                    "protocolVersion": asked if asked in HANDSHAKES else HANDSHAKES[0],
                    "capabilities": {"tools": {}},
                    "serverInfo": ABOUT,
                }
            case "server/discover":
                result = {"supportedVersions": [*WITHOUT, *HANDSHAKES], "capabilities": {"tools": {}}, **CACHING}
                result["_meta"] = {SERVER_INFO: ABOUT}
            case "ping":
                result = {}
            case "tools/list":
                result = {"tools": self._listed(), **(CACHING if without_handshake(frame) else {})}
            case _:
                return frames.failure(frame.body["id"], NO_METHOD, "there is no such method")
        return frames.success(frame.body["id"], self._result(frame, result))

    def _result(self, frame: Frame, result: Body) -> Body:
        return {**result, "resultType": "complete"} if without_handshake(frame) else result

    def _listed(self) -> list[Any]:
        return [
            {
                "name": each["name"],
                "description": each["description"],
                "inputSchema": each["parameters"],
                "annotations": HINTS[self._tools.risk(str(each["name"]))],
            }
            for each in self._tools.schemas()
        ]

    async def _ask_client(self, params: Body) -> Body:
        """Have the client show a form; return its response."""
        self._asked += 1
        id = f"{self._mark}{self._asked}"
        found: asyncio.Future[Body] = asyncio.get_running_loop().create_future()
        self._own[frames.key_of(id)] = found
        try:
            await self._send({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params})
            return await found
        except asyncio.CancelledError:
            gone = {"requestId": id, "reason": "the question has ended"}
            await self._send({"jsonrpc": "2.0", "method": CANCELLED, "params": gone})
            raise
        finally:
            self._own.pop(frames.key_of(id), None)


def told(done: Result) -> Body:
    """A result for the client. What the gate refused is shown safely, what a tool found is told as it is."""
    refused = done.verdict is not None and done.verdict.allowed is not True
    text = visible(done.text) if refused else done.text
    return {"content": [{"type": "text", "text": text}], "isError": done.error}


def without_handshake(frame: Frame) -> bool:
    meta = frame.params.get("_meta")
    return isinstance(meta, dict) and VERSION in meta
