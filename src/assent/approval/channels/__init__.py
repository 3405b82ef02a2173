"""The interface between the broker and its channels. A channel shows questions and returns answers.

A question that it does not deliver is denied."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Awaitable, Callable
from typing import Protocol, runtime_checkable

from assent.approval.commands import Receipt
from assent.approval.escalation import Offer
from assent.contract.approval import Answer, Held, Resolution


def attributed(answer: Answer, who: str, channel: str) -> Answer:
    """The same answer, given by somebody through a channel."""
    return Answer(answer.said, scope=answer.scope, rules=answer.rules, message=answer.message, who=who, channel=channel)


class Question:
    """A question in one channel: its content, and callbacks for answers and failures.

    `deadline` is when it expires, in seconds since the epoch. `behind` is how many more wait in its session. The
    callbacks work on any event loop and in any thread; the first through any channel counts. They raise RuntimeError if
    the gate is closed."""

    __slots__ = ("held", "deadline", "behind", "_answer", "_dismiss", "_nobody", "_gone", "_fail", "_loop")

    def __init__(
        self,
        held: Held,
        deadline: float,
        behind: int,
        *,
        answer: Callable[[Answer], Awaitable[Receipt]],
        dismiss: Callable[[], None],
        nobody: Callable[[str], None],
        gone: Callable[[], None],
        fail: Callable[[str], None],
    ) -> None:
        self.held = held
        self.deadline = deadline
        self.behind = behind
        self._answer = answer
        self._dismiss = dismiss
        self._nobody = nobody
        self._gone = gone
        self._fail = fail
        self._loop = asyncio.get_running_loop()  # the broker's

    async def answer(self, answer: Answer) -> Receipt:
        """Returns once the result of the answer is known; show `receipt.words` to the person."""
        if asyncio.get_running_loop() is self._loop:
            return await self._answer(answer)
        return await asyncio.wrap_future(self.answer_threadsafe(answer))

    def answer_threadsafe(self, answer: Answer) -> concurrent.futures.Future[Receipt]:
        """The same for a thread without an event loop: `.result()` waits. Not for the loop of the broker."""

        async def given() -> Receipt:
            return await self._answer(answer)

        return asyncio.run_coroutine_threadsafe(given(), self._loop)

    def dismiss(self) -> None:
        """Esc, Ctrl-C: denies the call."""
        self._there(self._dismiss)

    def nobody(self, detail: str = "") -> None:
        """Nobody will see the question in any channel, which denies it at once."""
        self._there(self._nobody, detail)

    def gone(self) -> None:
        """The question is not visible in this channel any more, though the channel is still open."""
        self._there(self._gone)

    def fail(self, detail: str) -> None:
        """Asking failed in this channel, which denies the call everywhere; `detail` says how."""
        self._there(self._fail, detail)

    def _there(self, way: Callable[..., None], *given: str) -> None:
        """Call back on the loop of the broker."""
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:  # a thread without one
            here = None
        if here is self._loop:
            way(*given)
        else:
            self._loop.call_soon_threadsafe(way, *given)


class Offering:
    """An offer in one channel. Both methods return words for the person."""

    __slots__ = ("offer", "_accept", "_reject")

    def __init__(
        self, offer: Offer, *, accept: Callable[[str, str, str], Awaitable[str]], reject: Callable[[str], str]
    ) -> None:
        self.offer = offer
        self._accept = accept
        self._reject = reject

    async def accept(self, *, mode: str = "", rule: str = "", who: str = "") -> str:
        """`mode` is one of the offer's modes, `rule` a deny rule to save."""
        return await self._accept(mode, rule, who)

    def reject(self, *, who: str = "") -> str:
        return self._reject(who)


class Channel(Protocol):
    """A place where a person is asked. Its `name` is unique within a broker.

    One that can show a single question at a time, like a terminal, has a true attribute `serial`: it receives the next
    question, of any session, once the one before is withdrawn. One that shows a few has a number `room` instead. The
    clock of a question that waits for room does not run."""

    @property
    def name(self) -> str: ...

    async def show(self, question: Question) -> None:
        """Show a question. Returns as soon as it can be seen, not when it is answered: the clock starts here.
        Raising, or not returning in time, means that it is not shown here. May be called again for the same
        question."""

    async def withdraw(self, id: str, resolution: Resolution) -> None:
        """A question has ended, in any channel. Also called for questions that this channel never showed."""


@runtime_checkable
class Queues(Protocol):
    """A channel that also lists questions that wait behind the current one. These can be answered early."""

    async def queued(self, question: Question, position: int) -> None: ...


@runtime_checkable
class Excerpts(Protocol):
    """A channel that may show only a part of a long call. A yes through it counts only if it showed all."""

    def shows_whole(self, held: Held) -> bool: ...


@runtime_checkable
class Offers(Protocol):
    """A channel that can show an offer."""

    async def offer(self, offering: Offering) -> None: ...
