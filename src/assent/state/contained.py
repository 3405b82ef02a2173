"""The contained runs of a session: the ticket of each call, and whether the session has them at all."""

from __future__ import annotations

from assent.contract import StoreError, Value, dumps
from assent.state.files import locked, replace_text, stored
from assent.state.sessions import FOLDER, path_of

LOCK = f"{FOLDER}/contained.lock"
MOST = 64  # calls of one session; the oldest are forgotten
_LARGEST = 256 * 1024


class ContainedRun(Value):
    """A call with a contained run: `identity` names it, `ticket` its run, `record` the last decision on it, `call` is
    the program's id of it (`""`: it has none), `profile` says what was blocked, `told` whether its end was
    reported. `noted` is its record in the ledger, until its changes are known."""

    __slots__ = ("identity", "ticket", "record", "call", "profile", "told", "noted")

    def __init__(
        self,
        identity: str,
        ticket: str,
        record: str,
        call: str = "",
        profile: str = "",
        told: bool = False,
        noted: str = "",
    ) -> None:
        self.identity = identity
        self.ticket = ticket
        self.record = record
        self.call = call
        self.profile = profile
        self.told = told
        self.noted = noted

    def after(self) -> ContainedRun:
        """The same run, after its end was reported."""
        return self.asked(self.record)

    def asked(self, record: str) -> ContainedRun:
        """The same run, after a person was asked."""
        return ContainedRun(self.identity, self.ticket, record, self.call, self.profile, told=True, noted=self.noted)

    def settled(self) -> ContainedRun:
        """The same run, after the ledger got its changes, or never will."""
        return ContainedRun(self.identity, self.ticket, self.record, self.call, self.profile, told=self.told)


class ContainedRuns(Value):
    """`off` says why nothing of the session runs contained any more (`""`: it does)."""

    __slots__ = ("off", "runs")

    def __init__(self, off: str = "", runs: tuple[ContainedRun, ...] = ()) -> None:
        self.off = off
        self.runs = runs

    def of(self, identity: str) -> ContainedRun | None:
        return next((each for each in self.runs if each.identity == identity), None)

    def by_call(self, call: str) -> ContainedRun | None:
        return next((each for each in self.runs if call and each.call == call), None)

    def by_ticket(self, ticket: str) -> ContainedRun | None:
        return next((each for each in self.runs if each.ticket == ticket), None)


def load(state: str, session: str) -> ContainedRuns:
    """The contained runs of a session. Raises StoreError."""
    path = _path(state, session)
    try:
        found = stored(path, _LARGEST)
        if not found:
            return ContainedRuns()
        return ContainedRuns(str(found["off"]), tuple(_run(*run) for run in found["runs"]))
    except (ValueError, TypeError, KeyError) as error:
        raise StoreError(f"`{path}` cannot be read: {error}; remove it") from None


def _run(identity: str, ticket: str, record: str, call: str, profile: str, told: bool, noted: str = "") -> ContainedRun:
    return ContainedRun(str(identity), str(ticket), str(record), str(call), str(profile), bool(told), str(noted))


def note(state: str, session: str, run: ContainedRun) -> None:
    """Note a call that is about to run contained, or did. Raises StoreError."""
    with locked(state, LOCK):
        known = load(state, session)
        _write(state, session, known.off, (*(each for each in known.runs if each.identity != run.identity), run))


def mark_settled(state: str, session: str, tickets: frozenset[str]) -> None:
    """Mark runs whose changes are known now, or never will be. Raises StoreError."""
    with locked(state, LOCK):
        known = load(state, session)
        runs = tuple(run.settled() if run.ticket in tickets else run for run in known.runs)
        _write(state, session, known.off, runs)


def switch_off(state: str, session: str, why: str) -> bool:
    """Switch contained runs off for the session; return whether they were on. Raises StoreError."""
    with locked(state, LOCK):
        known = load(state, session)
        if not known.off:
            _write(state, session, why, known.runs)
    return not known.off


def _write(state: str, session: str, off: str, runs: tuple[ContainedRun, ...]) -> None:
    listed = [[getattr(each, name) for name in ContainedRun.__slots__] for each in runs[-MOST:]]
    replace_text(_path(state, session), dumps({"off": off, "runs": listed}) + "\n")


def _path(state: str, session: str) -> str:
    return path_of(state, f"contained\0{session}")
