"""Entries that leave other records than the rest today: what differs, and what happens instead. Tests nothing.

An entry that moves onto the common path takes its rows out of this table."""

from __future__ import annotations

from dataclasses import dataclass

from tests.gate.expected import (
    SCRIPT_RUNS,
    UNSAFE,
    WAIT,
    Played,
    Record,
    decision,
    ending,
    question,
    yes,
)
from tests.gate.scenes import RESPELLED


@dataclass(frozen=True)
class Difference:
    """One sentence on what differs, and the play of this entry."""

    says: str
    played: Played


def unanswered(id: str = "#1") -> Record:
    """The end of a question that a program asked in its own dialog and says nothing of."""
    reason = "the program did not report the answer in its dialog"
    found = ending("answer.unanswered", reason, id=id)
    return {key: value for key, value in found.items() if key not in ("runtime", "project", "tool")}


def withdrawn(detail: str) -> Record:
    again = "make the call again if it is still needed"
    return ending("answer.cancelled", f"the call was withdrawn before an answer came: {detail}; {again}")


ran_it = yes(reason="the program ran the call")
HEADLESS = decision(
    "deny",
    effects=["run make"],
    layer="headless",
    code="headless.ask",
    reason="nobody can be asked in this run, and it runs something that is not proved read-only",
    risk="medium",
)
NO_PAGE = ending(
    "answer.unseen", f"nobody could see the question: no channel showed it for 1 s; {WAIT}", timed_out=True
)
NOT_TOLD = Played([False], [question(), unanswered()])
LEFT_OPEN = Played([False], [question()])

DIFFERS: dict[tuple[str, str], Difference] = {
    ("ask-yes", "hook-alone"): Difference(
        "the program's own dialog asks; that the program ran the call is the yes, and the reason",
        Played([True], [question(), ran_it]),
    ),
    ("ask-no", "hook-alone"): Difference(
        "a no in the program's dialog is not told to the hook: the question ends unanswered when the session goes on, "
        "and the record names no runtime, no project and no tool",
        NOT_TOLD,
    ),
    ("timeout", "paused"): Difference(
        "the reason does not say how many seconds passed",
        Played(
            [False],
            [
                question(),
                ending(
                    "answer.expired",
                    f"the question was shown and nobody answered it in time; {WAIT}",
                    timed_out=True,
                ),
            ],
        ),
    ),
    ("timeout", "hook-alone"): Difference(
        "the program's dialog has no time limit of ours: the question ends unanswered when the session goes on",
        NOT_TOLD,
    ),
    ("timeout", "dialog"): Difference(
        "the question on the page expires without a record, as the program's dialog stays open; it ends unanswered "
        "when the session goes on",
        NOT_TOLD,
    ),
    ("nobody", "mcp"): Difference(
        "without a server and without a form the call is denied by the decision itself, and no question is recorded",
        Played([False], [HEADLESS]),
    ),
    ("nobody", "hook-alone"): Difference(
        "in a session that nobody attends the call is denied by the decision itself, and no question is recorded",
        Played([False], [HEADLESS]),
    ),
    ("nobody", "calls"): Difference(
        "a caller that says `headless` is denied by the decision itself, and no question is recorded",
        Played([False], [HEADLESS]),
    ),
    ("nobody", "hook"): Difference(
        "the server waits `unseen` seconds for a page to open, and records that the time ran out",
        Played([False], [question(), NO_PAGE]),
    ),
    ("nobody", "http-hook"): Difference(
        "the server waits `unseen` seconds for a page to open, and records that the time ran out",
        Played([False], [question(), NO_PAGE]),
    ),
    ("nobody", "mcp-served"): Difference(
        "the server waits `unseen` seconds for a page to open, and records that the time ran out",
        Played([False], [question(), NO_PAGE]),
    ),
    ("nobody", "paused"): Difference(
        "a paused run is never resumed: its question has no end in the trail",
        LEFT_OPEN,
    ),
    ("nobody", "dialog"): Difference(
        "the program's own dialog asks, and nobody answers it: the question ends unanswered when the session goes on",
        NOT_TOLD,
    ),
    ("cancel", "paused"): Difference(
        "a paused run cannot take its question back: it has no end in the trail",
        LEFT_OPEN,
    ),
    ("cancel", "hook-alone"): Difference(
        "the program puts its dialog away and goes on: the question ends unanswered",
        NOT_TOLD,
    ),
    ("cancel", "dialog"): Difference(
        "the program puts its dialog away and goes on: the question ends unanswered",
        NOT_TOLD,
    ),
    ("cancel", "calls"): Difference(
        "the reason says that the agent took the call back",
        Played([False], [question(), withdrawn("the agent withdrew it")]),
    ),
    ("cancel", "mcp-served"): Difference(
        "the reason says that the agent took the call back",
        Played([False], [question(), withdrawn("the agent withdrew it")]),
    ),
    ("cancel", "hook"): Difference(
        "a hook cannot take its call back: the question ends some seconds after the hook did, and the reason says so",
        Played([False], [question(), withdrawn("the agent that asked has disconnected")]),
    ),
    ("cancel", "http-hook"): Difference(
        "a hook cannot take its call back: the question ends some seconds after the hook did, and the reason says so",
        Played([False], [question(), withdrawn("the agent that asked has disconnected")]),
    ),
    ("changed", "hook-alone"): Difference(
        "there is no second look after the program's dialog: the changed script runs",
        Played([True], [SCRIPT_RUNS, ran_it]),
    ),
    ("overruled", "hook-alone"): Difference(
        "there is no second look after the program's dialog: what the rules deny by then runs",
        Played([True], [question(), ran_it]),
    ),
    ("grant", "paused"): Difference(
        "an answer to a paused run is for one call, and the next asks again",
        Played([True, True], [question(), yes(), question(id="#2"), yes(id="#2")]),
    ),
    ("grant", "mcp"): Difference(
        "an answer in the client's form is for one call, and the next asks again",
        Played([True, True], [question(), yes(), question(id="#2"), yes(id="#2")]),
    ),
    ("grant", "hook-alone"): Difference(
        "an answer in the program's dialog is for one call, and the next asks again",
        Played([True, True], [question(), ran_it, question(id="#2"), {**ran_it, "id": "#2"}]),
    ),
    ("unsafe", "hook-alone"): Difference(
        "a no in the program's dialog is not told to the hook: both questions end unanswered",
        Played([False, False], [UNSAFE, unanswered(), question(id="#2"), unanswered("#2")], 1),
    ),
    ("twin", "hook-alone"): Difference(
        "a no in the program's dialog is not told to the hook: both questions end unanswered",
        Played([False, False], [UNSAFE, question(RESPELLED, id="#2"), unanswered(), unanswered("#2")], 1),
    ),
}
