"""The guarded tools as an MCP server: messages in, results out. Does no I/O.

It supports the versions of the protocol with a handshake (`initialize`) and without one (`server/discover`)."""

from __future__ import annotations

import asyncio

from assent import __version__
from assent.contract import Call, Decision
from assent.contract.approval import Verdict
from assent.contract.display import visible
from assent.engine.remote import denied
from assent.mcp import frames
from assent.mcp.calls import CALL, VERSION, can_ask, complete
from assent.mcp.frames import INVALID, NO_METHOD, PARAMS, BadMessage, Body, Frame, FrameKind
from assent.mcp.judge import AskClient, ClientForms, McpJudge, Send, report_progress
from assent.tools import Result, Toolset

HANDSHAKES = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
WITHOUT = ("2026-07-28",)  # versions of the protocol that have no handshake
ENDING = 10.0  # seconds to withdraw questions, and to end what runs
MOST = 1000  # calls under way
HINTS = {
    "read": {"readOnlyHint": True},
    "write": {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False},
    "execute": {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True},
}
CACHING: Body = {"ttlMs": 0, "cacheScope": "private"}
ABOUT: Body = {"name": "assent-tools", "version": __version__}
SERVER_INFO = "io.modelcontextprotocol/serverInfo"


class GateClient:
    """The gate of the tools: the gate server if one runs, else this process."""

    def __init__(self, judge: McpJudge, project: str, session: str) -> None:
        self._judge = judge
        self._project = project
        self._session = session
        self._loop = asyncio.get_running_loop()
        self._rewrites = False
        self.ask_client: AskClient | None = None

    def _own(self, call: Call) -> Call:
        return call.but(roots=(self._project,), home=self._judge.home, session=self._session)

    def rewriting(self) -> GateClient:
        """The tools run the command of a verdict in place of their own."""
        self._rewrites = True
        return self

    def decide(self, call: Call) -> Decision:
        """Call it from a thread of the tools, never on the loop."""
        checking = self._judge.check(self._own(call), project=self._project)
        return asyncio.run_coroutine_threadsafe(checking, self._loop).result()

    async def guard(self, call: Call) -> Verdict:
        return await self._judge.ask(
            self._own(call), project=self._project, ask_client=self.ask_client, rewrites=self._rewrites
        )

    def guard_sync(self, call: Call) -> Verdict:
        return denied("this gate needs an event loop")


class ToolServer:
    def __init__(self, tools: Toolset, gate: GateClient, send: Send, *, elicit: bool = False) -> None:
        self._tools = tools
        self._gate = gate
        self._send = send
        self._elicit = elicit
        self._running: dict[str, asyncio.Task[None]] = {}
        self._forms = ClientForms(send)

    async def take(self, line: bytes | None) -> None:
        """Take one line of the client; None is one that was too long."""
        for each in frames.read_all(line):
            try:
                if isinstance(each, BadMessage):
                    raise each
                await self._message(each)
            except BadMessage as error:
                await self._send(error.answer())

    async def close(self) -> None:
        """The client is gone: withdraw its questions, and end its running calls."""
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=ENDING)

    async def _message(self, frame: Frame) -> None:
        if frame.cancels:
            task = self._running.pop(frame.cancels, None)
            if task is not None:
                task.cancel()
        elif frame.kind is FrameKind.RESPONSE:
            self._forms.take(frame)
        elif frame.kind is FrameKind.REQUEST:
            if frame.method == CALL:
                self._start(frame)
            else:
                await self._send(self._answer(frame))

    def _start(self, frame: Frame) -> None:
        id, name = frame.body["id"], frame.params.get("name")
        given = frame.params.get("arguments", {})
        if name not in self._tools.names or not isinstance(given, dict) or "task" in frame.params:
            raise BadMessage(PARAMS, f"`name` is one of {', '.join(self._tools.names)}, `arguments` an object", id)
        if frame.key in self._running or len(self._running) >= MOST:
            raise BadMessage(INVALID, "a request with this id is in progress, or too many are", id)
        self._running[frame.key] = asyncio.create_task(self._call(frame, str(name), given))

    async def _call(self, frame: Frame, name: str, given: Body) -> None:
        waiting = "it runs, or waits for a person's assent"
        progress = asyncio.create_task(report_progress(frame, self._send, waiting))
        try:
            done = await self._tools.call(name, given)
        finally:
            progress.cancel()
            if self._running.get(frame.key) is asyncio.current_task():
                del self._running[frame.key]
        await self._send(complete(frame, result_of(done)))

    def _answer(self, frame: Frame) -> Body:
        """The answer to any request but a call."""
        match frame.method:
            case "initialize":
                asked = frame.params.get("protocolVersion")
                if self._elicit and can_ask(frame.params):
                    self._gate.ask_client = self._forms.ask
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
                tools = [
                    {
                        "name": each["name"],
                        "description": each["description"],
                        "inputSchema": each["parameters"],
                        "annotations": HINTS[self._tools.risk(str(each["name"]))],
                    }
                    for each in self._tools.schemas()
                ]
                result = {"tools": tools, **(CACHING if VERSION in frame.meta else {})}
            case _:
                return frames.failure(frame.body["id"], NO_METHOD, "there is no such method")
        return complete(frame, result)


def result_of(done: Result) -> Body:
    """A result for the client. Control characters are escaped in a refusal of the gate, not in the output of a tool."""
    refused = done.verdict is not None and done.verdict.allowed is not True
    text = visible(done.text) if refused else done.text
    return {"content": [{"type": "text", "text": text}], "isError": done.error}
