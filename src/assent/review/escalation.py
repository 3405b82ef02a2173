"""When a person keeps saying no: counts it per session, and says when to offer another mode. Switches nothing.

Only a person's explicit no counts; what ran out, got lost or was denied by a rule does not. An offer that nobody takes
up is no rejection: it stays open until the next one takes its place, and the next comes as late as this one did."""

from __future__ import annotations

from assent.contract.value import Value

ROW, TOTAL = 3, 20  # denials in a row, denials in the session
PEACE = 2  # rejected offers, after which no other is made
MODES = ("full_auto", "plan")


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
