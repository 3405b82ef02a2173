"""What is to be seen in a place elsewhere, brought there however long that takes. Knows nothing of questions.

For each key only the latest counts. A place that is down or busy is tried again, slower and slower, and holds up
nobody but itself."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from contextlib import suppress

from assent.approval.patience import Tasks, within

FIRST, SLOWEST = 1.0, 30.0  # seconds between tries
LONGEST = 3600.0  # seconds that a busy place is believed
PATIENCE = 20.0  # seconds for one try

Send = Callable[[], Awaitable[bool]]  # False: there was nothing to bring any more


class Busy(Exception):
    """The place wants to be left alone for some seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"it takes nothing for {seconds:g} s")
        self.seconds = seconds


class Refused(Exception):
    """The place will not have it, and trying again is no use. `code` is the place's own word for why."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


class Outbox:
    """What waits to be brought to one place. `told` hears of the first failure in a row, and of its end with `""`."""

    def __init__(self, told: Callable[[str], None], *, at_once: int = 1, first: float = FIRST) -> None:
        self._told = told
        self._wanted: dict[Hashable, tuple[Send, list[asyncio.Future[None]]]] = {}
        self._carried: set[Hashable] = set()
        self._turns = asyncio.Semaphore(at_once)
        self._tasks = Tasks()
        self._first = first
        self._pause = first
        self._until = 0.0
        self._busy = 0.0  # until when the place said that it takes nothing
        self._woken = asyncio.Event()
        self._futures: set[asyncio.Future[None]] = set()
        self._failed = False

    def __len__(self) -> int:
        return len(self._wanted)

    def put(self, key: Hashable, send: Send) -> asyncio.Future[None]:
        """Want this, in the place of what was wanted under the same key. The future ends when it, or what replaced
        it, is there or refused."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        self._futures.add(done)
        done.add_done_callback(self._futures.discard)
        done.add_done_callback(_heard)
        _, waiting = self._wanted.pop(key, (send, []))
        self._wanted[key] = (send, [*waiting, done])
        if key not in self._carried:
            self._carried.add(key)
            self._tasks.start(self._carry(key))
        return done

    async def bring(self, key: Hashable, send: Send, seconds: float) -> None:
        """The same, and wait so long for it to be there. Raises where it is not there yet; it still comes."""
        await within(seconds, asyncio.shield(self.put(key, send)))

    def hurry(self) -> None:
        """The place was heard of: what waits is tried at once, unless it said for how long to leave it alone."""
        self._pause, self._until = self._first, self._busy
        self._woken.set()

    def leave(self) -> None:
        """Nobody need wait any longer for what is on its way; it goes on."""
        _end(list(self._futures), ConnectionError("the gate ends"))

    async def close(self, seconds: float) -> None:
        """Give what waits a last while."""
        await self._tasks.drain(seconds)

    async def _carry(self, key: Hashable) -> None:
        try:
            while key in self._wanted:
                async with self._turns:
                    await self._rest()
                    await self._try(key)
        finally:
            self._carried.discard(key)

    async def _rest(self) -> None:
        while (left := self._until - asyncio.get_running_loop().time()) > 0:
            self._woken.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), left)

    async def _try(self, key: Hashable) -> None:
        if key not in self._wanted:
            return
        send, waiting = self._wanted.pop(key)
        try:
            reached = await within(PATIENCE, send())
        except Refused as refused:
            self._told(str(refused))
            self._failed = True
            _end(waiting, refused)
        except Exception as error:
            self._again(key, send, waiting)
            self._later(error)
        else:
            if reached:
                self._works()
            _end(waiting)

    def _again(self, key: Hashable, send: Send, waiting: list[asyncio.Future[None]]) -> None:
        newer, more = self._wanted.get(key, (send, []))
        self._wanted[key] = (newer, [*waiting, *more])

    def _later(self, error: Exception) -> None:
        now = asyncio.get_running_loop().time()
        if isinstance(error, Busy):
            self._until = self._busy = now + min(max(error.seconds, self._first), LONGEST)
        else:
            self._until = now + self._pause
            self._pause = min(self._pause * 2, SLOWEST)
        if not self._failed:
            self._failed = True
            self._told(str(error) or type(error).__name__)

    def _works(self) -> None:
        self._pause, self._until, self._busy = self._first, 0.0, 0.0
        if self._failed:
            self._failed = False
            self._told("")


def _end(waiting: list[asyncio.Future[None]], error: Exception | None = None) -> None:
    for each in waiting:
        if not each.done():
            if error is None:
                each.set_result(None)
            else:
                each.set_exception(error)


def _heard(done: asyncio.Future[None]) -> None:
    if not done.cancelled():
        done.exception()  # nobody need wait for it
