"""Delivers questions and offers to the channels and their answers back, in order and with timeouts.

A channel that raises or hangs blocks nobody but itself. An offer never switches anything by itself: a mode changes by a
person's act, which is recorded first."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable, Iterable
from typing import Protocol

from assent.approval.accounts import Moment, words
from assent.approval.channels import Channel, Excerpts, Offering, Offers, Question, Queues, attributed
from assent.approval.commands import Command, Partial, Queue, Receipt, Session, Show, Withdraw, session_of
from assent.approval.escalation import MODES, DenialTracker, Offer, Tally, count_denials
from assent.approval.machine import Machine
from assent.approval.patience import Tasks, given, within
from assent.contract.approval import Answer, Ending, Held, Resolution, Said

NOT_OPEN = "this offer is not open any more; nothing was changed"
LOG = logging.getLogger("assent.channels")
Note = Callable[[Moment], Awaitable[None]]
Changes = Callable[[str, str, str], object]  # session, mode or rule, who; may be a coroutine function, may raise


class Desk(Protocol):
    wall: Callable[[], float]

    def now(self) -> float: ...
    def do(self, commands: list[Command]) -> None: ...
    def dismiss(self, id: str, channel: str = "") -> None: ...
    async def answer(self, id: str, digest: str, answer: Answer) -> Receipt: ...


class Deliveries:
    """The open channels of one broker, and the deliveries to them. `own`: they are the author's, whose answers may name
    their channel."""

    def __init__(self, desk: Desk, machine: Machine, tasks: Tasks, seconds: float, *, own: bool = False) -> None:
        self._desk = desk
        self._machine = machine
        self._tasks = tasks
        self._seconds = seconds
        self._own = own
        self._channels: dict[str, Channel] = {}

    def channels(self) -> tuple[Channel, ...]:
        return tuple(self._channels.values())

    def attach(self, channel: Channel) -> list[Command]:
        self._channels[channel.name] = channel
        return self._machine.attached(channel.name, self._desk.now(), room=_room(channel))

    def detach(self, channel: Channel | str) -> list[Command]:
        """Close a channel, by itself or by name. A replaced one is closed already."""
        name = channel if isinstance(channel, str) else channel.name
        if name not in self._channels or not (isinstance(channel, str) or self._is_open(channel)):
            return []
        del self._channels[name]
        return self._machine.detached(name, self._desk.now())

    def clear(self) -> None:
        self._channels.clear()

    def show(self, command: Show) -> None:
        channel, held = self._channels.get(command.channel), command.held
        if channel is None:
            return

        async def deliver() -> None:
            seen, problem = False, ""
            try:
                if self._waits(channel, held):
                    await within(self._seconds, channel.show(self._question(channel, held, command.deadline)))
                    seen = True
            except Exception as error:
                problem = words(error)
                LOG.warning("the channel `%s` could not show a question: %s", channel.name, problem, exc_info=error)
            finally:
                if self._is_open(channel):
                    now, of = self._desk.now(), (held.id, channel.name)
                    shown = self._machine.shown(*of, now) if seen else self._machine.undeliverable(*of, now, problem)
                    self._desk.do(shown)

        self._tasks.queue(_line(channel, held), deliver)

    def queue(self, command: Queue) -> None:
        channel, held = self._channels.get(command.channel), command.held
        if channel is None or not isinstance(channel, Queues):
            return
        queued = channel.queued

        async def deliver() -> None:
            if self._waits(channel, held):
                await within(self._seconds, queued(self._question(channel, held, None), command.position))

        self._tasks.queue(_line(channel, held), deliver)

    def withdraw(self, command: Withdraw, held: Held, concluded: asyncio.Future[Resolution]) -> None:
        """Remove a question from a channel once its final ending is known."""
        channel = self._channels.get(command.channel)
        if channel is None:
            return

        async def deliver() -> None:
            await within(self._seconds, channel.withdraw(command.id, await asyncio.shield(concluded)))

        self._tasks.queue(_line(channel, held), deliver)

    def _waits(self, channel: Channel, held: Held) -> bool:
        return self._is_open(channel) and self._machine.state(held.id) is not None

    def _is_open(self, channel: Channel) -> bool:
        return self._channels.get(channel.name) is channel

    def _question(self, channel: Channel, held: Held, deadline: float | None) -> Question:
        desk, machine, own = self._desk, self._machine, self._own
        left = held.timeout if deadline is None else deadline - desk.now()

        async def answer(given: Answer) -> Receipt:
            if given.said is Said.ALLOW and not _whole(channel, held):
                return Partial(held.id, possible=held.preview.whole)
            # Only the author's own channels may name another channel than that of the answer.
            given = given if own and given.channel else attributed(given, given.who, channel.name)
            return await desk.answer(held.id, held.digest, given)

        return Question(
            held,
            desk.wall() + left,
            max(0, len(machine.waiting(session_of(held))) - 1),
            answer=answer,
            dismiss=lambda: desk.dismiss(held.id, channel.name),
            nobody=lambda detail: desk.do(machine.unseen(held.id, desk.now(), detail)),
            fail=lambda detail: desk.do(machine.fault(held.id, desk.now(), detail)),
            gone=lambda: desk.do(machine.undeliverable(held.id, channel.name, desk.now())),
        )


def _whole(channel: Channel, held: Held) -> bool:
    """Whether a channel delivered all of a call.

    INVARIANT: a call not shown whole in a channel is not allowed through it."""
    return channel.shows_whole(held) if isinstance(channel, Excerpts) else True


def _room(channel: Channel) -> int:
    """How many questions a channel shows at a time; 0 if it shows all."""
    return 1 if _serial(channel) else int(getattr(channel, "room", 0))


def _serial(channel: Channel) -> bool:
    return bool(getattr(channel, "serial", False))


def _line(channel: Channel, held: Held) -> tuple[str, ...]:
    """The queue key: deliveries are in order for a serial channel, or for each session of another."""
    return (channel.name,) if _serial(channel) else (channel.name, *session_of(held))


class OfferDesk:
    """The open offers, one for each session. A newer one replaces an older."""

    def __init__(
        self,
        note: Note,
        tasks: Tasks,
        patience: float,
        change_mode: Changes | None,
        deny_rule: Changes | None,
        tally: Tally | None = None,
    ) -> None:
        self._note = note
        self._tasks = tasks
        self._patience = patience
        self._change_mode = change_mode
        self._deny_rule = deny_rule
        self._tally = tally or Tally()
        self.accepted: Callable[[Session], Awaitable[None]] | None = None
        self.closed: Callable[[Offer], None] | None = None  # receives an offer that was accepted or rejected

    def count(self, held: Held, resolution: Resolution) -> Offer | None:
        """Count the ending of a question. Returns the offer that it makes due."""
        answer, session = resolution.answer, session_of(held)
        if answer is None or resolution.ending is Ending.SETTLED:
            return None
        if answer.said is Said.ALLOW:
            self._tally.change(session, DenialTracker.approved, known=True)
            return None
        found = self._tally.change(session, count_denials)
        if found is None or not found[0] or (self._change_mode is None and self._deny_rule is None):
            return None
        rules = held.suggestions[0].rules if held.suggestions and self._deny_rule is not None else ()
        modes = () if self._change_mode is None else MODES
        offer = Offer(str(uuid.uuid4()), session[1], *found[1:], runtime=session[0], modes=modes, rules=rules)
        self._tally.keep(offer)
        return offer

    def deliver(self, offer: Offer, channels: Iterable[Channel], seconds: float) -> None:
        for channel in channels:
            if isinstance(channel, Offers):
                self._tasks.start(within(seconds, channel.offer(self._offering(offer, channel.name))))

    def _offering(self, offer: Offer, channel: str) -> Offering:
        async def accept(mode: str, rule: str, who: str) -> str:
            return await self.accept(offer.id, mode=mode, rule=rule, who=who, channel=channel)

        return Offering(offer, accept=accept, reject=lambda who: self.reject(offer.id, who=who, channel=channel))

    async def accept(self, id: str, *, mode: str = "", rule: str = "", who: str = "", channel: str = "") -> str:
        """Returns words for the person."""
        offer, change = self._find(id), self._change_mode if mode else self._deny_rule
        if offer is None:
            return NOT_OPEN
        if bool(mode) == bool(rule) or (mode and mode not in offer.modes) or change is None:
            return "choose one of the offered modes, or a rule; nothing was changed"
        if not self._tally.drop(offer):  # two people cannot both take it
            return NOT_OPEN
        try:
            await self._note(
                Moment("mode" if mode else "rule", offer=offer, chosen=mode or rule, who=who, channel=channel)
            )
            await given(self._patience, change(offer.session, mode or rule, who))
        except Exception as error:
            self._tally.keep(offer)
            return f"nothing was changed: {error}"
        self._close(offer, DenialTracker.accepted)
        if self.accepted is not None:
            await self.accepted((offer.runtime, offer.session))
        return f"the mode of this session is `{mode}` now" if mode else f"`{rule}` is denied from now on"

    def reject(self, id: str, *, who: str = "", channel: str = "") -> str:
        """Returns words for the person."""
        offer = self._find(id)
        if offer is None or not self._tally.drop(offer):
            return NOT_OPEN
        self._close(offer, DenialTracker.rejected)
        self._tasks.start(within(self._patience, self._note(Moment("rejected", offer=offer, who=who, channel=channel))))
        return "nothing was changed"

    def open(self) -> tuple[Offer, ...]:
        return self._tally.offers()

    def forget(self, session: Session) -> None:
        self._tally.forget(session)

    def _close(self, offer: Offer, count: Callable[[DenialTracker], None]) -> None:
        self._tally.change((offer.runtime, offer.session), count, known=True)
        if self.closed is not None:
            self.closed(offer)

    def _find(self, id: str) -> Offer | None:
        return next((each for each in self._tally.offers() if each.id == id), None)
