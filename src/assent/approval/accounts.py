"""Stores and records questions, each step with a timeout.

A failure raises, and the call is denied."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass

from assent.approval.commands import Leftover
from assent.approval.denial import deny
from assent.approval.escalation import Offer
from assent.approval.patience import given, within
from assent.approval.store import Store
from assent.contract import StoreError
from assent.contract.approval import Answer, Ending, Held, Resolution
from assent.contract.display import one_line

LONGEST = 300  # characters of an error


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment in the life of a question or an offer, to be recorded.

    `kind` is `shown` (the clock of `held` started in `channel`), `answered` (an `answer` that counts, before it takes
    effect), `ended` (the `resolution`, once for each question), `offer`, `rejected` (an offer), `mode` or `rule`
    (`chosen` by a person from an offer)."""

    kind: str
    _: KW_ONLY
    held: Held | None = None
    answer: Answer | None = None
    resolution: Resolution | None = None
    offer: Offer | None = None
    chosen: str = ""
    who: str = ""
    channel: str = ""


Records = Callable[[Moment], Awaitable[None] | None]


@dataclass(eq=False, slots=True)
class Accounts:
    store: Store
    record: Records | None
    patience: float

    async def held(self, held: Held) -> None:
        await within(self.patience, self.store.hold(held))

    async def shown(self, held: Held, channel: str, deadline: float) -> None:
        await within(self.patience, self.store.shown(held.id, deadline))
        await self.note(Moment("shown", held=held, channel=channel))

    async def approved(self, held: Held, answer: Answer) -> None:
        if not await within(self.patience, self.store.answered(held.id, answer)):
            raise StoreError("the store has no such question, or an answer to it")
        await self.note(_answered(held, answer))

    async def used(self, held: Held) -> None:
        """Use up an approval. Raises if it was used before."""
        if not await within(self.patience, self.store.use(held.id)):
            raise StoreError("the approval was used before")

    async def ended(self, held: Held, resolution: Resolution) -> tuple[Resolution, str]:
        """Record the end and remove the question from the store. A call that cannot be recorded does not run: returns
        the final resolution, and the error."""
        answer = resolution.answer
        if resolution.ending is Ending.ANSWERED and not resolution.allowed and answer is not None:
            await self.quietly(_answered(held, answer))
        try:
            await self.note(Moment("ended", held=held, resolution=resolution))
            await within(self.patience, self.store.finish(held.id, resolution))
        except Exception as error:
            problem = words(error)
            if resolution.allowed:
                resolution = deny(held.id, Ending.FAULT, answer=answer, detail=problem, waited=resolution.waited)
                await self.quietly(Moment("ended", held=held, resolution=resolution))
            return resolution, f"the end of the question could not be recorded: {problem}"
        return resolution, ""

    async def corrected(self, held: Held, resolution: Resolution) -> Resolution:
        """The caller was cancelled while its approval was recorded: record that the call does not run after all."""
        if not resolution.allowed:
            return resolution
        final = deny(held.id, Ending.CANCELLED, answer=resolution.answer, waited=resolution.waited)
        await self.quietly(Moment("ended", held=held, resolution=final))
        return final

    async def leftovers(self) -> tuple[Leftover, ...]:
        return await within(self.patience, self.store.leftovers())

    async def note(self, moment: Moment) -> None:
        if self.record is not None:
            await given(self.patience, self.record(moment))

    async def quietly(self, moment: Moment) -> None:
        """Record without raising: the call is denied already."""
        with suppress(Exception):
            await self.note(moment)


def words(error: BaseException) -> str:
    return one_line(f"{type(error).__name__}: {error}", LONGEST)


def _answered(held: Held, answer: Answer) -> Moment:
    return Moment("answered", held=held, answer=answer, who=answer.who, channel=answer.channel)
