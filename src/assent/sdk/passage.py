"""How the calls of one framework pass a gate: their arguments read, judged, and held to be those that run.

Knows no framework. Decides nothing: that is the work of the session."""

from __future__ import annotations

from collections.abc import Mapping

from assent.adapters import payload
from assent.contract.call import Call
from assent.contract.errors import PayloadError
from assent.contract.review import Verdict
from assent.embedded import DAY, fault
from assent.guard import Approval, Session
from assent.guarded import CHANGED, plain
from assent.sdk.paused import Said

Given = Mapping[str, object] | str | bytes | None  # arguments, or their JSON text


class Passage:
    """The calls of one framework in one session. `seconds` is how long the question of a paused run can be answered."""

    def __init__(self, session: Session, runtime: str, *, seconds: float = DAY) -> None:
        self.session = session
        self.runtime = runtime
        self._seconds = seconds

    def call(self, tool: str, given: Given, *, cwd: str = "", description: str = "") -> Call:
        """The call as the gate sees it. Raises PayloadError where the arguments are no object, or can be read in two
        ways."""
        return self.session.call(tool, arguments(given), cwd=cwd, description=description, runtime=self.runtime)

    async def guard(self, tool: str, given: Given, *, cwd: str = "", description: str = "") -> Verdict:
        """Whether a call may run; a person is asked and waited for. Raises nothing but CancelledError."""
        try:
            call = self.call(tool, given, cwd=cwd, description=description)
        except Exception as error:  # what cannot be read does not run
            return fault(error)
        return _same(await self.session.guard(call), call, given)

    def guard_sync(self, tool: str, given: Given, *, cwd: str = "", description: str = "") -> Verdict:
        """The same for callers without a loop."""
        try:
            call = self.call(tool, given, cwd=cwd, description=description)
        except Exception as error:  # as above
            return fault(error)
        return _same(self.session.guard_sync(call), call, given)

    # Runs that pause

    def hold(self, tool: str, given: Given, *, cwd: str = "", description: str = "") -> Approval:
        """The verdict on a call, or the question for which the run has to pause. Never raises."""
        try:
            call = self.call(tool, given, cwd=cwd, description=description)
        except Exception as error:  # as above
            return Approval("", verdict=fault(error))
        return self.session.request_approval(call, seconds=self._seconds)

    def release(self, answer: object, tool: str, given: Given, *, cwd: str = "") -> Verdict:
        """The verdict on a call by the answer with which its run goes on. Never raises; an answer to anything else, a
        second use and other arguments deny."""
        try:
            said = Said.read(answer)
            call = self.call(tool, given, cwd=cwd)
        except Exception as error:  # as above
            return fault(error)
        return self.session.resolve_approval(
            said.id, said.placed(call), allow=said.allow, who=said.who, message=said.message
        )


def arguments(given: Given) -> dict[str, object]:
    """The arguments of a call as data of our own. Raises PayloadError where they are none."""
    if given is None:
        return {}
    if isinstance(given, str | bytes):
        return payload.read(given) if given.strip() else {}
    if not isinstance(given, Mapping):
        raise PayloadError("the arguments of the call are no object")
    found = plain(dict(given))
    assert isinstance(found, dict)
    return found


def told(verdict: Verdict) -> str:
    """What the model reads in place of a result."""
    return verdict.message or "This call was not run."


def _same(verdict: Verdict, call: Call, given: Given) -> Verdict:
    # INVARIANT: what runs is what was judged; arguments can change while a person is asked.
    if verdict.allowed is True and isinstance(given, Mapping) and arguments(given) != call.input:
        return Verdict(False, verdict.decision, verdict.id, message=CHANGED)
    return verdict
