"""The records that each scene leaves, the same for every entry but for those in `differs`. Tests nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.gate.entry import DENIED
from tests.gate.scenes import BUILDS, READS, RESPELLED, RUNS

Record = dict[str, Any]
CALL = {"runtime": "<runtime>", "session": "<session>", "project": "<project>", "tool": "<tool>"}
RULE = "bash(make it)"
PERSON = {"who": "<who>", "channel": "<channel>"}


@dataclass(frozen=True)
class Played:
    """The result of a play: which calls ran, how often the model was asked, and the trail."""

    ran: list[bool]
    records: list[Record]
    asked_model: int = 0


def decision(outcome: str, command: str = BUILDS, *, id: str = "#1", **more: object) -> Record:
    where = {"cwd": "<cwd>", "input": {"command": command}}
    return {"v": 1, "id": id, "kind": "decision", **CALL, **where, "outcome": outcome, "mode": "default", **more}


def question(
    command: str = BUILDS, *, id: str = "#1", effects: tuple[str, ...] = ("run make",), **more: object
) -> Record:
    reason = "it runs something that is not proved read-only"
    kind = {"layer": "mode", "code": "mode.execute", "reason": reason, "risk": "medium"}
    return decision("ask", command, id=id, effects=list(effects), **kind, **more)


def ending(code: str, reason: str, *, id: str = "#1", outcome: str = "deny", **more: object) -> Record:
    return {"v": 1, "id": id, "kind": "answer", **CALL, "outcome": outcome, "code": code, "reason": reason, **more}


def yes(*, id: str = "#1", reason: str = "allowed by <who>", scope: str = "once", **more: object) -> Record:
    found = ending("answer.answered", reason, id=id, outcome="allow", **PERSON, scope=scope, said="allow", **more)
    return found if reason else {key: value for key, value in found.items() if key != "reason"}


def no(*, id: str = "#1") -> Record:
    reason = "a person said no; do not retry it or reach the same end another way; ask what is wanted"
    return ending("answer.answered", reason, id=id, **PERSON, said="deny")


def opinion(safe: bool) -> Record:
    said = "an ordinary task" if safe else "it is not clear what this does"
    return {"classifier": {"model": "small-1", "safe": safe, "settled": safe, "said": said}}


def by_model(command: str = BUILDS, *, id: str = "#1") -> Record:
    reason = "no rule matches it, and the model `small-1` called it safe"
    kind = {"layer": "classifier", "code": "classifier.safe", "reason": reason, "risk": "medium"}
    return decision("allow", command, id=id, effects=["run make"], **kind, **opinion(True))


def granted(*, id: str) -> Record:
    where = {"session": "<session>", "project": "<project>"}
    return {"v": 1, "id": id, "kind": "grant", **where, "rule": RULE, **PERSON, "scope": "session", "shown": BUILDS}


WAIT = "continue with work that needs no approval, or ask for it in your reply"
OVERRULED = "it was approved, but the rules deny it now: denied by the user rule `bash(make:*)`; do not retry it"
SCRIPT_RUNS = question(RUNS, effects=("read build.sh", "run build.sh", "run make"))
UNSAFE = question(**opinion(False))

EXPECTED: dict[str, Played] = {
    "allow": Played(
        [True],
        [
            decision(
                "allow",
                READS,
                effects=["list ."],
                layer="intrinsic",
                code="intrinsic.read-only",
                reason="it only reads, lists or searches",
                risk="low",
            )
        ],
    ),
    "deny": Played(
        [False],
        [
            decision(
                "deny",
                DENIED,
                effects=["run make"],
                layer="deny",
                code="deny.rule",
                reason=f"denied by the user rule `bash({DENIED})`",
                rule=f"bash({DENIED})",
                source="<home>/state/config.toml:2",
                risk="medium",
            )
        ],
    ),
    "ask-yes": Played([True], [question(), yes()]),
    "ask-no": Played([False], [question(), no()]),
    "timeout": Played(
        [False],
        [
            question(),
            ending(
                "answer.expired",
                f"the question was shown and nobody answered it in time: 1 s passed; {WAIT}",
                timed_out=True,
            ),
        ],
    ),
    "nobody": Played(
        [False],
        [
            question(),
            ending(
                "answer.unseen",
                f"nobody could see the question: this session runs without a person who could answer; {WAIT}",
            ),
        ],
    ),
    "cancel": Played(
        [False],
        [
            question(),
            ending(
                "answer.cancelled",
                "the call was withdrawn before an answer came; make the call again if it is still needed",
            ),
        ],
    ),
    "changed": Played(
        [False],
        [
            SCRIPT_RUNS,
            ending(
                "answer.changed",
                "the call is no longer what was approved: a file, a link or a script is not as it was shown; "
                "make the call again, so that it is shown again",
                **PERSON,
                said="allow",
            ),
        ],
    ),
    "overruled": Played(
        [False],
        [
            question(),
            ending(
                "answer.overruled",
                OVERRULED,
                **PERSON,
                said="allow",
            ),
        ],
    ),
    "grant": Played(
        [True, True],
        [
            question(),
            granted(id="#2"),
            yes(scope="session", rules=[RULE]),
            decision(
                "allow",
                id="#3",
                effects=["run make"],
                layer="grant",
                code="grant.rule",
                reason=f"a person allowed `{RULE}`, and the answer still applies",
                rule=RULE,
                source="grant #2",
                risk="low",
            ),
        ],
    ),
    "safe": Played([True], [by_model()], 1),
    "unsafe": Played([False, False], [UNSAFE, no(), question(id="#2"), no(id="#2")], 1),
    "twin": Played([False, False], [UNSAFE, question(RESPELLED, id="#2"), no(), no(id="#2")], 1),
}
