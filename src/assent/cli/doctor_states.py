"""The states that a guard can be in, and the exit status of each: the one table that `assent doctor` goes by."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from assent.contract import Value


class Grade(IntEnum):
    """How bad one finding is, and what it makes of the guard."""

    FINE = 0
    NOTE = 1
    EXPOSED = 2  # it holds here, and a repository can switch it off before the program starts
    BLOCKS = 3  # every call is blocked, also those that should run
    OPEN = 4  # the hook is called, and does not block
    OFF = 5  # the program does not call the hook


class State(Value):
    """What a guard does, in words, and the exit status where it is the worst one."""

    __slots__ = ("word", "means", "status")

    def __init__(self, word: str, means: str, status: int) -> None:
        self.word = word
        self.means = means
        self.status = status


HOLDS = State("holds", "what must not run is blocked, and the harmless runs", 0)
STATES = {
    Grade.FINE: HOLDS,
    Grade.NOTE: HOLDS,
    Grade.EXPOSED: HOLDS,
    Grade.BLOCKS: State("blocks everything", "nothing runs, also not the harmless", 3),
    Grade.OPEN: State("does not block", "calls run that must not", 1),
    Grade.OFF: State("off", "calls run unchecked", 1),
}
WORDS = {
    Grade.FINE: "ok",
    Grade.NOTE: "note",
    Grade.EXPOSED: "weak",
    Grade.BLOCKS: "BLOCKS",
    Grade.OPEN: "OPEN",
    Grade.OFF: "OFF",
}


class Finding(Value):
    """One thing that was looked at. `about` is a runtime, or `assent`."""

    __slots__ = ("grade", "about", "text", "fix")

    def __init__(self, grade: Grade, about: str, text: str, fix: str = "") -> None:
        self.grade = grade
        self.about = about
        self.text = text
        self.fix = fix


def fine(about: str, text: str) -> Finding:
    return Finding(Grade.FINE, about, text)


def note(about: str, text: str, fix: str) -> Finding:
    return Finding(Grade.NOTE, about, text, fix)


def worst(grades: Iterable[Grade]) -> State:
    """The state of a guard with such findings. What lets calls run is worse than what blocks them."""
    return STATES[max(grades, default=Grade.FINE)]


def weakened(finding: Finding) -> Finding:
    """A finding as a note: it is true, and another installation makes up for it."""
    return Finding(min(finding.grade, Grade.NOTE), finding.about, finding.text, finding.fix)
