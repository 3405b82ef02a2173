"""The words that people read for scopes, answers, endings, outcomes, operations and tools, once for every surface.

The terminal, the inbox, the page, Slack, the command line and the docs take them from here. Phrases begin with a small
letter; `sentence` makes the beginning of a sentence of one. No hook that only decides loads this."""

from __future__ import annotations

from assent.contract.approval import Ending, Said, Scope
from assent.contract.enums import Operation, Outcome
from assent.contract.errors import assert_never
from assent.contract.value import Value, fields

# The key that denies with a message, and the words for it; the others are in `of_scope` and `of_denial`.
MESSAGE = ("t", "deny, and tell the agent why")
# What a call by a tool of ours wants to do.
VERBS = {
    "bash": "wants to run a command",
    "write": "wants to change a file",
    "delete": "wants to delete a file",
    "move": "wants to move a file",
    "read": "wants to read a file",
    "fetch": "wants to fetch from the web",
    "agent": "wants to start another agent",
    "search": "wants to search",
    "list": "wants to list files",
}
# Callers that are no agent program.
CALLERS = {
    "python": "Python agent",
    "example": "An example agent",
    "assent": "assent run",
    "assent-tools": "Agent",
}
# The fields of a tool's input that tell a call from others, the first that is there.
TELLING = ("command", "cmd", "file_path", "path", "url", "query", "pattern", "subagent_type", "prompt")


class ScopeWords(Value):
    """A scope: the `key` that chooses it, in `short`, as what a person may do (`offer`), as what they did (`done`), and
    of a grant that is `kept`."""

    __slots__ = ("key", "short", "offer", "done", "kept")

    def __init__(self, key: str, short: str, offer: str, done: str, kept: str) -> None:
        self.key = key
        self.short = short
        self.offer = offer
        self.done = done
        self.kept = kept


def of_scope(scope: Scope) -> ScopeWords:
    match scope:
        case Scope.ONCE:
            return ScopeWords("y", "once", "allow once", "allowed once", "once")
        case Scope.QUARTER:
            offer, done = "allow for 15 minutes", "allowed for 15 minutes"
            return ScopeWords("m", "15 min", offer, done, "for 15 minutes")
        case Scope.SESSION:
            offer, done = "allow for this session", "allowed for this session"
            return ScopeWords("s", "session", offer, done, "for its session")
        case Scope.PROJECT:
            offer, done = "always allow in this project", "always allowed in this project"
            return ScopeWords("p", "always here", offer, done, "in its project")
        case Scope.EVERYWHERE:
            offer, done = "always allow, everywhere", "always allowed, everywhere"
            return ScopeWords("e", "everywhere", offer, done, "everywhere")
        case _:
            return assert_never(scope)


class DenialWords(Value):
    """A denial: the `key` for it, as what a person may do (`offer`), and as what they did (`done`)."""

    __slots__ = ("key", "offer", "done")

    def __init__(self, key: str, offer: str, done: str) -> None:
        self.key = key
        self.offer = offer
        self.done = done


DENY = DenialWords("n", "deny", "denied")
STOP = DenialWords("x", "deny, and stop the agent", "denied, and the agent is told to stop")


def of_answer(said: Said, scope: Scope) -> str:
    """What a person answered."""
    match said:
        case Said.ALLOW:
            return of_scope(scope).done
        case Said.DENY:
            return DENY.done
        case Said.STOP:
            return STOP.done
        case _:
            return assert_never(said)


def of_ending(ending: Ending) -> str:
    """How a question ended without an answer to itself, for a person."""
    match ending:
        case Ending.ANSWERED:
            return "answered"
        case Ending.SETTLED:
            return "settled by another answer"
        case Ending.EXPIRED:
            return "nobody answered in time"
        case Ending.UNSEEN:
            return "nobody could see it"
        case Ending.DISMISSED:
            return "put away"
        case Ending.UNANSWERED:
            return "the agent program did not tell what was answered"
        case Ending.LOST:
            return "the place that showed it went away"
        case Ending.CANCELLED:
            return "the agent withdrew it"
        case Ending.CHANGED:
            return "it changed after it was shown"
        case Ending.OVERRULED:
            return "the rules deny it by now"
        case Ending.FAULT:
            return "something broke"
        case Ending.CLOSED:
            return "the server was stopped"
        case _:
            return assert_never(ending)


class OutcomeWords(Value):
    """An outcome: of past calls (`done`), of one that is tried (`would`), and of the `rules` that have it."""

    __slots__ = ("done", "would", "rules")

    def __init__(self, done: str, would: str, rules: str) -> None:
        self.done = done
        self.would = would
        self.rules = rules


def of_outcome(outcome: Outcome) -> OutcomeWords:
    match outcome:
        case Outcome.ALLOW:
            return OutcomeWords("ran at once", "it would run", "let through")
        case Outcome.ASK:
            return OutcomeWords("asked", "a person would be asked", "asked about")
        case Outcome.DENY:
            return OutcomeWords("stopped", "it would be stopped", "stopped")
        case _:
            return assert_never(outcome)


def sentence(phrase: str) -> str:
    return phrase[:1].upper() + phrase[1:]


def plain() -> dict[str, object]:
    """All of it as data, for the page."""
    return {
        "scopes": {scope.value: _fields(of_scope(scope)) for scope in Scope},
        "denials": {"deny": [DENY.key, DENY.offer], "message": MESSAGE, "stop": [STOP.key, STOP.offer]},
        "said": {said.value: of_answer(said, Scope.ONCE) for said in Said if said is not Said.ALLOW},
        "endings": {ending.value: of_ending(ending) for ending in Ending},
        "outcomes": {outcome.word: _fields(of_outcome(outcome)) for outcome in Outcome},
        "operations": [operation.verb for operation in Operation],
        "tools": VERBS,
        "callers": CALLERS,
        "telling": TELLING,
    }


def _fields(value: Value) -> dict[str, str]:
    return {name: getattr(value, name) for name in fields(type(value))}
