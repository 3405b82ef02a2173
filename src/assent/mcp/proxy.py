"""Relays messages between a client and a server: each is read and written again, calls are held until they are judged.

The two transports do the I/O. INVARIANT: a gated request reaches the server only after a yes to that very message, and
only parsed messages reach either side."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from assent.contract import Call
from assent.contract.display import one_line
from assent.mcp import frames
from assent.mcp.calls import CallOrigin, can_ask, refusal
from assent.mcp.definitions import ToolList
from assent.mcp.frames import INTERNAL, INVALID, BadMessage, Body, Frame, FrameKind
from assent.mcp.judge import ClientForms, McpJudge, Send, report_progress

MOST = 10_000  # requests under way
ENDING = 5.0  # seconds to withdraw questions in


@dataclass(slots=True)
class BatchAnswers:
    """The answers to a batch of requests, sent together. `left` are still to come."""

    left: int
    answers: list[Body] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class PendingRequest:
    """A request of the client that is not answered. `passed`: the server has it."""

    frame: Frame
    batch: BatchAnswers | None
    task: asyncio.Task[None] | None = None
    passed: bool = False


class Proxy:
    def __init__(
        self,
        judge: McpJudge,
        origin: CallOrigin,
        *,
        to_server: Callable[[Frame], Awaitable[None]],  # raises OSError if the server is gone
        to_client: Send,
        note: Callable[[str], None],
        elicit: bool = False,
    ) -> None:
        self._judge = judge
        self._origin = origin
        self._to_server = to_server
        self._to_client = to_client
        self._note = note
        self._pending: dict[str, PendingRequest] = {}
        self._elicit = elicit
        self._can_ask = False  # the client shows forms
        self._forms = ClientForms(to_client)
        self._tools = ToolList()

    # From the client

    async def from_client(self, line: bytes | None) -> None:
        """Take one line of the client; None is one that was too long."""
        try:
            found = frames.read(line)
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
            elif frame.cancels:
                await self._cancelled(frame)
            elif frame.kind is FrameKind.RESPONSE:
                if not self._forms.take(frame):  # the answer to our own request, not for the server
                    await self._to_server(frame)
            elif self._origin.call(frame) is None:
                await self._to_server(frame)
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
        call = self._origin.call(frame, self._tools)
        pending = self._pending[frame.key] = PendingRequest(frame, batch)
        if frame.method == "initialize":
            self._can_ask = self._elicit and can_ask(frame.params)
        if call is None:
            await self._pass(pending)
        else:
            pending.task = asyncio.create_task(self._gate(pending, call))

    async def _gate(self, pending: PendingRequest, call: Call) -> None:
        frame = pending.frame
        waiting = "waiting for a person's assent"
        progress = asyncio.create_task(report_progress(frame, self._to_client, waiting, step=1e-9))
        try:
            ask_client = self._forms.ask if self._can_ask else None
            verdict = await self._judge.ask(call, project=self._origin.project, ask_client=ask_client)
        finally:
            progress.cancel()
        pending.task = None
        if self._pending.get(frame.key) is not pending:
            return
        if verdict.allowed is True:
            await self._pass(pending)
        else:
            await self._answer(pending, refusal(frame, verdict.message))

    async def _pass(self, pending: PendingRequest) -> None:
        pending.passed = True
        try:
            await self._to_server(pending.frame)
        except OSError as error:
            await self._answer(pending, frames.failure(pending.frame.body["id"], INTERNAL, f"no server: {error}"))

    async def _cancelled(self, frame: Frame) -> None:
        """The client cancelled a request: withdraw the question about it; the server never receives it."""
        pending = self._pending.pop(frame.cancels, None)
        if pending is not None:
            if pending.task is not None:
                pending.task.cancel()
            if pending.batch is not None:
                pending.batch.left -= 1
                await self._send_batch(pending.batch)
        if pending is None or pending.passed:
            await self._to_server(frame)

    # From the server

    async def from_server(self, line: bytes | None) -> None:
        """Take one line of the server; None is one that was too long."""
        for each in frames.read_all(line):
            if isinstance(each, BadMessage):
                await self._dropped(each)
            elif each.kind is FrameKind.RESPONSE:
                await self._answered(each)
            else:
                self._tools.hear(each)
                await self._to_client(each.body)

    async def _answered(self, frame: Frame) -> None:
        pending = self._pending.get(frame.key)
        if pending is None and frame.body["id"] is None and "error" in frame.body:
            await self._to_client(frame.body)
        elif pending is None or not pending.passed:
            self._note(f"the server answered `{one_line(frame.key, 60)}`, which it was not asked")
        else:
            self._tools.learn(frame, pending.frame)
            await self._answer(pending, frame.body)

    async def _dropped(self, error: BadMessage) -> None:
        """Drop a message of the server. If it was an answer, the client gets an error instead."""
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
        else:
            batch.answers.append(body)
            batch.left -= 1
            await self._send_batch(batch)

    async def _send_batch(self, batch: BatchAnswers) -> None:
        if batch.left == 0 and batch.answers:
            await self._to_client(batch.answers)

    async def close(self, reason: str = "") -> None:
        """Withdraw every question. With a reason, the client gets it as the answer to each open request."""
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
