"""What the machine of questions tells its shell to do, and what an answer is told. Does nothing itself."""

from __future__ import annotations

from enum import Enum

from assent.contract import Value
from assent.contract.approval import Answer, Ending, Held, Resolution

# Where a call that is not shown whole can be answered.
ELSEWHERE = "deny it here, or look at all of it on Assent's page or in `assent inbox`, and answer there"
NOWHERE = "it is longer than any place shows; deny it, and let the agent do it in smaller parts"
Session = tuple[str, str]


class QuestionState(Enum):
    """Where a question is in its life. ASKED and SHOWN are the head of a session's queue."""

    QUEUED = "queued"  # behind another question of its session
    ASKED = "asked"  # sent to the channels, delivered to none yet
    SHOWN = "shown"  # delivered: its clock runs
    RELEASING = "releasing"  # approved, and looked at once more
    LOST = "lost"  # left over from a process that died; its caller may come back

    __hash__ = object.__hash__  # members are singletons; Enum's own hash is slower


class SecondLook(Enum):
    """What the second look at an approved call says."""

    STANDS = "stands"
    DENIED = "denied"
    CHANGED = "changed"

    __hash__ = object.__hash__  # as above


class Recheck(Value):
    """The second look at a call when it is released. `reason` is for the agent."""

    __slots__ = ("verdict", "reason")

    def __init__(self, verdict: SecondLook, reason: str = "") -> None:
        self.verdict = verdict
        self.reason = reason


class Show(Value):
    """Ask this question in this channel. `deadline` is the end of its clock where that runs already."""

    __slots__ = ("channel", "held", "deadline")

    def __init__(self, channel: str, held: Held, deadline: float | None = None) -> None:
        self.channel = channel
        self.held = held
        self.deadline = deadline


class Queue(Value):
    """Let this channel know of a question that waits behind another."""

    __slots__ = ("channel", "held", "position")

    def __init__(self, channel: str, held: Held, position: int) -> None:
        self.channel = channel
        self.held = held
        self.position = position


class StartClock(Value):
    """The clock of a question has started: somebody can see it."""

    __slots__ = ("id", "channel", "deadline")

    def __init__(self, id: str, channel: str, deadline: float) -> None:
        self.id = id
        self.channel = channel
        self.deadline = deadline


class Withdraw(Value):
    """Take a question out of a channel: it has ended."""

    __slots__ = ("channel", "id", "resolution")

    def __init__(self, channel: str, id: str, resolution: Resolution) -> None:
        self.channel = channel
        self.id = id
        self.resolution = resolution


class Release(Value):
    """Look at the call once more and report. `answer` approves it, or made the grant that does (`settled`).
    `stored` says that the answer is in the store already."""

    __slots__ = ("id", "answer", "settled", "stored")

    def __init__(self, id: str, answer: Answer | None, *, settled: bool = False, stored: bool = False) -> None:
        self.id = id
        self.answer = answer
        self.settled = settled
        self.stored = stored


class Finish(Value):
    """The question has ended. Given once for each."""

    __slots__ = ("id", "resolution")

    def __init__(self, id: str, resolution: Resolution) -> None:
        self.id = id
        self.resolution = resolution


class Late(Value):
    """The answer came after the question had ended, or after another answer. It changes nothing."""

    __slots__ = ("id", "ending", "who", "channel")

    def __init__(self, id: str, ending: Ending, who: str = "", channel: str = "") -> None:
        self.id = id
        self.ending = ending
        self.who = who
        self.channel = channel

    @property
    def words(self) -> str:
        if self.ending is not Ending.ANSWERED:
            return f"too late: the question has ended ({self.ending.value}); your answer changed nothing"
        place = f" in {self.channel}" if self.channel else ""
        return f"too late: {self.who or 'somebody'} answered first{place}; your answer changed nothing"


class Unknown(Value):
    """No question has this id."""

    __slots__ = ("id",)

    def __init__(self, id: str) -> None:
        self.id = id

    @property
    def words(self) -> str:
        return f"no question has the id `{self.id}`; list the waiting ones and answer again"


class Mismatch(Value):
    """The answer names another digest than the question has: it was given to something else."""

    __slots__ = ("id",)

    def __init__(self, id: str) -> None:
        self.id = id

    @property
    def words(self) -> str:
        return "the answer is to something else than what is asked; look at the question again, then answer"


class Absent(Value):
    """The agent that asked is not connected since a restart: there is nobody to answer to yet."""

    __slots__ = ("id",)

    def __init__(self, id: str) -> None:
        self.id = id

    @property
    def words(self) -> str:
        return "the agent that asked is not connected; answer once the question is shown again"


class Partial(Value):
    """A yes to a question that was not shown whole where it was given. It changes nothing; a no would count."""

    __slots__ = ("id", "possible")

    def __init__(self, id: str, *, possible: bool = True) -> None:
        self.id = id
        self.possible = possible

    @property
    def words(self) -> str:
        where = ELSEWHERE if self.possible else NOWHERE
        return f"not all of this call is shown here, so it cannot be allowed here; {where}"


class Taken(Value):
    """The answer counted. `resolution` is what came of it, `note` what went wrong beside it."""

    __slots__ = ("id", "resolution", "note")

    def __init__(self, id: str, resolution: Resolution, note: str = "") -> None:
        self.id = id
        self.resolution = resolution
        self.note = note

    @property
    def words(self) -> str:
        told = "allowed" if self.resolution.allowed else f"denied: {self.resolution.reason}"
        return f"{told}; {self.note}" if self.note else told


Refusal = Late | Unknown | Mismatch | Absent
Receipt = Taken | Refusal | Partial
Command = Show | Queue | StartClock | Withdraw | Release | Finish | Refusal


def session_of(held: Held) -> Session:
    """Whose queue a question waits in. Names of sessions are unique within a runtime at best."""
    return (held.call.runtime, held.call.session)


class Pending(Value):
    """A question that has not ended. `position` counts from 0, the head; `deadline` is the next end of a clock."""

    __slots__ = ("held", "state", "position", "deadline")

    def __init__(self, held: Held, state: QuestionState, position: int, deadline: float | None) -> None:
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

    def __init__(self, held: Held, state: QuestionState, now: float) -> None:
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


class OpenChannel:
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
    if question.state is QuestionState.LOST:
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
