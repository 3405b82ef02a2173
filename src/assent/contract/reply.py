"""What a runtime is told about a call. Says it in no runtime's own form: that is the work of the adapters."""

from __future__ import annotations

from assent.contract.decision import Outcome
from assent.contract.value import Value

# Said where nobody gave a reason: several runtimes run a call whose denial has none.
UNSAID = {
    Outcome.ALLOW: "Assent lets this call run",
    Outcome.ASK: "Assent asks about this call",
    Outcome.DENY: "Assent does not let this call run",
}


class Reply(Value):
    """The answer to one event of a runtime.

    `reason` is for the person, `message` for the agent; each stands in for the other where one is empty. `stop` ends
    the agent's turn as well (with a denial only). `context` is told to the agent beside the answer. `fault` marks a
    denial that was not decided: something broke, and the runtime's own form of block is used. `through` is the
    program that makes a runtime ask where it has no ask of its own (`""`: there is none)."""

    __slots__ = ("outcome", "reason", "message", "stop", "context", "fault", "through")

    def __init__(
        self,
        outcome: Outcome,
        reason: str = "",
        *,
        message: str = "",
        stop: bool = False,
        context: str = "",
        fault: bool = False,
        through: str = "",
    ) -> None:
        # INVARIANT: what broke is a denial.
        self.outcome = Outcome.DENY if fault else outcome
        self.reason = reason
        self.message = message
        self.stop = stop
        self.context = context
        self.fault = fault
        self.through = through

    @property
    def for_person(self) -> str:
        """Never empty."""
        return self.reason.strip() or self.message.strip() or UNSAID[self.outcome]

    @property
    def for_agent(self) -> str:
        """Never empty."""
        return self.message.strip() or self.reason.strip() or UNSAID[self.outcome]


def fault(reason: str) -> Reply:
    """The answer where Assent itself failed."""
    return Reply(Outcome.DENY, reason, fault=True)
