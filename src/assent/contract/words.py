"""The words that people read for scopes, answers, endings, outcomes, operations and tools, on every surface.

Phrases begin with a small letter; `sentence` capitalizes one. No hook that only decides loads this."""

from __future__ import annotations

from assent.contract.approval import Ending, Said, Scope
from assent.contract.enums import Operation, Outcome
from assent.contract.value import Value, fields

# The key that denies with a message, and the words for it; the others are in SCOPES and DENIALS.
MESSAGE = ("t", "deny, and tell the agent why")
# The request of a call, for Assent's own tools.
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
# Callers that are not agent programs.
CALLERS = {
    "python": "Python agent",
    "example": "An example agent",
    "assent": "assent run",
    "assent-tools": "Agent",
}
# The fields of a tool's input that identify a call; the first that exists is used.
TELLING = ("command", "cmd", "file_path", "path", "url", "query", "pattern", "subagent_type", "prompt")


class ScopeWords(Value):
    """A scope: the `key` that chooses it, a `short` name, as a choice (`offer`), as a past answer (`done`), and as the
    scope of a saved grant (`kept`)."""

    __slots__ = ("key", "short", "offer", "done", "kept")

    def __init__(self, key: str, short: str, offer: str, done: str, kept: str) -> None:
        self.key = key
        self.short = short
        self.offer = offer
        self.done = done
        self.kept = kept


SCOPES = {
    Scope.ONCE: ScopeWords("y", "once", "allow once", "allowed once", "once"),
    Scope.QUARTER: ScopeWords("m", "15 min", "allow for 15 minutes", "allowed for 15 minutes", "for 15 minutes"),
    Scope.SESSION: ScopeWords("s", "session", "allow for this session", "allowed for this session", "for its session"),
    Scope.PROJECT: ScopeWords(
        "p", "always here", "always allow in this project", "always allowed in this project", "in its project"
    ),
    Scope.EVERYWHERE: ScopeWords(
        "e", "everywhere", "always allow, everywhere", "always allowed, everywhere", "everywhere"
    ),
}


def of_scope(scope: Scope) -> ScopeWords:
    return SCOPES[scope]


class DenialWords(Value):
    """A denial: the `key` for it, as a choice (`offer`), and as a past answer (`done`)."""

    __slots__ = ("key", "offer", "done")

    def __init__(self, key: str, offer: str, done: str) -> None:
        self.key = key
        self.offer = offer
        self.done = done


DENY = DenialWords("n", "deny", "denied")
STOP = DenialWords("x", "deny, and stop the agent", "denied, and the agent is told to stop")


DENIALS = {Said.DENY: DENY, Said.STOP: STOP}


def of_answer(said: Said, scope: Scope) -> str:
    return of_scope(scope).done if said is Said.ALLOW else DENIALS[said].done


# How a question ended without its own answer, for a person.
ENDINGS = {
    Ending.ANSWERED: "answered",
    Ending.SETTLED: "settled by another answer",
    Ending.EXPIRED: "nobody answered in time",
    Ending.UNSEEN: "nobody could see it",
    Ending.DISMISSED: "dismissed",
    Ending.UNANSWERED: "the agent program did not report the answer",
    Ending.LOST: "the place that showed it disconnected",
    Ending.CANCELLED: "the agent withdrew it",
    Ending.CHANGED: "it changed after it was shown",
    Ending.OVERRULED: "the rules deny it now",
    Ending.FAULT: "an internal error",
    Ending.CLOSED: "the server was stopped",
}


class OutcomeWords(Value):
    """An outcome: of past calls (`done`), of a dry run (`would`), and of the `rules` that have it."""

    __slots__ = ("done", "would", "rules")

    def __init__(self, done: str, would: str, rules: str) -> None:
        self.done = done
        self.would = would
        self.rules = rules


OUTCOMES = {
    Outcome.ALLOW: OutcomeWords("ran at once", "it would run", "let through"),
    Outcome.ASK: OutcomeWords("asked", "a person would be asked", "asked about"),
    Outcome.DENY: OutcomeWords("stopped", "it would be stopped", "stopped"),
}


def sentence(phrase: str) -> str:
    return phrase[:1].upper() + phrase[1:]


def plain() -> dict[str, object]:
    """All words as data, for the page."""
    return {
        "scopes": {scope.value: _fields(of_scope(scope)) for scope in Scope},
        "denials": {"deny": [DENY.key, DENY.offer], "message": MESSAGE, "stop": [STOP.key, STOP.offer]},
        "said": {said.value: of_answer(said, Scope.ONCE) for said in Said if said is not Said.ALLOW},
        "endings": {ending.value: ENDINGS[ending] for ending in Ending},
        "outcomes": {outcome.word: _fields(OUTCOMES[outcome]) for outcome in Outcome},
        "operations": [operation.verb for operation in Operation],
        "tools": VERBS,
        "callers": CALLERS,
        "telling": TELLING,
    }


def _fields(value: Value) -> dict[str, str]:
    return {name: getattr(value, name) for name in fields(type(value))}
