"""Guards the calls of one framework: reads their arguments, asks the session, and checks that they did not change.

Also the JSON that a paused run stores: the question, and the answer that resumes it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from assent.agents import payload
from assent.api.embedded import DAY, fault, unchanged
from assent.api.gates import Approval, Session
from assent.api.values import read_arguments
from assent.contract import Call, Outcome, PayloadError
from assent.contract.approval import Verdict

Given = Mapping[str, object] | str | bytes | None  # arguments, or their JSON text
Sessions = Session | Callable[[], Session]  # a session, or a function that returns that of the run that asks
KEY = "assent"  # the key of a question's id, in questions and answers
CALL = "call"  # and the framework's own id of the call, if an adapter needs it


class ToolGuard:
    """The calls of one framework. `session` is the one session of all of them, or a function that returns that of the
    run that asks, such as the `get` of a ContextVar in a program with many users. `seconds` is the time to answer the
    question of a paused run. `plans`: the agent only plans."""

    def __init__(self, session: Sessions, runtime: str, *, seconds: float = DAY, plans: bool = False) -> None:
        self._session = session
        self.runtime = runtime
        self._seconds = seconds
        self._plans = plans

    async def guard(self, tool: str, given: Given, **more: str) -> Verdict:
        """Whether a call may run; a person is asked and waited for. Raises nothing but CancelledError. `more` is as for
        `Session.call`."""
        try:
            session, call = self._read(tool, given, more)
            return unchanged(await session.guard(call), lambda: arguments(given), call.input)
        except Exception as error:  # what cannot be read does not run
            return fault(error)

    def guard_sync(self, tool: str, given: Given, **more: str) -> Verdict:
        """The same for callers without a loop."""
        try:
            session, call = self._read(tool, given, more)
            return unchanged(session.guard_sync(call), lambda: arguments(given), call.input)
        except Exception as error:  # as above
            return fault(error)

    def denies(self, tool: str, given: Given, **more: str) -> bool:
        """Whether the current rules deny a call, under another name of its tool. Never raises."""
        return self._outcome(tool, given, more) is Outcome.DENY

    # Runs that pause

    def asks(self, tool: str, given: Given, **more: str) -> bool:
        """Whether a call would have to wait for an answer, by the current rules and grants. Never raises."""
        return self._outcome(tool, given, more) is Outcome.ASK

    def hold(self, tool: str, given: Given, **more: str) -> Approval:
        """The verdict on a call, or the question for which the run has to pause. Never raises."""
        try:
            session, call = self._read(tool, given, more)
            return session.request_approval(call, seconds=self._seconds)
        except Exception as error:  # as above
            return Approval("", verdict=fault(error))

    def release(self, answer: object, tool: str, given: Given, **more: str) -> Verdict:
        """The verdict on a call by the answer that resumes its run. Never raises; an answer to anything else, a second
        use and other arguments deny."""
        try:
            said = GivenAnswer.read(answer)
            session, call = self._read(tool, given, more)
            call = call.but(session=said.session, roots=(), home="")  # the session that asked may be another process's
            return session.resolve_approval(said.id, call, allow=said.allow, who=said.who, message=said.message)
        except Exception as error:  # as above
            return fault(error)

    def _outcome(self, tool: str, given: Given, more: Mapping[str, str]) -> Outcome:
        try:
            session, call = self._read(tool, given, more)
            return session.decide(call).outcome
        except Exception:  # what cannot be read does not run
            return Outcome.DENY

    def _read(self, tool: str, given: Given, more: Mapping[str, str]) -> tuple[Session, Call]:
        """Raises PayloadError if the call can be read in two ways, or in none."""
        found = self._session if isinstance(self._session, Session) else self._session()
        session, input = found.planning() if self._plans else found, arguments(given)
        more = {"runtime": self.runtime, **more}
        calls = [session.call(tool, input, **{**more, "cwd": each}) for each in _folders(session, more)]
        # INVARIANT: if the folder of a tool is unknown, the call is judged in each possible one.
        return session, calls[0] if len(calls) == 1 else max(calls, key=lambda call: session.decide(call).outcome)


def _folders(session: Session, more: Mapping[str, str]) -> list[str]:
    """The folder of a call, as the author declared it; otherwise both possible ones, the project's and the
    program's."""
    said = more.get("cwd") or session.cwd
    return [said] if said else list(dict.fromkeys((session.project, os.getcwd())))


def arguments(given: Given) -> dict[str, object]:
    """Raises PayloadError if there are no arguments."""
    if given is None:
        return {}
    if isinstance(given, str | bytes):
        return payload.read(given) if given.strip() else {}
    if not isinstance(given, Mapping):
        raise PayloadError("the arguments of the call are no object")
    return read_arguments(given)


def denial_text(verdict: Verdict) -> str:
    """What the model reads instead of a result."""
    return verdict.message or "This call was not run."


def question(approval: Approval) -> dict[str, object]:
    """The question of a call that waits, as JSON. Its texts are the agent's: escape them to show them."""
    held = approval.held
    if held is None:
        raise PayloadError("the call waits for no answer")
    return {
        KEY: approval.id,
        "session": held.call.session,
        "tool": held.call.tool,
        "input": dict(held.call.input),
        "reason": held.decision.reason,
        "risk": held.decision.risk,
        "effects": list(held.effects),
        "consequences": [each.text for each in held.consequences],
        "warnings": list(held.warnings),
        "preview": held.preview.text,
    }


def answer(asked: Mapping[str, object], *, allow: bool, who: str, message: str = "") -> dict[str, object]:
    """The answer to a question, as JSON. `who` is named in the trail; without a name nothing is allowed."""
    about = {key: asked[key] for key in (KEY, "session", CALL) if key in asked}
    return {**about, "allow": allow is True, "who": who, "message": message}


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """An answer as it came back, from wherever the paused run was stored."""

    id: str
    session: str
    who: str
    message: str
    allow: bool

    @classmethod
    def read(cls, given: object) -> GivenAnswer:
        """Raises PayloadError if this is no answer of ours."""
        if not isinstance(given, Mapping):
            raise PayloadError("what came back is no answer to a question of the gate; make it with `answer`")
        texts = [given.get(key, "") for key in (KEY, "session", "who", "message")]
        if not all(isinstance(each, str) for each in texts) or not texts[0] or not texts[1]:
            raise PayloadError("the answer names no question of the gate; make it with `answer`")
        id, session, who, message = map(str, texts)
        # INVARIANT: nothing but true is a yes.
        return cls(id, session, who, message, given.get("allow") is True)
