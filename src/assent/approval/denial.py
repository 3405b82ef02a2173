"""The resolutions of questions, and the words that an agent reads. The one place that makes a denial."""

from __future__ import annotations

from assent.contract.approval import Answer, Ending, Resolution, Said

WAIT = "continue with work that needs no approval, or ask for it in your reply"

# What happened, and what the agent should do next.
WORDS: dict[Ending, tuple[str, str]] = {
    Ending.ANSWERED: ("a person said no", "do not retry it or reach the same end another way; ask what is wanted"),
    Ending.SETTLED: ("a grant should have settled the call but did not", "make the call again"),
    Ending.EXPIRED: ("the question was shown and nobody answered it in time", WAIT),
    Ending.UNSEEN: ("nobody could see the question", WAIT),
    Ending.DISMISSED: ("the question was dismissed without an answer", "do not retry it unless a person asks for it"),
    Ending.UNANSWERED: ("the program's own dialog did not report the answer", WAIT),
    Ending.LOST: ("the question was lost before an answer came", "make the call again if needed"),
    Ending.CANCELLED: ("the call was withdrawn before an answer came", "make the call again if it is still needed"),
    Ending.CHANGED: (
        "the call is no longer what was approved",
        "make the call again, so that it is shown again",
    ),
    Ending.OVERRULED: ("it was approved, but the rules deny it now", "do not retry it"),
    Ending.FAULT: ("an internal error while asking", "tell the person to run `assent doctor`"),
    Ending.CLOSED: ("the gate was shut down before an answer came", "make the call again once it is back"),
}
STOPPED = "a person said no and wants you to stop: make no other call, say where you are, and wait"


def deny(id: str, ending: Ending, *, answer: Answer | None = None, detail: str = "", waited: float = 0.0) -> Resolution:
    """How a question ends when the call may not run. `detail` says more about what happened."""
    return Resolution(id, ending, answer=answer, reason=_words(ending, answer, detail), waited=waited)


def approve(id: str, answer: Answer, *, waited: float = 0.0) -> Resolution:
    reason = f"allowed by {answer.who}" if answer.who else "allowed by a person"
    return Resolution(id, Ending.ANSWERED, allowed=True, answer=answer, reason=reason, waited=waited)


def _words(ending: Ending, answer: Answer | None, detail: str) -> str:
    happened, advice = WORDS[ending]
    if ending in (Ending.ANSWERED, Ending.SETTLED) and answer is not None and answer.said is Said.STOP:
        return f"{STOPPED}: {answer.message}" if answer.message else STOPPED
    if ending is Ending.ANSWERED and answer is not None and answer.message:
        return f"{happened}: {answer.message}"
    return f"{happened}: {detail}; {advice}" if detail else f"{happened}; {advice}"
