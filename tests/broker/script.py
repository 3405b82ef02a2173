"""A small language for plays with the machine: `play.at(5).answer("a", YES) >> "release a"`.

The output of the machine is one line of text per command; whole objects are compared if it matters."""

from __future__ import annotations

from assent.approval.commands import (
    Absent,
    Command,
    Finish,
    Late,
    Leftover,
    Mismatch,
    Queue,
    Recheck,
    Release,
    SecondLook,
    Show,
    StartClock,
    Unknown,
    Withdraw,
)
from assent.approval.machine import Machine
from assent.contract.approval import Answer, Held
from tests.broker.stage import held


def line(command: Command) -> str:
    """One command in words."""
    match command:
        case Show(channel=channel, held=question, deadline=deadline):
            return f"show {question.id} in {channel}" + ("" if deadline is None else f" until {deadline:g}")
        case Queue(channel=channel, held=question, position=position):
            return f"queue {question.id} in {channel} at {position}"
        case StartClock(id=id, channel=channel, deadline=deadline):
            return f"start {id} in {channel} until {deadline:g}"
        case Withdraw(channel=channel, id=id):
            return f"withdraw {id} from {channel}"
        case Release(id=id, settled=settled, stored=stored):
            return f"release {id}" + (" settled" if settled else "") + (" stored" if stored else "")
        case Finish(id=id, resolution=resolution):
            return f"finish {id} {resolution.ending.value}" + (" allowed" if resolution.allowed else "")
        case Late(id=id, ending=ending, who=who, channel=channel):
            return f"late {id} {ending.value}" + (f" by {who} in {channel}" if who else "")
        case Unknown(id=id):
            return f"unknown {id}"
        case Mismatch(id=id):
            return f"mismatch {id}"
        case Absent(id=id):
            return f"absent {id}"


class Step:
    """What the machine said to one event."""

    def __init__(self, play: Play, commands: list[Command]) -> None:
        self.play = play
        self.commands = commands

    def __rshift__(self, expected: str) -> Play:
        assert ", ".join(line(command) for command in self.commands) == expected
        return self.play


class Play:
    """A machine, the time, and questions by their names."""

    def __init__(self, *channels: str, serial: bool = False) -> None:
        self.machine = Machine()
        self.now = 0.0
        self.finished: dict[str, Finish] = {}
        for channel in channels:
            self.machine.attached(channel, 0.0, room=int(serial))

    def at(self, now: float) -> Play:
        self.now = now
        return self

    def states(self) -> str:
        return ", ".join(f"{each.held.id} {each.state.value}" for each in self.machine.pending())

    def _step(self, commands: list[Command]) -> Step:
        for command in commands:
            if isinstance(command, Finish):
                assert command.id not in self.finished, "a question ends once"
                self.finished[command.id] = command
        return Step(self, commands)

    def submit(self, id: str, session: str = "s", *, timeout: float = 300, unseen: float = 60) -> Step:
        question = held(id, session=session, timeout=timeout, unseen=unseen)
        return self._step(self.machine.submit(question, self.now))

    def attached(self, channel: str) -> Step:
        return self._step(self.machine.attached(channel, self.now))

    def detached(self, channel: str) -> Step:
        return self._step(self.machine.detached(channel, self.now))

    def shown(self, id: str, channel: str = "desk") -> Step:
        return self._step(self.machine.shown(id, channel, self.now))

    def undeliverable(self, id: str, channel: str = "desk") -> Step:
        return self._step(self.machine.undeliverable(id, channel, self.now))

    def answer(self, id: str, answer: Answer, digest: str | None = None) -> Step:
        return self._step(self.machine.answer(id, f"digest of {id}" if digest is None else digest, answer, self.now))

    def rechecked(self, id: str, verdict: SecondLook = SecondLook.STANDS, reason: str = "") -> Step:
        return self._step(self.machine.rechecked(id, Recheck(verdict, reason), self.now))

    def settle(self, *ids: str, answer: Answer | None = None) -> Step:
        return self._step(self.machine.settle(ids, self.now, answer))

    def dismissed(self, id: str, channel: str = "desk") -> Step:
        return self._step(self.machine.dismissed(id, channel, self.now))

    def unseen(self, id: str) -> Step:
        return self._step(self.machine.unseen(id, self.now))

    def cancel(self, id: str) -> Step:
        return self._step(self.machine.cancel(id, self.now))

    def fault(self, id: str) -> Step:
        return self._step(self.machine.fault(id, self.now, "the disk is full"))

    def lose(self, *left: Leftover) -> Step:
        return self._step(self.machine.lose(left, self.now))

    def reattach(self, id: str, digest: str | None = None) -> Step:
        return self._step(self.machine.reattach(id, f"digest of {id}" if digest is None else digest, self.now))

    def tick(self) -> Step:
        return self._step(self.machine.tick(self.now))

    def close(self) -> Step:
        return self._step(self.machine.close(self.now))


def shown_question(id: str = "a", *, timeout: float = 300) -> Play:
    """A play that has come to one question on one desk."""
    play = Play("desk")
    play.submit(id, timeout=timeout) >> f"show {id} in desk"
    play.shown(id) >> f"start {id} in desk until {timeout:g}"
    return play


def left_over(
    id: str, deadline: float, *, answer: Answer | None = None, shown: bool = True, used: bool = False
) -> Leftover:
    question: Held = held(id)
    return Leftover(question, deadline, shown=shown, answer=answer, used=used)
