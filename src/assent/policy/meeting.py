"""How two globs meet. Compares none."""

from __future__ import annotations

from assent.contract.choice import IntEnum


class Meeting(IntEnum):
    """How a name of a shell's glob meets a name of a rule's."""

    NONE = 0
    WEAK = 1  # by wildcards alone: `*` meets everything
    STRONG = 2  # by letters that both have
