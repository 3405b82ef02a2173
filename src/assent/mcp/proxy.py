"""What stands between a client and a server: every message read and written anew, calls held until they are judged.

Moves no bytes itself: its two ends do. INVARIANT: a gated request reaches the server only after a yes to that very
message, and nothing reaches either side that was not read as a message."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from typing import Protocol

from assent.contract.display import one_line
from assent.mcp import frames
from assent.mcp.calls import CallOrigin, can_ask, refusal
from assent.mcp.frames import INTERNAL, INVALID, BadMessage, Body, Frame, FrameKind
from assent.mcp.judge import McpJudge

MOST = 10_000  # requests under way
CANCELLED = "notifications/cancelled"
SIGN = 15.0  # seconds between signs of life while a person is asked
ENDING = 5.0  # seconds to take questions back in


class ServerEnd(Protocol):
    """The end towards the server."""

    async def send(self, frame: Frame) -> None:
        """Pass a message on. Raises OSError where the server is gone."""


ToClient = Callable[[object], Awaitable[None]]
Note = Callable[[str], None]


class BatchAnswers:
    """The answers to a batch of requests, told together."""

    def __init__(self, count: int) -> None:
        self.left = count
        self.answers: list[Body] = []


class PendingRequest:
    """A request of the client that is not answered. `passed`: the server has it."""

    __slots__ = ("frame", "batch", "task", "passed")

    def __init__(self, frame: Frame, batch: BatchAnswers | None) -> None:
        self.frame = frame
        self.batch = batch
        self.task: asyncio.Task[None] | None = None
        self.passed = False


class Proxy:
    """One client, one server."""

    def __init__(
        self,
        judge: McpJudge,
        origin: CallOrigin,
        *,
        server: ServerEnd,
        to_client: ToClient,
        note: Note,
        elicit: bool = False,
    ) -> None:
        self._judge = judge
        self._origin = origin
        self._server = server
        self._to_client = to_client
        self._note = note
        self._pending: dict[str, PendingRequest] = {}
        self._elicit = elicit
        self._can_ask = False  # the client shows forms, and may be asked by them
        self._own: dict[str, asyncio.Future[Body]] = {}  # what we ask the client ourselves
        self._mark = f"assent-{secrets.token_hex(8)}-"  # how the ids of that begin
        self._asked = 0

    # From the client

    async def from_client(self, line: bytes | None) -> None:
        """Take one line of the client; None is one that was too long."""
        try:
            found = frames.read(line) if line is not None else _raise(frames.too_long())
        except BadMessage as error:
            await self._to_client(error.answer())
            return
        if isinstance(found, Frame):
            await self._take(found, None)
            return
        batch = BatchAnswers(sum(isinstance(each, BadMessage) or each.kind is FrameKind.REQUEST for each in found))
        for each in found:
            if isinstance(each, BadMessage):
                await self._tell(each.answer(), batch)
            else:
                await self._take(each, batch)

    async def _take(self, frame: Frame, batch: BatchAnswers | None) -> None:
        try:
            if frame.kind is FrameKind.REQUEST:
                await self._request(frame, batch)
            elif frame.kind is FrameKind.NOTIFICATION and frame.method == CANCELLED:
                await self._cancelled(frame)
            elif frame.kind is FrameKind.RESPONSE and str(frame.body["id"]).startswith(self._mark):
                self._answered_us(frame)
            elif frame.kind is FrameKind.RESPONSE or self._origin.call(frame) is None:
                await self._server.send(frame)
        except BadMessage as error:
            if frame.kind is FrameKind.REQUEST:
                await self._tell(error.answer(), batch)
            else:
                self._note(f"a message of the client was dropped: {error}")
        except OSError as error:
            if frame.kind is not FrameKind.REQUEST:
                self._note(f"the server is gone: {error}")

    async def _request(self, frame: Frame, batch: BatchAnswers | None) -> None:
        id = frame.body["id"]
        if frame.key in self._pending:
            raise BadMessage(INVALID, f"a request with the id `{one_line(frame.key, 60)}` is under way", id)
        if len(self._pending) >= MOST:
            raise BadMessage(INTERNAL, f"{MOST} requests are under way", id)
        call = self._origin.call(frame)
        pending = self._pending[frame.key] = PendingRequest(frame, batch)
        if frame.method == "initialize":
            self._can_ask = self._elicit and can_ask(frame.params)
        if call is None:
            await self._pass(pending)
        else:
            pending.task = asyncio.create_task(self._gate(pending))

    async def _gate(self, pending: PendingRequest) -> None:
        """Judge a request, and pass it on or answer it."""
        frame = pending.frame
        call = self._origin.call(frame)
        assert call is not None
        signs = asyncio.create_task(self._signs(frame))
        try:
            ask_client = self.ask_client if self._can_ask else None
            told = await self._judge.ask(call, project=self._origin.project, ask_client=ask_client)
        finally:
            signs.cancel()
        pending.task = None
        if self._pending.get(frame.key) is not pending:
            return
        if told.allowed:
            await self._pass(pending)
        else:
            await self._answer(pending, refusal(frame, told.message))

    async def _pass(self, pending: PendingRequest) -> None:
        pending.passed = True
        try:
            await self._server.send(pending.frame)
        except OSError as error:
            await self._answer(pending, frames.failure(pending.frame.body["id"], INTERNAL, f"no server: {error}"))

    async def _signs(self, frame: Frame) -> None:
        """Tell a client that follows the progress of its call that it waits, so that it does not give up."""
        meta = frame.params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        if token is None:
            return
        step = 0
        while True:
            await asyncio.sleep(SIGN)
            step += 1
            params = {"progressToken": token, "progress": step * 1e-9, "message": "waiting for a person's assent"}
            await self._to_client({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})

    async def _cancelled(self, frame: Frame) -> None:
        """The client gives a request up: a question about it is taken back, and the server never hears of it."""
        pending = self._pending.get(frames.key_of(frame.params.get("requestId")))
        if pending is not None:
            await self._forget(pending)
        if pending is None or pending.passed:
            await self._server.send(frame)

    async def _forget(self, pending: PendingRequest) -> None:
        del self._pending[pending.frame.key]
        if pending.task is not None:
            pending.task.cancel()
        if pending.batch is not None:
            pending.batch.left -= 1
            await self._tell_all(pending.batch)

    async def ask_client(self, params: Body) -> Body:
        """Have the client show a form; return its response."""
        self._asked += 1
        id = f"{self._mark}{self._asked}"
        found: asyncio.Future[Body] = asyncio.get_running_loop().create_future()
        self._own[frames.key_of(id)] = found
        try:
            await self._to_client({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params})
            return await found
        except asyncio.CancelledError:
            gone = {"requestId": id, "reason": "the question has ended"}
            await self._to_client({"jsonrpc": "2.0", "method": CANCELLED, "params": gone})
            raise
        finally:
            self._own.pop(frames.key_of(id), None)

    def _answered_us(self, frame: Frame) -> None:
        """The server has no part in what we asked; an answer that comes too late is dropped."""
        found = self._own.pop(frame.key, None)
        if found is not None and not found.done():
            found.set_result(frame.body)

    # From the server

    async def from_server(self, line: bytes | None) -> None:
        """Take one line of the server; None is one that was too long."""
        try:
            found = frames.read(line) if line is not None else _raise(frames.too_long())
        except BadMessage as error:
            await self._garbled(error)
            return
        for each in found if isinstance(found, list) else [found]:
            if isinstance(each, BadMessage):
                await self._garbled(each)
            elif each.kind is FrameKind.RESPONSE:
                await self._answered(each)
            else:
                await self._to_client(each.body)

    async def _answered(self, frame: Frame) -> None:
        if frame.body["id"] is None and "error" in frame.body and frame.key not in self._pending:
            await self._to_client(frame.body)
            return
        pending = self._pending.get(frame.key)
        if pending is None or not pending.passed:
            self._note(f"the server answered `{one_line(frame.key, 60)}`, which it was not asked")
            return
        await self._answer(pending, frame.body)

    async def _garbled(self, error: BadMessage) -> None:
        """What the server said is not passed on. Was it to be an answer, the client is told that there is none."""
        self._note(f"a message of the server was dropped: {error}")
        pending = self._pending.get(frames.key_of(error.id))
        if error.id is not None and pending is not None and pending.passed:
            await self._answer(pending, error.answer())

    # Answers

    async def _answer(self, pending: PendingRequest, body: Body) -> None:
        if self._pending.get(pending.frame.key) is pending:
            del self._pending[pending.frame.key]
            await self._tell(body, pending.batch)

    async def _tell(self, body: Body, batch: BatchAnswers | None) -> None:
        if batch is None:
            await self._to_client(body)
            return
        batch.answers.append(body)
        batch.left -= 1
        await self._tell_all(batch)

    async def _tell_all(self, batch: BatchAnswers) -> None:
        if batch.left == 0 and batch.answers:
            await self._to_client(batch.answers)

    async def close(self, reason: str = "") -> None:
        """Take every question back. With a reason, the client is told it for all that is not answered."""
        waiting = list(self._pending.values())
        tasks = [each.task for each in waiting if each.task is not None]
        for task in tasks:
            task.cancel()
        for each in waiting:
            if reason:
                await self._answer(each, frames.failure(each.frame.body["id"], INTERNAL, reason))
        self._pending.clear()
        if tasks:
            await asyncio.wait(tasks, timeout=ENDING)


def _raise(error: BadMessage) -> Frame:
    raise error
