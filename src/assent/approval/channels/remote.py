"""Shared parts of remote channels: signatures with a time, questions that are posted and answered once, and an outbox.

For each key of an outbox only the latest message counts. A channel that is down or rate-limited is retried with growing
delays, and blocks only itself."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
from collections.abc import Awaitable, Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, Protocol, TypeVar

from assent.approval.channels import Channel, Question
from assent.approval.commands import Receipt, Taken
from assent.approval.patience import Tasks, within
from assent.contract.approval import Answer, Held, Reach, Resolution, Scope

WINDOW = 300.0  # seconds that a signature is valid, either way
LAST = 4.0  # seconds for the last messages, when the server ends
UP = "up"
MOST = 20_000  # replies remembered
MOST_OPEN = 2000  # questions in one channel
# Permanent rules are saved only on the person's own machine: on the page or in a terminal.
SCOPES = tuple(scope for scope in Scope if not scope.bounds.lasting)
FIRST, SLOWEST = 1.0, 30.0  # seconds between tries
LONGEST = 3600.0  # seconds at most that a rate-limited channel is not tried
PATIENCE = 20.0  # seconds for one try
Send = Callable[[], Awaitable[bool]]  # False: there was nothing to send any more


class RemoteHost(Protocol):
    """A server's interface for a remote channel. `folder` is that of its state, `problem` the last reported one.
    `report` takes the problem of a part, or `""` and a note if there is none."""

    @property
    def folder(self) -> str: ...
    @property
    def problem(self) -> str: ...
    def clock(self) -> float: ...
    def attach(self, channel: Channel) -> None: ...
    def reach(self, held: Held, rules: tuple[str, ...], scope: Scope) -> Reach: ...
    def report(self, part: str, words: str, fine: str) -> None: ...
    def refused(self, words: str) -> None: ...


class RemoteChannel(Protocol):
    """A remote channel of a server. It is created with its host, its secrets, and its settings by name."""

    host: RemoteHost

    @property
    def state(self) -> str: ...
    def leave(self) -> None: ...
    async def close(self) -> None: ...


def nonce() -> str:
    return secrets.token_urlsafe(18)


def same(one: str, other: str) -> bool:
    """Compares two secrets in constant time."""
    return hmac.compare_digest(one.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass"))


def signature(secret: str, head: str, body: bytes) -> str:
    return hmac.new(secret.encode(), head.encode("ascii", "replace") + body, hashlib.sha256).hexdigest()


def signed(secret: str, head: str, body: bytes, given: str) -> bool:
    """Without a secret nothing is signed."""
    return bool(secret) and same(signature(secret, head, body), given)


def timely(timestamp: str, now: float) -> bool:
    """Whether a time in whole seconds since the epoch is within the window."""
    return timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12 and abs(now - int(timestamp)) <= WINDOW


class Once:
    """Used values, for as long as their signatures are valid. When full, it refuses, and drops none."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._used: dict[str, float] = {}

    def use(self, name: str) -> bool:
        """False if it was used before, or cannot be stored."""
        now = self._clock()
        if not name or name in self._used:
            return False
        while self._used and (len(self._used) >= MOST or next(iter(self._used.values())) < now):
            first = next(iter(self._used))
            if self._used[first] >= now:
                return False
            del self._used[first]
        self._used[name] = now + 2 * WINDOW
        return True


def retry_after(value: object, *, least: float, default: float) -> float:
    """The seconds that a `Retry-After` header names; `default` if there is none."""
    try:
        return max(least, float(str(value)))
    except ValueError:
        return default


class RateLimited(Exception):
    """The channel accepts nothing for some seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"it is rate-limited for {seconds:g} s")
        self.seconds = seconds


class Refused(Exception):
    """The channel refuses the message, and retrying does not help. `code` is the channel's own word for the reason."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


class Outbox:
    """Messages that wait to be sent to one channel. `report` takes the first failure in a row, and its end as `""`."""

    def __init__(self, report: Callable[[str], None], *, at_once: int = 1, first: float = FIRST) -> None:
        self._report = report
        self._wanted: dict[Hashable, tuple[Send, list[asyncio.Future[None]]]] = {}
        self._carried: set[Hashable] = set()
        self._turns = asyncio.Semaphore(at_once)
        self._tasks = Tasks()
        self._first = self._pause = first
        self._until = self._busy = 0.0  # `_busy`: until when the channel accepts nothing, by its own word
        self._woken = asyncio.Event()
        self._futures: set[asyncio.Future[None]] = set()
        self._failed = False

    def __len__(self) -> int:
        return len(self._wanted)

    def put(self, key: Hashable, send: Send) -> asyncio.Future[None]:
        """Send this instead of a waiting message with the same key. The future ends when it, or its replacement, is
        sent or refused."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._futures.add(done)
        done.add_done_callback(self._futures.discard)
        done.add_done_callback(_retrieve_error)
        _, waiting = self._wanted.pop(key, (send, []))
        self._wanted[key] = (send, [*waiting, done])
        if key not in self._carried:
            self._carried.add(key)
            self._tasks.start(self._carry(key))
        return done

    async def bring(self, key: Hashable, send: Send, seconds: float) -> None:
        """The same, and wait so long for it to be sent. Raises if it is not sent yet; it is still sent later."""
        await within(seconds, asyncio.shield(self.put(key, send)))

    def hurry(self) -> None:
        """The channel is reachable again: retry waiting messages at once, unless it is rate-limited."""
        self._pause, self._until = self._first, self._busy
        self._woken.set()

    def leave(self) -> None:
        """Nobody needs to wait any longer for messages in transit; they are still sent."""
        _resolve(list(self._futures), ConnectionError("the gate ends"))

    async def close(self, seconds: float) -> None:
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
            self._report(str(refused))
            self._failed = True
            _resolve(waiting, refused)
        except Exception as error:
            newer, more = self._wanted.get(key, (send, []))
            self._wanted[key] = (newer, [*waiting, *more])
            self._later(error)
        else:
            if reached:
                self._works()
            _resolve(waiting)

    def _later(self, error: Exception) -> None:
        now = asyncio.get_running_loop().time()
        if isinstance(error, RateLimited):
            self._until = self._busy = now + min(max(error.seconds, self._first), LONGEST)
        else:
            self._until = now + self._pause
            self._pause = min(self._pause * 2, SLOWEST)
        if not self._failed:
            self._failed = True
            self._report(str(error) or type(error).__name__)

    def _works(self) -> None:
        self._pause, self._until, self._busy = self._first, 0.0, 0.0
        if self._failed:
            self._failed = False
            self._report("")


@dataclass(eq=False, slots=True)
class SentQuestion:
    question: Question
    nonce: str = field(default_factory=nonce)
    late: bool = False  # sending it timed out, and may still succeed
    sent: bool = False
    used: bool = False  # it was answered in this channel

    async def answer(self, answer: Answer) -> Receipt | None:
        """Give the answer to the broker; None if there was one before."""
        if self.used:
            return None
        self.used = True
        receipt: Receipt | None = None
        try:
            # This outlives the caller: the answer counts, whatever happens to the channel.
            receipt = await asyncio.shield(asyncio.ensure_future(self.question.answer(answer)))
        finally:
            self.used = isinstance(receipt, Taken)
        return receipt


Sent = TypeVar("Sent", bound=SentQuestion)


class PostingChannel(Generic[Sent]):
    """A channel of the broker that posts its questions, with `seconds` for each. `new` makes the entry of one. `again`
    is called when one arrived late: the broker considered it not shown."""

    name: str
    seconds: float

    def __init__(self, new: Callable[[Question], Sent], outbox: Outbox, again: Callable[[], None]) -> None:
        self.outbox = outbox
        self._new = new
        self._again = again
        self._open: dict[str, Sent] = {}
        self._tasks = Tasks()

    async def show(self, question: Question) -> None:
        held = question.held
        sent = self._open.get(held.id)
        if sent is None or sent.question.held.digest != held.digest:
            if len(self._open) >= MOST_OPEN:
                raise RuntimeError(f"{MOST_OPEN} questions are open in {self.name} already")
            sent = self._open[held.id] = self._new(question)
        sent.question, sent.late = question, False
        if sent.sent or not await self._prepare(sent):
            return
        try:
            await self.outbox.bring(held.id, partial(self._deliver, sent), self.seconds)
        except BaseException:
            sent.late = True
            raise

    async def withdraw(self, id: str, resolution: Resolution) -> None:
        sent = self._open.pop(id, None)
        if sent is not None:
            self.outbox.put(id, partial(self._finish, sent, resolution))

    def leave(self) -> None:
        """Nobody waits for this channel any more."""
        self.outbox.leave()

    async def close(self) -> None:
        """Deliver remaining messages, within a moment."""
        await self.outbox.close(LAST)
        await self._tasks.drain(1.0)

    async def _deliver(self, sent: Sent) -> bool:
        if sent.sent or self._open.get(sent.question.held.id) is not sent:
            return False
        await self._post(sent)
        sent.sent = True
        if sent.late:
            sent.late = False
            self._again()
        return True

    async def _finish(self, sent: Sent, resolution: Resolution) -> bool:
        if sent.sent:
            await self._end(sent, resolution)
        return sent.sent

    async def _prepare(self, sent: Sent) -> bool:
        """Whether to post it, after slow preparations."""
        return True

    async def _post(self, sent: Sent) -> None:
        raise NotImplementedError

    async def _end(self, sent: Sent, resolution: Resolution) -> None:
        raise NotImplementedError


def _resolve(waiting: list[asyncio.Future[None]], error: Exception | None = None) -> None:
    for each in waiting:
        if not each.done():
            each.set_result(None) if error is None else each.set_exception(error)


def _retrieve_error(done: asyncio.Future[None]) -> None:
    if not done.cancelled():
        done.exception()  # nobody need wait for it
