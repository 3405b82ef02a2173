"""Counts a person's denials per session, across its processes, and says when to offer another mode. Switches nothing.

Only an explicit no counts; a timeout, a lost question or a denial by a rule does not. An offer that nobody accepts is
no rejection: it stays open until the next one replaces it, and the next needs as many denials. A count that cannot be
saved continues in this process alone: it costs an offer, never an answer."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from assent.contract import StoreError, Value
from assent.state import denials

T = TypeVar("T")
Session = tuple[str, str]  # runtime, session
ROW, TOTAL = 3, 20  # denials in a row, denials in the session
PEACE = 2  # rejected offers, after which no other is made
REMEMBERED = 4096  # sessions with a denial
# The effect of an offered mode, and what it opens; the one that opens nothing comes first.
MODE_WORDS = {
    "plan": "it may read and plan; changes are denied until you choose another mode",
    "full_auto": "it runs commands, edits and fetches without asking; only deny and ask rules and the floor apply",
}
MODES = tuple(MODE_WORDS)
RULE_WORDS = "always deny what this rule matches, in every session, until you remove it"
OPEN = 86400.0  # seconds that an offer waits for an answer after the last denial


class Offer(Value):
    """Another mode, or a deny rule, put to the person who said no. `rules` are the ones to choose from.

    `row` and `total` are the denials that led to it, in a row and in the session."""

    __slots__ = ("id", "runtime", "session", "row", "total", "modes", "rules")

    def __init__(
        self,
        id: str,
        session: str,
        row: int,
        total: int,
        *,
        runtime: str = "",
        modes: tuple[str, ...] = MODES,
        rules: tuple[str, ...] = (),
    ) -> None:
        self.id = id
        self.runtime = runtime
        self.session = session
        self.row = row
        self.total = total
        self.modes = modes
        self.rules = rules

    @property
    def words(self) -> str:
        return f"you said no {self.row} times in a row, {self.total} times in this session"


class DenialTracker:
    """The denials of one session. `row` and `total` are the counts, `rejections` the rejected offers."""

    __slots__ = ("row", "total", "rejections", "_next_row", "_next_total")

    def __init__(
        self, row: int = 0, total: int = 0, rejections: int = 0, next_row: int = ROW, next_total: int = TOTAL
    ) -> None:
        self.row = row
        self.total = total
        self.rejections = rejections
        self._next_row = next_row
        self._next_total = next_total

    @property
    def counts(self) -> tuple[int, int, int, int, int]:
        return (self.row, self.total, self.rejections, self._next_row, self._next_total)

    def denied(self) -> bool:
        """A person said no. True: it is time for an offer."""
        self.row += 1
        self.total += 1
        by_row, by_total = self.row >= self._next_row, self.total >= self._next_total
        if by_row:
            self._next_row = self.row + (ROW << self.rejections)
        if by_total:
            self._next_total = self.total + (TOTAL << self.rejections)
        return (by_row or by_total) and self.rejections < PEACE

    def approved(self) -> None:
        """A person said yes: the row is reset, the total stays."""
        self.row = 0
        self._next_row = ROW << self.rejections

    accepted = approved

    def rejected(self) -> None:
        """The next offer needs twice as many denials."""
        self.rejections += 1
        self._next_row = max(self.row + ROW, ROW << self.rejections)
        self._next_total = max(self.total + TOTAL, TOTAL << self.rejections)


class Tally:
    """The trackers and the open offers of all sessions, in memory. Raises nothing."""

    def __init__(self) -> None:
        self._trackers: dict[Session, DenialTracker] = {}
        self._open: dict[Session, Offer] = {}

    def change(self, session: Session, do: Callable[[DenialTracker], T], *, known: bool = False) -> T | None:
        """Update the count of a session, with `known` only if there is one."""
        tracker = self._trackers.pop(session, None)
        if tracker is None and known:
            return None
        tracker = self._trackers[session] = tracker or DenialTracker()
        if len(self._trackers) > REMEMBERED:
            Tally.forget(self, next(iter(self._trackers)))
        return do(tracker)

    def keep(self, offer: Offer) -> None:
        self._open.pop((offer.runtime, offer.session), None)  # the newest comes last
        self._open[offer.runtime, offer.session] = offer

    def drop(self, offer: Offer) -> bool:
        """False if the offer was not open: somebody else accepted or rejected it."""
        session = (offer.runtime, offer.session)
        known = session in self._open and self._open[session].id == offer.id
        if known:
            del self._open[session]
        return known

    def offers(self) -> tuple[Offer, ...]:
        """The newest last."""
        return tuple(self._open.values())

    def forget(self, session: Session) -> None:
        self._trackers.pop(session, None)
        self._open.pop(session, None)


class SavedTally(Tally):
    """The tally of one state folder. Calls without a session have nothing in common: they are counted in memory."""

    def __init__(self, state: str) -> None:
        super().__init__()
        self._state = state

    def change(self, session: Session, do: Callable[[DenialTracker], T], *, known: bool = False) -> T | None:
        found: list[T] = []

        def changed(row: dict[str, Any] | None) -> dict[str, Any] | None:
            tracker = _tracker(row)
            if tracker is None and known:
                return None
            tracker = tracker or DenialTracker()
            found.append(do(tracker))
            return {**(row or {}), "counts": list(tracker.counts)}

        if not session[1]:
            return super().change(session, do, known=known)
        try:
            denials.change(self._state, *session, changed)
        except StoreError:
            return found[0] if found else super().change(session, do, known=known)
        return found[0] if found else None

    def keep(self, offer: Offer) -> None:
        kept = {name: getattr(offer, name) for name in ("id", "row", "total")}
        kept |= {"modes": list(offer.modes), "rules": list(offer.rules)}
        if not self._set((offer.runtime, offer.session), lambda row: {**(row or {}), "offer": kept}):
            super().keep(offer)

    def drop(self, offer: Offer) -> bool:
        if super().drop(offer):
            return True
        taken: list[bool] = []

        def dropped(row: dict[str, Any] | None) -> dict[str, Any] | None:
            known = _offer(row)
            taken.append(known is not None and known.id == offer.id)
            return {**(row or {}), "offer": None} if taken[0] else None

        return self._set((offer.runtime, offer.session), dropped) and taken == [True]

    def offers(self) -> tuple[Offer, ...]:
        rows = denials.rows(self._state, since=time.time() - OPEN)
        return (*super().offers(), *(offer for row in rows if (offer := _offer(row)) is not None))

    def forget(self, session: Session) -> None:
        super().forget(session)
        if session[1]:
            self._set(session, lambda row: None if row is None else {})

    def _set(self, session: Session, do: Callable[[dict[str, Any] | None], dict[str, Any] | None]) -> bool:
        if not session[1]:
            return False
        try:
            denials.change(self._state, *session, do)
        except StoreError:
            return False
        return True


def allowed(state: str, runtime: str, session: str) -> None:
    SavedTally(state).change((runtime, session), DenialTracker.approved, known=True)


def refused(state: str, runtime: str, session: str, times: int) -> Offer | None:
    """Count denials in a program's own dialog. Returns the offer that they make due, now open."""
    tally = SavedTally(state)
    found = tally.change((runtime, session), partial(count_denials, times=times))
    if found is None or not found[0]:
        return None
    offer = Offer(str(uuid.uuid4()), session, *found[1:], runtime=runtime, modes=MODES)
    tally.keep(offer)
    return offer


def count_denials(tracker: DenialTracker, times: int = 1) -> tuple[bool, int, int]:
    """Whether these denials make an offer due, and the counts after them."""
    return sum(tracker.denied() for _ in range(times)) > 0, tracker.row, tracker.total


def open_offer(state: str, runtime: str, session: str) -> Offer | None:
    return _offer(denials.find(state, runtime, session)) if session else None


def _tracker(row: dict[str, Any] | None) -> DenialTracker | None:
    """The counts of a row; None, which counts from the start, if they are anything but five whole numbers."""
    counts = (row or {}).get("counts")
    whole = isinstance(counts, list) and all(type(each) is int and 0 <= each < 1 << 31 for each in counts)
    return DenialTracker(*counts) if isinstance(counts, list) and whole and len(counts) == 5 else None


def _offer(row: dict[str, Any] | None) -> Offer | None:
    kept = (row or {}).get("offer")
    if row is None or not isinstance(kept, dict):
        return None
    try:
        return Offer(
            str(kept["id"]),
            str(row["session"]),
            int(kept["row"]),
            int(kept["total"]),
            runtime=str(row["runtime"]),
            modes=tuple(map(str, kept["modes"])),
            rules=tuple(map(str, kept["rules"])),
        )
    except (KeyError, TypeError, ValueError):
        return None
