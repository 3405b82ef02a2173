"""What is known of each question and each channel while questions wait. Changes nothing by itself; `machine` does."""

from __future__ import annotations

from assent.approval.commands import State
from assent.contract import Value
from assent.contract.approval import Answer, Ending, Held

Session = tuple[str, str]


def session_of(held: Held) -> Session:
    """Whose queue a question waits in. Names of sessions are unique within a runtime at best."""
    return (held.call.runtime, held.call.session)


class Pending(Value):
    """A question that has not ended. `position` counts from 0, the head; `deadline` is the next end of a clock."""

    __slots__ = ("held", "state", "position", "deadline")

    def __init__(self, held: Held, state: State, position: int, deadline: float | None) -> None:
        self.held = held
        self.state = state
        self.position = position
        self.deadline = deadline


class Leftover(Value):
    """A question that a dead process left behind. `deadline` is the last moment for its caller to come back,
    `shown` whether its clock had started, `answer` an approval that was given. `used` says that its release is used
    up: it can only end."""

    __slots__ = ("held", "deadline", "shown", "answer", "used")

    def __init__(
        self, held: Held, deadline: float, *, shown: bool = False, answer: Answer | None = None, used: bool = False
    ) -> None:
        self.held = held
        self.deadline = deadline
        self.shown = shown
        self.answer = answer
        self.used = used

    def rebased(self, now: float, wall: float) -> Leftover:
        """The same with its deadline in the time of the machine. A clock that was set back makes nobody wait longer;
        one that was never shown may wait as long for its caller as for somebody to see it."""
        rest = min(self.deadline - wall, self.held.timeout) if self.shown else self.held.unseen
        if self.held.limit:
            rest = min(rest, self.held.made + self.held.limit - wall)
        return Leftover(self.held, now + rest, shown=self.shown, answer=self.answer, used=self.used)


class Waiting:
    """What the machine knows of one question. Times are None while their clock stands still."""

    __slots__ = (
        "held",
        "state",
        "since",
        "seen",
        "refused",
        "problems",
        "deadline",
        "end",
        "blind",
        "dark",
        "due",
        "answer",
        "settled",
    )

    def __init__(self, held: Held, state: State, now: float) -> None:
        self.held = held
        self.state = state
        self.since = now
        self.seen: set[str] = set()  # the channels that show it
        self.refused: set[str] = set()  # the channels that could not
        self.problems: dict[str, str] = {}  # of these, why
        self.deadline: float | None = None  # the end of the clock that started when it was shown
        self.end = now + held.limit if held.limit else None  # when whoever asked waits no longer
        self.blind: float | None = None  # since when nobody can see it
        self.dark: float | None = None  # since when it is gone from the last channel that showed it
        self.due: float | None = None  # the first of the ends above
        self.answer: Answer | None = None
        self.settled = False


class Place:
    """What the machine knows of one channel. One with `room` shows so many questions at a time (0: all of them):
    `shows` are those."""

    __slots__ = ("name", "room", "shows")

    def __init__(self, name: str, room: int = 0) -> None:
        self.name = name
        self.room = room
        self.shows: set[str] = set()

    def is_full_for(self, id: str) -> bool:
        """Whether a question has to wait there until another one is done."""
        return bool(self.room) and id not in self.shows and len(self.shows) >= self.room


def overdue(question: Waiting, now: float) -> tuple[Ending, float, str]:
    """Which clock of an overdue question ended it, in the order in which they matter."""
    held = question.held
    if question.state is State.LOST:
        return Ending.LOST, now, "the process that asked died, and nobody came back for the answer"
    if question.end is not None and question.end <= now:
        return Ending.EXPIRED, now, f"the agent program waits no longer than {held.limit:g} s"
    if question.deadline is not None and question.deadline <= now:
        return Ending.EXPIRED, now, f"{held.timeout:g} s passed"
    if question.dark is not None:
        return Ending.LOST, now, "the only channel that showed it closed"
    return Ending.UNSEEN, now, failures(question) or f"no channel showed it for {held.unseen:g} s"


def failures(question: Waiting) -> str:
    """Why channels could not show a question, in words; `""` where none said."""
    return ", ".join(f"the channel `{name}` failed: {why}" for name, why in question.problems.items())
