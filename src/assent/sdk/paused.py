"""What a paused run carries: the question, as plain data to be kept and shown, and the answer that it goes on with.

Keeps nothing: the gate knows which questions are open, and each is answered once."""

from __future__ import annotations

from collections.abc import Mapping

from assent.api.gates import Approval
from assent.contract import Call, PayloadError, Value

KEY = "assent"  # under which the id of a question stands, in questions and answers
CALL = "call"  # and the framework's own id of the call, where an adapter needs it


def question(approval: Approval) -> dict[str, object]:
    """The question of a call that waits, as JSON. Texts of it are the agent's: escape them where they are shown."""
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
        "warnings": list(held.warnings),
        "preview": held.preview.text,
    }


def answer(asked: Mapping[str, object], *, allow: bool, who: str, message: str = "") -> dict[str, object]:
    """The answer to a question, as JSON. `who` is named in the trail; without a name nothing is allowed."""
    about = {key: asked[key] for key in (KEY, "session", CALL) if key in asked}
    return {**about, "allow": allow is True, "who": who, "message": message}


class Said(Value):
    """An answer as it came back, from wherever the paused run was kept."""

    __slots__ = ("id", "session", "allow", "who", "message")

    def __init__(self, id: str, session: str, *, allow: bool, who: str, message: str) -> None:
        self.id = id
        self.session = session
        self.allow = allow
        self.who = who
        self.message = message

    @classmethod
    def read(cls, given: object) -> Said:
        """Raises PayloadError where this is no answer of ours."""
        if not isinstance(given, Mapping):
            raise PayloadError("what came back is no answer to a question of the gate; make it with `answer`")
        texts = [given.get(key, "") for key in (KEY, "session", "who", "message")]
        if not all(isinstance(each, str) for each in texts) or not texts[0] or not texts[1]:
            raise PayloadError("the answer names no question of the gate; make it with `answer`")
        id, session, who, message = map(str, texts)
        # INVARIANT: nothing but true is a yes.
        return cls(id, session, allow=given.get("allow") is True, who=who, message=message)

    def placed(self, call: Call) -> Call:
        """The call in the session that asked, which may have been that of another process."""
        return call.but(session=self.session, roots=(), home="")
