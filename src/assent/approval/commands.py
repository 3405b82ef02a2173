"""What the machine of questions tells its shell to do, and what an answer is told. Does nothing itself."""

from __future__ import annotations

from enum import Enum

from assent.contract import Value
from assent.contract.approval import Answer, Ending, Held, Resolution


class State(Enum):
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


class Start(Value):
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


# Where a call that is not shown whole can be answered.
ELSEWHERE = "deny it here, or look at all of it on Assent's page or in `assent inbox`, and answer there"
NOWHERE = "it is longer than any place shows; deny it, and let the agent do it in smaller parts"


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
Command = Show | Queue | Start | Withdraw | Release | Finish | Refusal
