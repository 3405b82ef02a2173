"""The seam between the broker and the places where people are asked. Each place is a module of its own.

A channel shows questions and hands back what people say. It decides nothing, and what it does not deliver is denied."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, runtime_checkable

from assent.contract.review import Answer, Held, Resolution
from assent.review.commands import Receipt
from assent.review.escalation import Offer


class Question:
    """A question as one channel has it: what is asked, and the way back.

    `deadline` is when it runs out, in seconds since the epoch. `behind` is how many wait behind it in its session.
    The ways back are for the loop of the broker; the first that comes through any channel counts."""

    __slots__ = ("held", "deadline", "behind", "_answer", "_dismiss", "_nobody", "_gone")

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
    ) -> None:
        self.held = held
        self.deadline = deadline
        self.behind = behind
        self._answer = answer
        self._dismiss = dismiss
        self._nobody = nobody
        self._gone = gone

    async def answer(self, answer: Answer) -> Receipt:
        """What the person said. Returns once it is known what came of it; show `receipt.words` to the person."""
        return await self._answer(answer)

    def dismiss(self) -> None:
        """Esc, Ctrl-C: the person put the question away, which denies it."""
        self._dismiss()

    def nobody(self, detail: str = "") -> None:
        """Nobody will see the question here or anywhere, which denies it at once."""
        self._nobody(detail)

    def gone(self) -> None:
        """The question cannot be seen in this channel any more, though the channel is still there."""
        self._gone()


class Offering:
    """An offer as one channel has it. Both ways back return words for the person."""

    __slots__ = ("offer", "_accept", "_reject")

    def __init__(
        self, offer: Offer, *, accept: Callable[[str, str, str], Awaitable[str]], reject: Callable[[str], str]
    ) -> None:
        self.offer = offer
        self._accept = accept
        self._reject = reject

    async def accept(self, *, mode: str = "", rule: str = "", who: str = "") -> str:
        """The person chose one of the offer's modes, or a deny rule to save."""
        return await self._accept(mode, rule, who)

    def reject(self, *, who: str = "") -> str:
        """The person wants neither."""
        return self._reject(who)


class Channel(Protocol):
    """A place where a person is asked. Its `name` is unique within a broker.

    One that can show a single question at a time, like a terminal, has a true attribute `serial`: it is given the next
    question, of whichever session, once the one before is withdrawn."""

    @property
    def name(self) -> str: ...

    async def show(self, question: Question) -> None:
        """Show a question. Returns as soon as it can be seen, not when it is answered: the clock starts here.
        Raising, or not returning in time, means that it is not seen here. May be called again for the same question."""

    async def withdraw(self, id: str, resolution: Resolution) -> None:
        """A question has ended, here or elsewhere. Comes also for questions that this channel never showed."""


@runtime_checkable
class Queues(Protocol):
    """A channel that also lists what waits behind the question that is asked. These can be answered early."""

    async def queued(self, question: Question, position: int) -> None: ...


@runtime_checkable
class Excerpts(Protocol):
    """A channel that may show a part only of a long call. A yes that comes through it counts where it showed all."""

    def shows_whole(self, held: Held) -> bool: ...


@runtime_checkable
class Offers(Protocol):
    """A channel that can put an offer to a person."""

    async def offer(self, offering: Offering) -> None: ...
