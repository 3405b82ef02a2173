"""The values that the machine of questions works with: its commands, the receipts of answers, and the state of each
question and channel."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from enum import Enum

from assent.contract.approval import Answer, Ending, Held, Resolution

Session = tuple[str, str]  # runtime, session: names of sessions are unique within a runtime at best
# Where to answer a call that is not shown whole.
ELSEWHERE = "deny it here, or look at all of it on Assent's page or in `assent inbox`, and answer there"
NOWHERE = "it is longer than any place shows; deny it, and let the agent do it in smaller parts"


class QuestionState(Enum):
    """ASKED and SHOWN are the head of a session's queue."""

    QUEUED = "queued"  # behind another question of its session
    ASKED = "asked"  # sent to the channels, delivered to none yet
    SHOWN = "shown"  # delivered: its clock runs
    RELEASING = "releasing"  # approved, and re-evaluated
    LOST = "lost"  # left over from a process that died; its caller may come back

    __hash__ = object.__hash__  # members are singletons; Enum's own hash is slower


class SecondLook(Enum):
    STANDS = "stands"
    DENIED = "denied"
    CHANGED = "changed"

    __hash__ = object.__hash__  # as above


@dataclass(frozen=True, slots=True)
class Recheck:
    """`reason` is for the agent."""

    verdict: SecondLook
    reason: str = ""


# Commands


@dataclass(frozen=True, slots=True)
class Show:
    """Ask this question in this channel. `deadline` is the end of its clock, if that runs already."""

    channel: str
    held: Held
    deadline: float | None = None


@dataclass(frozen=True, slots=True)
class Queue:
    """List a question in this channel that waits behind another."""

    channel: str
    held: Held
    position: int


@dataclass(frozen=True, slots=True)
class StartClock:
    """Somebody can see the question."""

    id: str
    channel: str
    deadline: float


@dataclass(frozen=True, slots=True)
class Withdraw:
    channel: str
    id: str
    resolution: Resolution


@dataclass(frozen=True, slots=True)
class Release:
    """Evaluate the call again and report. `answer` approves it, or made the grant that does (`settled`).
    `stored` says that the answer is in the store already."""

    id: str
    answer: Answer | None
    _: KW_ONLY
    settled: bool = False
    stored: bool = False


@dataclass(frozen=True, slots=True)
class Finish:
    """The question has ended. Given once for each."""

    id: str
    resolution: Resolution


# Receipts: the results of answers


@dataclass(frozen=True, slots=True)
class Late:
    """The answer came after the question had ended, or after another answer. It changes nothing."""

    id: str
    ending: Ending
    who: str = ""
    channel: str = ""

    @property
    def words(self) -> str:
        if self.ending is not Ending.ANSWERED:
            return f"too late: the question has ended ({self.ending.value}); your answer changed nothing"
        place = f" in {self.channel}" if self.channel else ""
        return f"too late: {self.who or 'somebody'} answered first{place}; your answer changed nothing"


@dataclass(frozen=True, slots=True)
class Unknown:
    id: str

    @property
    def words(self) -> str:
        return f"no question has the id `{self.id}`; list the waiting ones and answer again"


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The digest of the answer differs from that of the question: it answered something else."""

    id: str
    words = "the answer does not match the question; look at the question again, then answer"


@dataclass(frozen=True, slots=True)
class Absent:
    """The agent that asked has not reconnected since a restart."""

    id: str
    words = "the agent that asked is not connected; answer once the question is shown again"


@dataclass(frozen=True, slots=True)
class Partial:
    """A yes from a channel that did not show the whole question. It changes nothing; a no would count."""

    id: str
    _: KW_ONLY
    possible: bool = True

    @property
    def words(self) -> str:
        where = ELSEWHERE if self.possible else NOWHERE
        return f"not all of this call is shown here, so it cannot be allowed here; {where}"


@dataclass(frozen=True, slots=True)
class Taken:
    """The answer counted. `note` is another error."""

    id: str
    resolution: Resolution
    note: str = ""

    @property
    def words(self) -> str:
        text = "allowed" if self.resolution.allowed else f"denied: {self.resolution.reason}"
        return f"{text}; {self.note}" if self.note else text


Refusal = Late | Unknown | Mismatch | Absent
Receipt = Taken | Refusal | Partial
Command = Show | Queue | StartClock | Withdraw | Release | Finish | Refusal


# The state of questions and channels


def session_of(held: Held) -> Session:
    return (held.call.runtime, held.call.session)


@dataclass(frozen=True, slots=True)
class Pending:
    """A question that has not ended. `position` counts from 0, the head; `deadline` is when its next clock ends."""

    held: Held
    state: QuestionState
    position: int
    deadline: float | None


@dataclass(frozen=True, slots=True)
class Leftover:
    """A question of a process that died. `deadline` is the last moment for its caller to come back, `shown` whether
    its clock had started, `answer` an approval that was given. `used` says that its release is used up: it can only
    end."""

    held: Held
    deadline: float
    _: KW_ONLY
    shown: bool = False
    answer: Answer | None = None
    used: bool = False

    def rebased(self, now: float, wall: float) -> Leftover:
        """The same with its deadline in the machine's time. Setting a clock back makes nobody wait longer; a question
        never shown may wait for its caller as long as for somebody to see it."""
        rest = min(self.deadline - wall, self.held.timeout) if self.shown else self.held.unseen
        if self.held.limit:
            rest = min(rest, self.held.made + self.held.limit - wall)
        return replace(self, deadline=now + rest)


@dataclass(eq=False, slots=True)
class Waiting:
    """The state of one question. Times are None while their clock is stopped."""

    held: Held
    state: QuestionState
    since: float
    end: float | None = None  # when the caller stops waiting
    seen: set[str] = field(default_factory=set)  # the channels that show it
    refused: set[str] = field(default_factory=set)  # the channels that could not
    problems: dict[str, str] = field(default_factory=dict)  # of these, why
    deadline: float | None = None  # the end of the clock that started when it was shown
    blind: float | None = None  # since when nobody can see it
    dark: float | None = None  # since when the last channel that showed it is closed
    due: float | None = None  # the first of the ends above
    answer: Answer | None = None
    settled: bool = False

    def __post_init__(self) -> None:
        self.end = self.since + self.held.limit if self.held.limit else None

    def late(self, ending: Ending) -> Late:
        """The receipt for an answer that comes after the one that counted."""
        by = self.answer
        return Late(self.held.id, ending) if by is None else Late(self.held.id, ending, by.who, by.channel)


@dataclass(eq=False, slots=True)
class OpenChannel:
    """The state of one channel. It shows `room` questions at a time (0: all of them): `shows` are those."""

    name: str
    room: int = 0
    shows: set[str] = field(default_factory=set)

    def is_full_for(self, id: str) -> bool:
        """Whether a question has to wait there until another one is done."""
        return bool(self.room) and id not in self.shows and len(self.shows) >= self.room


def overdue(question: Waiting, now: float) -> tuple[Ending, float, str]:
    """Which clock of an overdue question ended it, in order of priority."""
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
    """Why channels could not show a question; `""` if none said."""
    return ", ".join(f"the channel `{name}` failed: {why}" for name, why in question.problems.items())
