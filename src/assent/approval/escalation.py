"""When a person keeps saying no: counts it per session, and says when to offer another mode. Switches nothing.

Only a person's explicit no counts; what ran out, got lost or was denied by a rule does not. An offer that nobody takes
up is no rejection: it stays open until the next one takes its place, and the next comes as late as this one did."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from assent.contract import Value

T = TypeVar("T")
Session = tuple[str, str]  # runtime, session

ROW, TOTAL = 3, 20  # denials in a row, denials in the session
PEACE = 2  # rejected offers, after which no other is made
REMEMBERED = 4096  # sessions with a denial
# What an offered mode does, and what it opens; the one that opens nothing comes first.
MODE_WORDS = {
    "plan": "it may read and plan; what would change anything is denied until you choose another mode",
    "full_auto": "it runs commands, edits and fetches without asking; only deny and ask rules and the floor still hold",
}
MODES = tuple(MODE_WORDS)
RULE_WORDS = "always deny what this rule matches, in every session, until you remove it"


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
    """The denials of one session. `row` and `total` are the counts, `rejections` the offers that were turned down."""

    __slots__ = ("row", "total", "rejections", "_next_row", "_next_total")

    def __init__(self) -> None:
        self.row = 0
        self.total = 0
        self.rejections = 0
        self._next_row = ROW
        self._next_total = TOTAL

    @classmethod
    def of(cls, row: int, total: int, rejections: int, next_row: int, next_total: int) -> DenialTracker:
        """A tracker that goes on from the `counts` of another."""
        found = cls()
        found.row, found.total, found.rejections = row, total, rejections
        found._next_row, found._next_total = next_row, next_total
        return found

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
        """A person said yes: the row ends, the total stays."""
        self.row = 0
        self._next_row = ROW << self.rejections

    def accepted(self) -> None:
        """The offer was taken: the row ends."""
        self.approved()

    def rejected(self) -> None:
        """The offer was turned down: the next needs twice as many."""
        self.rejections += 1
        self._next_row = max(self.row + ROW, ROW << self.rejections)
        self._next_total = max(self.total + TOTAL, TOTAL << self.rejections)


class Tally(Protocol):
    """The trackers and the open offers of all sessions. Raises nothing."""

    def change(self, session: Session, do: Callable[[DenialTracker], T], *, known: bool = False) -> T | None: ...
    def keep(self, offer: Offer) -> None: ...
    def drop(self, offer: Offer) -> bool: ...
    def offers(self) -> tuple[Offer, ...]: ...
    def forget(self, session: Session) -> None: ...


class MemoryTally:
    """A tally of one process."""

    def __init__(self) -> None:
        self._trackers: dict[Session, DenialTracker] = {}
        self._open: dict[Session, Offer] = {}

    def change(self, session: Session, do: Callable[[DenialTracker], T], *, known: bool = False) -> T | None:
        """Change the count of a session; with `known` only where there is one."""
        tracker = self._trackers.pop(session, None)
        if tracker is None and known:
            return None
        tracker = self._trackers[session] = tracker or DenialTracker()
        if len(self._trackers) > REMEMBERED:
            self.forget(next(iter(self._trackers)))
        return do(tracker)

    def keep(self, offer: Offer) -> None:
        """An offer is open now, in the place of the one before."""
        self._open.pop((offer.runtime, offer.session), None)
        self._open[offer.runtime, offer.session] = offer

    def drop(self, offer: Offer) -> bool:
        """An offer is not open any more; whether it was."""
        session = (offer.runtime, offer.session)
        if self._open.get(session) is None or self._open[session].id != offer.id:
            return False
        del self._open[session]
        return True

    def offers(self) -> tuple[Offer, ...]:
        """The offers that are open, the newest last."""
        return tuple(self._open.values())

    def forget(self, session: Session) -> None:
        self._trackers.pop(session, None)
        self._open.pop(session, None)
