"""One state folder: grants, the modes of sessions, pauses and the trail; and its classifiers."""

from __future__ import annotations

import time
from collections.abc import Callable
from os import getuid
from pwd import getpwuid

from assent.approval.grants import GrantBook
from assent.contract import Record, StoreError
from assent.contract.approval import Grant
from assent.engine import journal
from assent.engine.classify import Classifiers
from assent.state import sessions
from assent.trail.append import Trail


def getuser() -> str:
    """The user's name by the system, not by the environment, which an agent program can set."""
    try:
        return getpwuid(getuid()).pw_name
    except KeyError:
        return f"uid {getuid()}"


class Memory:
    """One state folder. `scope` separates the sessions of programs that share it."""

    def __init__(
        self, state: str, *, clock: Callable[[], float] = time.time, scope: str = "", trail: Trail | None = None
    ) -> None:
        self.state = state
        self.scope = scope
        self._started = (clock(), time.monotonic())
        self.who = getuser()
        self._grants: GrantBook | None = None
        self._classifiers: Classifiers | None = None
        self.trail = trail if trail is not None else Trail(f"{state}/audit")
        self.clock = clock

    @property
    def grants(self) -> GrantBook:
        """The saved grants, loaded on first use."""
        if self._grants is None:
            from assent.approval import grants

            self._grants = grants.GrantBook(self.state)
        return self._grants

    def known_as(self, session: str) -> str:
        """The name under which the grants and the mode of a session are saved."""
        return f"{self.scope}/{session}" if self.scope and session else session

    def no_earlier(self) -> float:
        """The time by which grants expire: setting the clock back while this runs extends none."""
        wall, steady = self._started
        return max(self.clock(), wall + time.monotonic() - steady)

    @property
    def classifiers(self) -> Classifiers:
        """The models that may be asked, loaded on first use."""
        if self._classifiers is None:
            from assent.engine import classify

            self._classifiers = classify.Classifiers(self.state)
        return self._classifiers

    def live_grants(self, session: str, project: str) -> tuple[Grant, ...]:
        """The grants that hold now for a session in a project."""
        try:
            return self.grants.live(self.known_as(session), project, self.no_earlier())
        except StoreError:
            return ()  # fewer grants cost a question, never a run

    def close(self) -> None:
        """Close the models and the trail. Raises StoreError if the trail may not be on disk."""
        if self._classifiers is not None:
            self._classifiers.close()
        self.trail.close()

    def record(self, record: Record, *, waits: bool = True) -> str:
        """Append to the trail; return why that failed, `""` if it did not. Raises TrailBusy only without `waits`."""
        try:
            self.trail.append(record, patient=waits)
        except StoreError as error:
            return f"the trail cannot be written: {error}"
        return ""

    def choose_mode(self, session: str, mode: str, *, who: str, channel: str = "") -> None:
        """Set the mode of a session for a person. Raises StoreError if that cannot be recorded."""
        before = sessions.chosen_mode(self.state, self.known_as(session))
        self.trail.append(journal.of_mode(session, mode, time=self.clock(), who=who, channel=channel, before=before))
        sessions.choose_mode(self.state, self.known_as(session), mode)

    def pause(self, seconds: float, *, who: str, channel: str) -> float:
        """Pause the protection of Assent itself for so many seconds, or end a pause with 0; return its end, 0 for none.
        The caller must know that a person wants it.

        INVARIANT: a pause that cannot be recorded does not begin."""
        from assent.state import pause

        now = self.clock()
        until = now + seconds if seconds else 0.0
        code = "pause.begin" if until else "pause.end"
        words = f"the protection of Assent itself is paused for {seconds:.0f} seconds" if until else "a pause was ended"
        more = {"until": until}
        record = Record("event", journal.new_id(), now, code=code, reason=words, who=who, channel=channel, more=more)
        problem = self.record(record)
        if problem and until:
            raise StoreError(f"the pause did not begin: {problem}")
        if until:
            pause.begin(self.state, until, who)
        else:
            pause.finish(self.state)
        return until

    def save_denial(self, session: str, rule: str, *, who: str) -> None:
        """Save a deny rule for a person. Raises PolicyError or StoreError."""
        from assent.policy import parse

        parse.parse_rule(rule, source="an answer")
        self.trail.append(journal.of_denial(session, rule, time=self.clock(), who=who))
        from assent.state import saved

        saved.add(self.state, rule, f"{who or 'somebody'} saved it from an answer")
