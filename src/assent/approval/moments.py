"""What the broker wants recorded: one moment in the life of a question or an offer. Records nothing itself."""

from __future__ import annotations

from assent.approval.escalation import Offer
from assent.contract import Value
from assent.contract.approval import Answer, Held, Resolution


class Moment(Value):
    """`kind` is `shown` (the clock of `held` started in `channel`), `answered` (an `answer` that counts, before
    anything comes of it), `ended` (the `resolution`, once for each question), `offer`, `rejected` (an offer), `mode`
    or `rule` (what a person has `chosen` of an offer)."""

    __slots__ = ("kind", "held", "answer", "resolution", "offer", "chosen", "who", "channel")

    def __init__(
        self,
        kind: str,
        *,
        held: Held | None = None,
        answer: Answer | None = None,
        resolution: Resolution | None = None,
        offer: Offer | None = None,
        chosen: str = "",
        who: str = "",
        channel: str = "",
    ) -> None:
        self.kind = kind
        self.held = held
        self.answer = answer
        self.resolution = resolution
        self.offer = offer
        self.chosen = chosen
        self.who = who
        self.channel = channel
