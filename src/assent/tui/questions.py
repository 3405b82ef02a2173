"""The state of the inbox: questions that wait or have just ended, offers, and the server's clock."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from itertools import groupby
from typing import TypeVar

from assent.approval import wire
from assent.contract import PayloadError
from assent.contract.approval import Ending, Held, Said, Scope
from assent.contract.display import code
from assent.tui.client import Data

E = TypeVar("E", bound=Enum)
D = TypeVar("D")
MOST_LINES = 2000  # of a preview that are drawn at first
LINGER = 12.0  # seconds that an ended question stays in the list


@dataclass(frozen=True, slots=True)
class Choice:
    """Rules that would repeat an answer: as the server takes them, as they are shown, and how much they match."""

    rules: tuple[str, ...]
    shown: tuple[str, ...]
    width: str


EXACT = Choice((), (), "this exact call only")


@dataclass(frozen=True, slots=True)
class Over:
    """How a question ended. `at` is when the inbox learned of it."""

    ending: Ending
    allowed: bool = False
    said: Said | None = None
    scope: Scope = Scope.ONCE
    who: str = ""
    channel: str = ""
    reason: str = ""
    at: float = 0.0


class InboxQuestion:
    """One question as it is now. `mine` says that it was answered here. `sent` is the number of characters of its
    preview that came with it, `text` the loaded part, `opened` whether all of it is loaded and drawn."""

    def __init__(
        self,
        held: Held,
        *,
        queued: bool,
        position: int,
        deadline: float | None,
        choices: tuple[Choice, ...],
        sent: int | None = None,
    ) -> None:
        self.held, self.choices = held, choices
        self.queued, self.position, self.deadline = queued, position, deadline
        self.text, self.opened = held.preview.text, False
        self.sent = held.preview.length if sent is None else sent
        self.over: Over | None = None
        self.mine = False

    def become(self, other: InboxQuestion) -> None:
        """Take over a newer state of the same question: dialogs keep a reference to this object."""
        before = self.held.digest
        self.held, self.queued, self.position = other.held, other.queued, other.position
        self.deadline, self.choices, self.over = other.deadline, other.choices, None
        if self.held.digest != before:
            self.sent, self.text, self.opened = other.sent, other.text, False

    @property
    def id(self) -> str:
        return self.held.id

    @property
    def whole(self) -> bool:
        """Whether all of it is shown: before that it cannot be allowed here."""
        return self.opened or (self.sent >= self.held.preview.length and self.text.count("\n") < MOST_LINES)

    @property
    def group(self) -> tuple[str, str, str]:
        return (self.held.call.runtime, self.held.call.session, self.held.project)

    def left(self, now: float) -> float | None:
        """The seconds to answer in; None while no clock runs."""
        return None if self.deadline is None or self.queued or self.over else self.deadline - now


@dataclass(frozen=True, slots=True)
class ModeOffer:
    """An offer of another mode or a deny rule, to a person who keeps saying no."""

    id: str
    session: str
    runtime: str
    modes: tuple[str, ...]
    rules: tuple[str, ...]
    words: str


class Questions:
    """Everything that the event stream reported. Times are of the local monotonic clock."""

    def __init__(self) -> None:
        self._all: dict[str, InboxQuestion] = {}
        self.offers: list[ModeOffer] = []
        self._ahead = 0.0  # of the server's clock, when it last sent the time

    def take(self, name: str, data: Data, clock: float) -> InboxQuestion | None:
        """Take one event, at a time of the monotonic clock. Returns the question if it is new. Raises PayloadError."""
        if isinstance(data.get("now"), int | float):
            self._ahead = float(data["now"]) - clock
        match name:
            case "hello":
                self._hello(frozenset(map(str, data.get("alive", ()))), clock)
                self.offers = []
                for each in data.get("offers", ()):
                    self._offer(each)
            case "held":
                return self._held(data)
            case "ended":
                self._ended(data, clock)
            case "offer":
                self._offer(data)
            case "offer-ended":
                self.drop_offer(str(data.get("id")))
        return None

    def __len__(self) -> int:
        return len(self._all)

    def get(self, id: str) -> InboxQuestion | None:
        return self._all.get(id)

    def waiting(self) -> list[InboxQuestion]:
        return [each for each in self._all.values() if each.over is None]

    def groups(self) -> list[list[InboxQuestion]]:
        """Questions by session: sessions with waiting questions first, the longest waiting first."""
        ordered = sorted(self._all.values(), key=lambda each: (each.group, *_rank(each)))
        found = [list(group) for _, group in groupby(ordered, key=lambda each: each.group)]
        return sorted(found, key=lambda group: (group[0].over is not None, group[0].held.made))

    def in_order(self) -> list[InboxQuestion]:
        return [each for group in self.groups() for each in group]

    def sweep(self, now: float) -> bool:
        """Drop what ended a while ago. Returns whether anything was dropped."""
        gone = [each.id for each in self._all.values() if each.over is not None and now - each.over.at > LINGER]
        for id in gone:
            del self._all[id]
        return bool(gone)

    def drop_offer(self, id: str) -> None:
        self.offers = [each for each in self.offers if each.id != id]

    # Events

    def _hello(self, alive: frozenset[str], clock: float) -> None:
        """Mark the questions that ended while the inbox was not connected."""
        for each in self._all.values():
            if each.over is None and each.id not in alive:
                each.over = Over(Ending.LOST, reason="it ended while the inbox was not connected", at=clock)

    def _held(self, data: Data) -> InboxQuestion | None:
        held = wire.read_held(data)
        deadline, position = data.get("deadline"), data.get("position")
        found = InboxQuestion(
            held,
            queued=data.get("state") == "queued",
            position=position if isinstance(position, int) else 0,
            deadline=float(deadline) - self._ahead if isinstance(deadline, int | float) else None,
            choices=tuple(map(_choice, data.get("suggestions") or ())) or (EXACT,),
            sent=_sent(data.get("preview")),
        )
        before = self._all.setdefault(held.id, found)
        if before is found:
            return found
        before.become(found)
        return None

    def _ended(self, data: Data, clock: float) -> None:
        question = self._all.get(str(data.get("id")))
        if question is None:
            return
        question.over = Over(
            _of(Ending, data.get("ending"), Ending.FAULT),
            allowed=data.get("allowed") is True,
            said=_of(Said, data.get("said"), None),
            scope=_of(Scope, data.get("scope"), Scope.ONCE),
            at=clock,
            **{name: str(data.get(name, "")) for name in ("who", "channel", "reason")},
        )

    def _offer(self, data: Data) -> None:
        texts = {name: str(data.get(name, "")) for name in ("id", "session", "runtime", "words")}
        lists = {name: tuple(map(str, data.get(name, ()))) for name in ("modes", "rules")}
        found = ModeOffer(**texts, **lists)  # type: ignore[arg-type]
        self.offers = [each for each in self.offers if (each.runtime, each.session) != (found.runtime, found.session)]
        self.offers.append(found)


def _rank(question: InboxQuestion) -> tuple[bool, int, float]:
    return (question.over is not None, question.position, question.held.made)


def _sent(preview: object) -> int | None:
    sent = preview.get("sent") if isinstance(preview, dict) else None
    return sent if isinstance(sent, int) else None


def _choice(data: object) -> Choice:
    if not isinstance(data, dict) or not isinstance(data.get("rules"), list):
        raise PayloadError("a suggested rule cannot be read")
    rules = tuple(map(str, data["rules"]))
    return Choice(rules, tuple(map(code, rules)), str(data.get("width", "")))


def _of(kind: type[E], value: object, default: D) -> E | D:
    return next((each for each in kind if each.value == value), default)
