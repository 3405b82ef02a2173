"""A decision with its receipt, the reply to the agent program, and the record for the trail."""

from __future__ import annotations

from collections.abc import Mapping

from assent.contract.enums import Layer, Outcome
from assent.contract.value import Value


class Part(Value):
    """The judgement on one part of a call.

    `what` is the part in words (`delete /srv/db`), `where` its place in the call (`command[4:19]`, `file_path`). `rule`
    is the rule's own text and `source` its file:line, both empty if no rule matched. `flip` is the
    smallest change that would change the outcome. `message` is the rule author's message to the agent. `also` are the
    texts of other ask rules that match the same part: an answer covers them too."""

    __slots__ = (
        "outcome",
        "layer",
        "code",
        "reason",
        "what",
        "where",
        "rule",
        "source",
        "flip",
        "message",
        "high",
        "also",
    )

    def __init__(
        self,
        outcome: Outcome,
        layer: Layer,
        code: str,
        reason: str,
        *,
        what: str = "",
        where: str = "",
        rule: str = "",
        source: str = "",
        flip: str = "",
        message: str = "",
        high: bool = False,
        also: tuple[str, ...] = (),
    ) -> None:
        self.outcome = outcome
        self.layer = layer
        self.code = code
        self.reason = reason
        self.what = what
        self.where = where
        self.rule = rule
        self.source = source
        self.flip = flip
        self.message = message
        self.high = high
        self.also = also

    def but(
        self,
        *,
        outcome: Outcome | None = None,
        layer: Layer | None = None,
        code: str | None = None,
        reason: str | None = None,
        flip: str | None = None,
        also: tuple[str, ...] | None = None,
    ) -> Part:
        """The same part with other fields."""
        return Part(
            self.outcome if outcome is None else outcome,
            self.layer if layer is None else layer,
            self.code if code is None else code,
            self.reason if reason is None else reason,
            what=self.what,
            where=self.where,
            rule=self.rule,
            source=self.source,
            flip=self.flip if flip is None else flip,
            message=self.message,
            high=self.high,
            also=self.also if also is None else also,
        )

    def __bool__(self) -> bool:
        raise TypeError("a part is neither true nor false; write `part.outcome is Outcome.ALLOW`")


class Decision(Value):
    """ALLOW, ASK or DENY with its receipt: the part that decided, all parts, and the rules that lost.

    `lost` are (rule, source) pairs of rules that matched and were overruled. `risk` is `low`, `medium` or `high`.
    `contained` says what is blocked while an allowed call runs (`""`: it is not contained)."""

    __slots__ = ("outcome", "deciding", "parts", "lost", "mode", "risk", "tool", "contained")

    def __init__(
        self,
        outcome: Outcome,
        deciding: Part,
        parts: tuple[Part, ...] = (),
        *,
        lost: tuple[tuple[str, str], ...] = (),
        mode: str = "",
        risk: str = "low",
        tool: str = "",
        contained: str = "",
    ) -> None:
        self.outcome = outcome
        self.deciding = deciding
        self.parts = parts
        self.lost = lost
        self.mode = mode
        self.risk = risk
        self.tool = tool
        self.contained = contained

    def but(self, outcome: Outcome, deciding: Part, parts: tuple[Part, ...]) -> Decision:
        """The same call, decided by another part. `contained` is decided last, so it is not copied."""
        return Decision(outcome, deciding, parts, lost=self.lost, mode=self.mode, risk=self.risk, tool=self.tool)

    def __bool__(self) -> bool:
        raise TypeError("a decision is neither true nor false; write `decision.outcome is Outcome.ALLOW`")

    @property
    def code(self) -> str:
        return self.deciding.code

    @property
    def reason(self) -> str:
        return self.deciding.reason


class Record(Value):
    """One line of the trail, before it is redacted and chained.

    `kind` is `decision` (every decision, a question among them with outcome `ask`), `answer` (how a question ended,
    with the question's `id`), `grant`, `revoke`, `mode`, `offer` or `event`. `id` is unique, except that a question and
    its answer share one. `input` is the call's input, unredacted here. `more` has the fields of some kinds."""

    __slots__ = (
        "kind",
        "id",
        "time",
        "runtime",
        "session",
        "project",
        "cwd",
        "tool",
        "input",
        "effects",
        "outcome",
        "layer",
        "code",
        "reason",
        "rule",
        "source",
        "mode",
        "risk",
        "who",
        "channel",
        "scope",
        "timed_out",
        "latency",
        "more",
    )

    def __init__(
        self,
        kind: str,
        id: str,
        time: float,
        *,
        runtime: str = "",
        session: str = "",
        project: str = "",
        cwd: str = "",
        tool: str = "",
        input: Mapping[str, object] | None = None,
        effects: tuple[str, ...] = (),
        outcome: str = "",
        layer: str = "",
        code: str = "",
        reason: str = "",
        rule: str = "",
        source: str = "",
        mode: str = "",
        risk: str = "",
        who: str = "",
        channel: str = "",
        scope: str = "",
        timed_out: bool = False,
        latency: float = 0.0,
        more: Mapping[str, object] | None = None,
    ) -> None:
        self.kind = kind
        self.id = id
        self.time = time
        self.runtime = runtime
        self.session = session
        self.project = project
        self.cwd = cwd
        self.tool = tool
        self.input = input or {}
        self.effects = effects
        self.outcome = outcome
        self.layer = layer
        self.code = code
        self.reason = reason
        self.rule = rule
        self.source = source
        self.mode = mode
        self.risk = risk
        self.who = who
        self.channel = channel
        self.scope = scope
        self.timed_out = timed_out
        self.latency = latency
        self.more = more or {}

    def __hash__(self) -> int:
        return hash((self.kind, self.id, self.time))


# Used if there is no reason: several runtimes run a call whose denial has none.
UNSAID = {
    Outcome.ALLOW: "Assent lets this call run",
    Outcome.ASK: "Assent asks about this call",
    Outcome.DENY: "Assent does not let this call run",
}


class Reply(Value):
    """The answer to one event of a runtime.

    `reason` is for the person, `message` for the agent; each replaces the other if one is empty. `stop` also ends the
    agent's turn (with a denial only). `context` goes to the agent with the answer. `fault` marks a denial after an
    internal error, sent in the runtime's own form of a block. `through` is the program that makes a runtime ask if its
    hooks cannot (`""`: there is none). `command` is the shell command that runs in place of the call's own (with an
    ALLOW only; `""`: the call runs unchanged)."""

    __slots__ = ("outcome", "reason", "message", "stop", "context", "fault", "through", "command")

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
        command: str = "",
    ) -> None:
        # INVARIANT: a fault is a denial.
        self.outcome = Outcome.DENY if fault else outcome
        self.reason = reason
        self.message = message
        self.stop = stop
        self.context = context
        self.fault = fault
        self.through = through
        self.command = command

    @property
    def for_person(self) -> str:
        """Never empty."""
        return self.reason.strip() or self.message.strip() or UNSAID[self.outcome]

    @property
    def for_agent(self) -> str:
        """Never empty."""
        return self.message.strip() or self.reason.strip() or UNSAID[self.outcome]


def fault(reason: str) -> Reply:
    """The answer after a failure of Assent itself."""
    return Reply(Outcome.DENY, reason, fault=True)
