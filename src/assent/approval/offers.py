"""Offers of another mode after many denials: made, delivered, taken up or turned down. Counts in `escalation`.

Never switches anything by itself: a mode changes by a person's act, which is recorded first."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Iterable

from assent.approval.channels import Channel, Offering, Offers
from assent.approval.escalation import MODES, DenialTracker, MemoryTally, Offer, Tally
from assent.approval.moments import Moment
from assent.approval.patience import Tasks, given, within
from assent.approval.questions import Session, session_of
from assent.contract.approval import Ending, Held, Resolution, Said

Note = Callable[[Moment], Awaitable[None]]
Changes = Callable[[str, str, str], object]  # session, mode or rule, who; may be a coroutine function, may raise


class OfferDesk:
    """The open offers, one for each session. A newer one takes the place of an older."""

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
        self._tally = tally or MemoryTally()
        self.accepted: Callable[[Session], Awaitable[None]] | None = None
        self.closed: Callable[[Offer], None] | None = None  # told of an offer that somebody took up or turned down

    def count(self, held: Held, resolution: Resolution) -> Offer | None:
        """Take note of how a question ended. Gives the offer that is due by it."""
        answer, session = resolution.answer, session_of(held)
        if answer is None or resolution.ending is Ending.SETTLED:
            return None
        if answer.said is Said.ALLOW:
            self._tally.change(session, DenialTracker.approved, known=True)
            return None
        found = self._tally.change(session, _denied)
        if found is None or not found[0] or (self._change_mode is None and self._deny_rule is None):
            return None
        rules = held.suggestions[0].rules if held.suggestions and self._deny_rule is not None else ()
        modes = () if self._change_mode is None else MODES
        offer = Offer(str(uuid.uuid4()), session[1], *found[1:], runtime=session[0], modes=modes, rules=rules)
        self._tally.keep(offer)
        return offer

    def deliver(self, offer: Offer, channels: Iterable[Channel], seconds: float) -> None:
        """Put an offer to the person, wherever that is possible."""
        for channel in channels:
            if isinstance(channel, Offers):
                self._tasks.start(within(seconds, channel.offer(self._offering(offer, channel.name))))

    def _offering(self, offer: Offer, channel: str) -> Offering:
        async def accept(mode: str, rule: str, who: str) -> str:
            return await self.accept(offer.id, mode=mode, rule=rule, who=who, channel=channel)

        return Offering(offer, accept=accept, reject=lambda who: self.reject(offer.id, who=who, channel=channel))

    async def accept(self, id: str, *, mode: str = "", rule: str = "", who: str = "", channel: str = "") -> str:
        """A person takes an offer up. Returns words for the person."""
        offer = self._find(id)
        if offer is None:
            return "this offer is not open any more; nothing was changed"
        change = self._change_mode if mode else self._deny_rule
        if bool(mode) == bool(rule) or (mode and mode not in offer.modes) or change is None:
            return "choose one of the offered modes, or a rule; nothing was changed"
        if not self._tally.drop(offer):  # two people cannot both take it
            return "this offer is not open any more; nothing was changed"
        session = (offer.runtime, offer.session)
        try:
            await self._note(
                Moment("mode" if mode else "rule", offer=offer, chosen=mode or rule, who=who, channel=channel)
            )
            await given(self._patience, change(offer.session, mode or rule, who))
        except Exception as error:
            self._tally.keep(offer)
            return f"nothing was changed: {error}"
        self._tally.change(session, DenialTracker.accepted, known=True)
        self._tell_closed(offer)
        if self.accepted is not None:
            await self.accepted(session)
        return f"the mode of this session is `{mode}` now" if mode else f"`{rule}` is denied from now on"

    def reject(self, id: str, *, who: str = "", channel: str = "") -> str:
        """A person turns an offer down. Returns words for the person."""
        offer = self._find(id)
        if offer is None or not self._tally.drop(offer):
            return "this offer is not open any more; nothing was changed"
        self._tally.change((offer.runtime, offer.session), DenialTracker.rejected, known=True)
        self._tell_closed(offer)
        self._tasks.start(within(self._patience, self._note(Moment("rejected", offer=offer, who=who, channel=channel))))
        return "nothing was changed"

    def open(self) -> tuple[Offer, ...]:
        """The offers that wait for an answer."""
        return self._tally.offers()

    def forget(self, session: Session) -> None:
        """The session is over."""
        self._tally.forget(session)

    def _tell_closed(self, offer: Offer) -> None:
        if self.closed is not None:
            self.closed(offer)

    def _find(self, id: str) -> Offer | None:
        return next((each for each in self._tally.offers() if each.id == id), None)


def _denied(tracker: DenialTracker) -> tuple[bool, int, int]:
    """Whether an offer is due by one more denial, and the counts."""
    return tracker.denied(), tracker.row, tracker.total
