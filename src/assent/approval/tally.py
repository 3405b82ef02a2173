"""A person's noes counted across the processes of a session, with the offer that is open. Offers nothing by itself.

Binds the counting of `review` to the files of `facts`. A count that cannot be kept goes on in this process alone: it
costs an offer, never an answer."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from typing import Any, TypeVar

from assent.approval.escalation import MODES, DenialTracker, MemoryTally, Offer
from assent.contract import StoreError
from assent.state import denials

OPEN = 86400.0  # seconds that an offer waits for an answer after the last denial

T = TypeVar("T")
Session = tuple[str, str]  # runtime, session


class SavedTally:
    """The tally of one state folder. Calls without a session have nothing in common: they are counted in memory."""

    def __init__(self, state: str) -> None:
        self._state = state
        self._here = MemoryTally()

    def change(self, session: Session, do: Callable[[DenialTracker], T], *, known: bool = False) -> T | None:
        """Change the count of a session; with `known` only where there is one."""
        found: list[T] = []

        def changed(row: dict[str, Any] | None) -> dict[str, Any] | None:
            tracker = _tracker(row)
            if tracker is None and known:
                return None
            tracker = tracker or DenialTracker()
            found.append(do(tracker))
            return {**(row or {}), "counts": list(tracker.counts)}

        if not session[1]:
            return self._here.change(session, do, known=known)
        try:
            denials.change(self._state, *session, changed)
        except StoreError:
            return found[0] if found else self._here.change(session, do, known=known)
        return found[0] if found else None

    def keep(self, offer: Offer) -> None:
        """An offer is open now."""
        kept = {name: getattr(offer, name) for name in ("id", "row", "total")}
        kept |= {"modes": list(offer.modes), "rules": list(offer.rules)}
        if not self._set((offer.runtime, offer.session), lambda row: {**(row or {}), "offer": kept}):
            self._here.keep(offer)

    def drop(self, offer: Offer) -> bool:
        """An offer is not open any more. False where it was not: somebody else took it up, or turned it down."""
        session = (offer.runtime, offer.session)
        if self._here.drop(offer):
            return True
        taken: list[bool] = []

        def dropped(row: dict[str, Any] | None) -> dict[str, Any] | None:
            known = _offer(row)
            taken.append(known is not None and known.id == offer.id)
            return {**(row or {}), "offer": None} if taken[0] else None

        return self._set(session, dropped) and taken == [True]

    def offers(self) -> tuple[Offer, ...]:
        """The offers that are open, the newest last."""
        since = time.time() - OPEN
        saved = (offer for row in denials.rows(self._state, since=since) if (offer := _offer(row)) is not None)
        return (*self._here.offers(), *saved)

    def forget(self, session: Session) -> None:
        self._here.forget(session)
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
    """A person said yes in a program's own dialog."""
    SavedTally(state).change((runtime, session), DenialTracker.approved, known=True)


def refused(state: str, runtime: str, session: str, times: int) -> Offer | None:
    """A person said no so many times in a program's own dialog. Gives the offer that is due by it, open now."""
    tally = SavedTally(state)

    def denied(tracker: DenialTracker) -> tuple[bool, int, int]:
        due = [tracker.denied() for _ in range(times)]
        return any(due), tracker.row, tracker.total

    found = tally.change((runtime, session), denied)
    if found is None or not found[0]:
        return None
    offer = Offer(str(uuid.uuid4()), session, *found[1:], runtime=runtime, modes=MODES)
    tally.keep(offer)
    return offer


def open_offer(state: str, runtime: str, session: str) -> Offer | None:
    """The offer that is open in a session."""
    return _offer(denials.find(state, runtime, session)) if session else None


def _tracker(row: dict[str, Any] | None) -> DenialTracker | None:
    """The counts of a row. Anything but whole numbers is as good as none: then it is counted from the start."""
    counts = (row or {}).get("counts")
    if not isinstance(counts, list) or not all(type(each) is int and 0 <= each < 1 << 31 for each in counts):
        return None
    try:
        return DenialTracker.of(*counts)
    except TypeError:
        return None


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
