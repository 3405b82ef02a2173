"""The three outcomes in their order, and the layers that one comes from."""

from __future__ import annotations

from assent.contract.choice import Enum, IntEnum


class Outcome(IntEnum):
    """Ordered: the strictest of several is their maximum."""

    ALLOW = 0
    ASK = 1
    DENY = 2

    @property
    def word(self) -> str:
        return self.name.lower()

    def __bool__(self) -> bool:
        raise TypeError("an outcome is neither true nor false; write `outcome is Outcome.ALLOW`")


class Layer(Enum):
    """Which of the six layers spoke. GRANT is a remembered answer that settles an ask, CLASSIFIER a model that called
    safe what nothing spoke of, LOAD a policy that does not load, HEADLESS an ask that nobody can answer."""

    FLOOR = "floor"
    DENY = "deny"
    ASK = "ask"
    ALLOW = "allow"
    INTRINSIC = "intrinsic"
    MODE = "mode"
    GRANT = "grant"
    CLASSIFIER = "classifier"
    HEADLESS = "headless"
    LOAD = "load"
