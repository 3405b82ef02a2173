"""The answer on a call and its receipt. Decides nothing itself."""

from __future__ import annotations

from assent.contract.outcome import Layer, Outcome
from assent.contract.value import Value

__all__ = ["Decision", "Layer", "Outcome", "Part"]


class Part(Value):
    """The judgement on one part of a call.

    `what` is the part in words (`delete /srv/db`), `where` its place in the call (`command[4:19]`, `file_path`).
    `rule` is the rule's own text and `source` its file:line, both empty where no rule spoke. `flip` is the
    smallest change that would turn the outcome. `message` is what a rule's author wants the agent told. `also` are the
    texts of further ask rules that hold for the same part: an answer answers them too."""

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

    def __bool__(self) -> bool:
        raise TypeError("a part is neither true nor false; write `part.outcome is Outcome.ALLOW`")


class Decision(Value):
    """ALLOW, ASK or DENY with its receipt: the part that decided, all parts, and the rules that lost.

    `lost` are (rule, source) pairs of rules that matched and were overruled. `risk` is `low`, `medium` or `high`."""

    __slots__ = ("outcome", "deciding", "parts", "lost", "mode", "risk", "tool")

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
    ) -> None:
        self.outcome = outcome
        self.deciding = deciding
        self.parts = parts
        self.lost = lost
        self.mode = mode
        self.risk = risk
        self.tool = tool

    def __bool__(self) -> bool:
        raise TypeError("a decision is neither true nor false; write `decision.outcome is Outcome.ALLOW`")

    @property
    def code(self) -> str:
        return self.deciding.code

    @property
    def reason(self) -> str:
        return self.deciding.reason
