"""The callers that wait for a person, and the ways back to them. Asks through the gate; decides nothing.

A caller that goes away has a moment to come back with id and digest; then its call is withdrawn. A verdict is handed
out once."""

from __future__ import annotations

import asyncio
import hmac
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from assent.contract import AccessError
from assent.contract.approval import Ending, Held, Verdict
from assent.engine.engine import Judged, refusal
from assent.engine.request import Request, Settled
from assent.gate import CallGate, verdict

GRACE = 20.0  # seconds for a caller to come back
KEPT = 120.0  # seconds that a verdict waits for its caller
MOST = 5000  # calls held at once
MOST_OF_SESSION = 1000  # of one session, so that none fills the place of all
MOST_BYTES = 64 * 1024 * 1024  # of their requests


Work = Callable[..., Awaitable[Any]]  # does something aside


class WaitingCall:
    """One held call. `callers` counts the requests that wait for it now; `size` is that of the request that made it."""

    __slots__ = ("id", "digest", "task", "session", "size", "callers", "timer")

    def __init__(self, id: str, digest: str, task: asyncio.Task[Verdict], session: str = "", size: int = 0) -> None:
        self.id = id
        self.digest = digest
        self.task = task
        self.session = session
        self.size = size
        self.callers = 0
        self.timer: asyncio.TimerHandle | None = None


class HeldCalls:
    """All held calls of a server."""

    def __init__(self, gate: CallGate, work: Work = asyncio.to_thread) -> None:
        self._gate = gate
        self._work = work
        self._waiting: dict[str, WaitingCall] = {}
        self._taken: Counter[str] = Counter()  # places, by session, with those of questions that are being made
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._waiting)

    async def hold(
        self, request: Request, settled: Settled, *, attended: bool, size: int = 0, limit: float = 0.0
    ) -> WaitingCall:
        """Hold a call that asks, for `limit` seconds at most (0: as long as the settings say). One that is too many is
        denied at once: what nobody gets to see is not approved."""
        session = request.call.session
        if full := self._full(session, size):
            never = self._gate.never_asked(request, settled, Ending.UNSEEN, full, work=self._work)
            return self._keep(settled.id, "", asyncio.ensure_future(never))
        self._take(session, size)
        question: asyncio.Future[Held] = asyncio.get_running_loop().create_future()
        asking = self._gate.ask(
            request, settled, attended=attended, limit=limit, work=self._work, made=question.set_result
        )
        task = asyncio.ensure_future(asking)
        try:
            waited: set[asyncio.Future[Any]] = {task, question}
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            task.cancel()
            raise
        finally:
            self._free(session, size)
        digest = question.result().digest if question.done() else ""
        return self._keep(settled.id, digest, task, session, size)

    async def again(self, id: str, digest: str) -> WaitingCall:
        """The caller of a held call is back. Raises AccessError where this is not its call."""
        found = self._waiting.get(id)
        if found is not None:
            if not hmac.compare_digest(found.digest.encode(), digest.encode("utf-8", "surrogatepass")):
                raise AccessError("this is the digest of another call", code="not-yours")
            return found
        # After a restart the broker knows of it, if anybody does. The decision is in the trail.
        part = Judged(refusal("answer.lost", "the question outlived the server that asked it"))
        return self._keep(id, digest, asyncio.ensure_future(self._reattached(Settled(part, id), digest)))

    def withdraw(self, id: str, digest: str) -> None:
        found = self._waiting.get(id)
        if found is None or not hmac.compare_digest(found.digest.encode(), digest.encode("utf-8", "surrogatepass")):
            raise AccessError("no call with this id and digest waits", code="not-yours")
        self._gate.broker.withdraw(id, "the agent took it back")

    async def wait(
        self, waiting: WaitingCall, seconds: float, gone: Callable[[], Awaitable[None]]
    ) -> Verdict | dict[str, object]:
        """The verdict, or how to come back for it."""
        waiting.callers += 1
        if waiting.timer is not None:
            waiting.timer.cancel()
            waiting.timer = None
        left = asyncio.ensure_future(gone())
        try:
            await asyncio.wait({waiting.task, left}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if waiting.task.done():
                return self._handed_out(waiting)
            if left.done():
                raise ConnectionResetError("the caller hung up")
            return {"id": waiting.id, "digest": waiting.digest}
        finally:
            left.cancel()
            waiting.callers -= 1
            if waiting.callers == 0 and waiting.id in self._waiting:
                self._expect(waiting, GRACE)

    # How it is done

    def _full(self, session: str, size: int) -> str:
        """Why no other call can be held, `""` where it can."""
        if self._taken.total() >= MOST:
            return f"{MOST} calls wait for a person already"
        if self._taken[session] >= MOST_OF_SESSION:
            return f"{MOST_OF_SESSION} calls of this session wait for a person already"
        if self._bytes + size > MOST_BYTES:
            return f"the calls that wait for a person fill {MOST_BYTES >> 20} MiB already"
        return ""

    def _take(self, session: str, size: int) -> None:
        self._taken[session] += 1
        self._bytes += size

    def _free(self, session: str, size: int) -> None:
        self._taken[session] -= 1
        self._bytes -= size
        if not self._taken[session]:
            del self._taken[session]

    def _keep(self, id: str, digest: str, task: asyncio.Task[Verdict], session: str = "", size: int = 0) -> WaitingCall:
        waiting = WaitingCall(id, digest, task, session, size)
        self._drop(self._waiting.get(id))
        self._waiting[id] = waiting
        self._take(session, size)
        return waiting

    def _drop(self, waiting: WaitingCall | None) -> bool:
        """Forget a held call; whether it was known."""
        if waiting is None or self._waiting.get(waiting.id) is not waiting:
            return False
        del self._waiting[waiting.id]
        self._free(waiting.session, waiting.size)
        return True

    def _handed_out(self, waiting: WaitingCall) -> Verdict:
        """The verdict, for the first that comes for it: an approval is for one caller and one use."""
        found = waiting.task.result()
        if self._drop(waiting) or not found.allowed:
            return found
        return Verdict(
            False, found.decision, found.id, message="This call was not run: another caller took its approval."
        )

    def _expect(self, waiting: WaitingCall, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        waiting.timer = loop.call_later(seconds, self._give_up, waiting)

    def _give_up(self, waiting: WaitingCall) -> None:
        """Nobody came back: what is still asked is withdrawn, what is answered is forgotten."""
        waiting.timer = None
        if not waiting.task.done():
            self._gate.broker.withdraw(waiting.id, "the agent that asked went away")
            self._expect(waiting, KEPT)
            return
        self._drop(waiting)

    async def _reattached(self, settled: Settled, digest: str) -> Verdict:
        return verdict(settled, await self._gate.broker.reattach(settled.id, digest))

    async def close(self) -> None:
        """Let every caller have its verdict; the broker was closed before."""
        tasks = [each.task for each in self._waiting.values()]
        if tasks:
            with suppress(TimeoutError):
                await asyncio.wait(tasks, timeout=10)
