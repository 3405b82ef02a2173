"""Callers that wait for a person or for a slow decision. Asks through the gate; decides nothing.

A caller whose connection ends has some seconds to come back with id and digest; then its call is withdrawn. A verdict
is handed out once."""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from assent.contract import AccessError
from assent.contract.approval import Ending, Held, Verdict
from assent.engine.engine import Judged, Request, Settled, refusal
from assent.gate import CallGate, verdict

GRACE = 20.0  # seconds for a caller to come back
KEPT = 120.0  # seconds that a verdict or a decision waits for its caller
MOST = 5000  # calls held at once
MOST_OF_SESSION = 1000  # of one session, so that none takes all places
MOST_BYTES = 64 * 1024 * 1024  # of their requests


@dataclass(slots=True, eq=False)
class WaitingCall:
    """One held call. `callers` counts the requests that wait for it now; `size` is that of the request that made it."""

    id: str
    digest: str
    task: asyncio.Task[Verdict]
    session: str = ""
    size: int = 0
    callers: int = 0
    timer: asyncio.TimerHandle | None = None


def check_digest(known: str, given: str) -> None:
    """Raises AccessError if a caller does not know the digest of its call."""
    if not hmac.compare_digest(known.encode(), given.encode("utf-8", "surrogatepass")):
        raise AccessError("this is the digest of another call", code="not-yours")


class HeldCalls:
    """All held calls of a server. `work` runs a function in a thread."""

    def __init__(self, gate: CallGate, work: Callable[..., Awaitable[Any]] = asyncio.to_thread) -> None:
        self._gate = gate
        self._work = work
        self._waiting: dict[str, WaitingCall] = {}
        self._taken: Counter[str] = Counter()  # places by session, those of questions in preparation included
        self._bytes = 0

    async def hold(
        self, request: Request, settled: Settled, *, attended: bool, size: int = 0, limit: float = 0.0
    ) -> WaitingCall:
        """Hold a call that asks, for `limit` seconds at most (0: as long as the settings say). One call too many is
        denied at once."""
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
        """The held call of a caller that is back. Raises AccessError if it is another's."""
        found = self._waiting.get(id)
        if found is not None:
            check_digest(found.digest, digest)
            return found
        # After a restart only the broker may know it. The decision is in the trail.
        judged = Judged(refusal("answer.lost", "the server that asked this question has ended"))
        return self._keep(id, digest, asyncio.ensure_future(self._reattached(Settled(judged, id), digest)))

    def withdraw(self, id: str, digest: str) -> None:
        if id not in self._waiting:
            raise AccessError("no call with this id waits", code="not-yours")
        check_digest(self._waiting[id].digest, digest)
        self._gate.broker.withdraw(id, "the agent withdrew it")

    async def wait(
        self, waiting: WaitingCall, seconds: float, gone: Callable[[], Awaitable[None]]
    ) -> Verdict | dict[str, object]:
        """The verdict, or the id and digest to come back with."""
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

    def _full(self, session: str, size: int) -> str:
        """Why no other call can be held; `""` if one can."""
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
        """Forget a held call. False if it was forgotten before."""
        if waiting is None or self._waiting.get(waiting.id) is not waiting:
            return False
        del self._waiting[waiting.id]
        self._free(waiting.session, waiting.size)
        return True

    def _handed_out(self, waiting: WaitingCall) -> Verdict:
        """The verdict, for the first caller that asks for it: an approval is for one caller and one run."""
        found = waiting.task.result()
        if self._drop(waiting) or not found.allowed:
            return found
        return Verdict(
            False, found.decision, found.id, message="This call was not run: another caller took its approval."
        )

    def _expect(self, waiting: WaitingCall, seconds: float) -> None:
        waiting.timer = asyncio.get_running_loop().call_later(seconds, self._give_up, waiting)

    def _give_up(self, waiting: WaitingCall) -> None:
        """The caller did not come back: withdraw the question, or forget its answer."""
        waiting.timer = None
        if not waiting.task.done():
            self._gate.broker.withdraw(waiting.id, "the agent that asked has disconnected")
            self._expect(waiting, KEPT)
        else:
            self._drop(waiting)

    async def _reattached(self, settled: Settled, digest: str) -> Verdict:
        return verdict(settled, await self._gate.broker.reattach(settled.id, digest))

    async def close(self) -> None:
        """Wait until every call has its verdict; the broker was closed before."""
        tasks = [each.task for each in self._waiting.values()]
        if tasks:
            await asyncio.wait(tasks, timeout=10)


class SlowDecisions:
    """Decisions that take longer than a hook waits for its first answer, and that no hook has fetched yet."""

    def __init__(self) -> None:
        self._tasks: dict[str, tuple[str, asyncio.Task[Settled], float]] = {}

    def keep(self, task: asyncio.Task[Settled]) -> tuple[str, str]:
        """Keep a decision; return the id and the secret to come back with."""
        id, digest = f"slow-{secrets.token_hex(16)}", secrets.token_hex(16)
        loop = asyncio.get_running_loop()
        self._tasks[id] = (digest, task, loop.time())
        task.add_done_callback(lambda _: loop.call_later(KEPT, self.drop, id))
        return id, digest

    def knows(self, id: str) -> bool:
        return id in self._tasks

    def find(self, id: str, digest: str) -> tuple[asyncio.Task[Settled], float]:
        """The decision of a hook that is back, and when it began. Raises AccessError if it is another's."""
        known, task, since = self._tasks[id]
        check_digest(known, digest)
        return task, since

    def drop(self, id: str) -> None:
        _, task, _ = self._tasks.pop(id, (None, None, 0.0))
        if task is not None and task.done() and not task.cancelled():
            task.exception()  # so that asyncio does not report it as never retrieved
