"""The callers that wait for a person, and the ways back to them. Asks through the desk; decides nothing.

A caller that goes away has a moment to come back with id and digest; then its call is withdrawn. A verdict is handed
out once."""

from __future__ import annotations

import asyncio
import hmac
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from assent.approval.denial import deny
from assent.contract.approval import Ending, Verdict
from assent.contract.call import Call
from assent.contract.errors import AccessError, AssentError
from assent.engine.desk import Desk, verdict
from assent.engine.engine import Engine, Judged, refusal
from assent.engine.journal import of_dialog
from assent.engine.memory import Settled

GRACE = 20.0  # seconds for a caller to come back
KEPT = 120.0  # seconds that a verdict waits for its caller
MOST = 5000  # calls held at once
MOST_OF_SESSION = 1000  # of one session, so that none fills the place of all
MOST_BYTES = 64 * 1024 * 1024  # of their requests


Work = Callable[..., Awaitable[Any]]  # does something aside


class Waiting:
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

    def __init__(self, desk: Desk, work: Work = asyncio.to_thread) -> None:
        self._desk = desk
        self._work = work
        self._waiting: dict[str, Waiting] = {}
        self._taken: Counter[str] = Counter()  # places, by session, with those of questions that are being made
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._waiting)

    async def hold(
        self,
        gate: Engine,
        call: Call,
        settled: Settled,
        *,
        project: str,
        attended: bool,
        size: int = 0,
        limit: float = 0.0,
    ) -> Waiting:
        """Hold a call that asks, for `limit` seconds at most (0: as long as the settings say). One that is too many is
        denied at once: what nobody gets to see is not approved."""
        if full := self._full(call.session, size):
            return self._keep(settled.id, "", self._never(settled, call, project, Ending.UNSEEN, full))
        self._take(call.session, size)
        try:
            held = await self._work(
                self._desk.held, gate, call, settled, project=project, attended=attended, limit=limit
            )
        except Exception as error:  # what cannot be shown cannot be approved
            reason = f"the question could not be made: {error}"
            return self._keep(settled.id, "", self._never(settled, call, project, Ending.FAULT, reason))
        finally:
            self._free(call.session, size)
        asking = self._ask(settled, self._desk.broker.ask(held))
        return self._keep(held.id, held.digest, asking, call.session, size)

    async def again(self, id: str, digest: str) -> Waiting:
        """The caller of a held call is back. Raises AccessError where this is not its call."""
        found = self._waiting.get(id)
        if found is not None:
            if not hmac.compare_digest(found.digest.encode(), digest.encode("utf-8", "surrogatepass")):
                raise AccessError("this is the digest of another call", code="not-yours")
            return found
        # After a restart the broker knows of it, if anybody does. The decision is in the trail.
        part = Judged(refusal("answer.lost", "the question outlived the server that asked it"))
        return self._keep(id, digest, self._ask(Settled(part, id), self._desk.broker.reattach(id, digest)))

    def withdraw(self, id: str, digest: str) -> None:
        found = self._waiting.get(id)
        if found is None or not hmac.compare_digest(found.digest.encode(), digest.encode("utf-8", "surrogatepass")):
            raise AccessError("no call with this id and digest waits", code="not-yours")
        self._desk.broker.withdraw(id, "the agent took it back")

    async def wait(
        self, waiting: Waiting, seconds: float, gone: Callable[[], Awaitable[None]]
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

    def _keep(self, id: str, digest: str, verdict: Awaitable[Verdict], session: str = "", size: int = 0) -> Waiting:
        task = asyncio.ensure_future(verdict)
        waiting = Waiting(id, digest, task, session, size)
        self._drop(self._waiting.get(id))
        self._waiting[id] = waiting
        self._take(session, size)
        return waiting

    def _drop(self, waiting: Waiting | None) -> bool:
        """Forget a held call; whether it was known."""
        if waiting is None or self._waiting.get(waiting.id) is not waiting:
            return False
        del self._waiting[waiting.id]
        self._free(waiting.session, waiting.size)
        return True

    def _handed_out(self, waiting: Waiting) -> Verdict:
        """The verdict, for the first that comes for it: an approval is for one caller and one use."""
        found = waiting.task.result()
        if self._drop(waiting) or not found.allowed:
            return found
        return Verdict(
            False, found.decision, found.id, message="This call was not run: another caller took its approval."
        )

    def _expect(self, waiting: Waiting, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        waiting.timer = loop.call_later(seconds, self._give_up, waiting)

    def _give_up(self, waiting: Waiting) -> None:
        """Nobody came back: what is still asked is withdrawn, what is answered is forgotten."""
        waiting.timer = None
        if not waiting.task.done():
            self._desk.broker.withdraw(waiting.id, "the agent that asked went away")
            self._expect(waiting, KEPT)
            return
        self._drop(waiting)

    async def _ask(self, settled: Settled, asking: Awaitable[object]) -> Verdict:
        return verdict(settled, await asking)  # type: ignore[arg-type]

    async def _never(self, settled: Settled, call: Call, project: str, ending: Ending, reason: str) -> Verdict:
        """The denial of a call that was never asked about, recorded as the end of every question is."""
        found, memory = deny(settled.id, ending, detail=reason), self._desk.memory
        record = of_dialog(call.session, call, found, project=project, time=memory.clock())
        with suppress(AssentError):
            await self._work(memory.record, record)
        return verdict(settled, found)

    async def close(self) -> None:
        """Let every caller have its verdict; the broker was closed before."""
        tasks = [each.task for each in self._waiting.values()]
        if tasks:
            with suppress(TimeoutError):
                await asyncio.wait(tasks, timeout=10)
