"""One line of the trail before it is redacted and chained. Writes nothing."""

from __future__ import annotations

from collections.abc import Mapping

from assent.contract.value import Value


class Record(Value):
    """What is to be remembered of one moment.

    `kind` is `decision` (every decision, a question among them with outcome `ask`), `answer` (how a question ended,
    with the question's `id`), `grant`, `revoke`, `mode`, `offer` or `event`. `id` is unique but for a question and
    its answer. `input` is the call's input, unredacted here. `more` holds what only some kinds have."""

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
