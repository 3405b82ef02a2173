"""The five modes: their order, and the outcome of each for an effect that no rule matches."""

from __future__ import annotations

from assent.contract import IntEnum, Operation, Outcome, PolicyError

ALLOW, ASK, DENY = Outcome.ALLOW, Outcome.ASK, Outcome.DENY


class Mode(IntEnum):
    """Ordered from the strictest to the loosest."""

    PLAN = 0
    DEFAULT = 1
    AUTO = 2
    FULL_AUTO = 3
    YOLO = 4

    @property
    def word(self) -> str:
        return self.name.lower()


class Concern(IntEnum):
    """The rows of the table: the kinds of effects that the mode has to settle."""

    LOOK = 0
    WRITE_INSIDE = 1
    DELETE_INSIDE = 2
    CHANGE_OUTSIDE = 3
    EXECUTE = 4
    DESTROY = 5
    DELEGATE = 6
    FETCH = 7
    LOOPBACK = 8
    TOOL = 9
    GAP = 10


# One row for each Concern, one column for each Mode.
TABLE: tuple[tuple[Outcome, ...], ...] = (
    (ALLOW, ALLOW, ALLOW, ALLOW, ALLOW),
    (DENY, ASK, ALLOW, ALLOW, ALLOW),
    (DENY, ASK, ASK, ALLOW, ALLOW),
    (DENY, ASK, ASK, ALLOW, ALLOW),
    (DENY, ASK, ASK, ALLOW, ALLOW),
    (DENY, ASK, ASK, ASK, ALLOW),
    (ASK, ASK, ASK, ALLOW, ALLOW),
    (ASK, ASK, ASK, ALLOW, ALLOW),
    (ASK, ASK, ALLOW, ALLOW, ALLOW),
    (DENY, ASK, ASK, ALLOW, ALLOW),
    (DENY, ASK, ASK, ASK, ALLOW),
)

# The concerns that packs proved by facts settle; and the ids of the shipped ask rules that such a pack answers.
ROUTINE = frozenset((Concern.DELETE_INSIDE, Concern.EXECUTE))
ANSWERED: dict[str, tuple[str, ...]] = {"rebuild": ("recursive-delete",)}

LOOKING = (Operation.READ, Operation.LIST, Operation.SEARCH)


def settle(concern: Concern, mode: Mode) -> Outcome:
    return TABLE[concern][mode]


def parse_mode(text: str, *, file: str = "", line: int = 0) -> Mode:
    """The mode of that name, or PolicyError."""
    try:
        return Mode[text.upper()] if text == text.lower() else Mode[""]
    except KeyError:
        from assent.policy.parse import did_you_mean

        raise PolicyError(
            f"unknown mode `{text}`", file=file, line=line, suggestion=did_you_mean(text, [mode.word for mode in Mode])
        ) from None
