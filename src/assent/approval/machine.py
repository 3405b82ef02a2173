"""The life of questions as a state machine: events in, commands out. Has no clock, tasks, files or channels.

Every event carries the time. Overdue questions end first, so a late event never counts.

  submitted ─▶ queued ─▶ asked ─▶ shown ─▶ releasing ─▶ answered / overruled / changed
                 └────────┴────────┴──▶ every other ending is a denial"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable

from assent.approval.commands import (
    Absent,
    Command,
    Finish,
    Late,
    Leftover,
    Mismatch,
    OpenChannel,
    Pending,
    QuestionState,
    Queue,
    Recheck,
    Refusal,
    Release,
    SecondLook,
    Session,
    Show,
    StartClock,
    Unknown,
    Waiting,
    Withdraw,
    failures,
    overdue,
    session_of,
)
from assent.approval.denial import approve, deny
from assent.contract.approval import Answer, Ending, Held, Resolution, Said

GRACE = 10.0  # seconds for a channel to come back, for example after a page reload
REMEMBERED = 1024  # ended questions, so that late answers learn how they ended
HEAD = frozenset({QuestionState.ASKED, QuestionState.SHOWN})
VISIBLE = HEAD | {QuestionState.QUEUED}  # waits for a person


class Machine:
    """All questions of one broker. `fixed`: no other channel is attached later, so a question that failed in all of
    them ends."""

    def __init__(self, *, grace: float = GRACE, fixed: bool = False) -> None:
        self._grace = grace
        self._fixed = fixed
        self._questions: dict[str, Waiting] = {}
        self._queues: dict[Session, dict[str, Waiting]] = {}  # in the order of arrival
        self._channels: dict[str, OpenChannel] = {}
        self._timers: list[tuple[float, str]] = []  # a heap; entries without a due question are stale
        self._ended: dict[str, tuple[str, Late]] = {}

    # State

    @property
    def wake(self) -> float | None:
        """When `tick` has something to do, or None."""
        while self._timers:
            at, id = self._timers[0]
            if id in self._questions and self._questions[id].due == at:
                return at
            heapq.heappop(self._timers)
        return None

    def pending(self) -> tuple[Pending, ...]:
        """Every question that has not ended, session by session."""
        queues = [list(queue.values()) for queue in self._queues.values()]
        lost = [[each] for each in self._questions.values() if each.state is QuestionState.LOST]
        return tuple(
            Pending(each.held, each.state, position, each.due)
            for questions in (*queues, *lost)
            for position, each in enumerate(questions)
        )

    def state(self, id: str) -> QuestionState | None:
        """None if the question has ended or never was."""
        return self._questions[id].state if id in self._questions else None

    def waiting(self, session: Session) -> tuple[Held, ...]:
        """The questions of a session that wait for a person."""
        return tuple(each.held for each in self._queues.get(session, {}).values() if each.state in VISIBLE)

    # Events

    def submit(self, held: Held, now: float) -> list[Command]:
        if held.id in self._questions or held.id in self._ended:
            raise ValueError(f"the id `{held.id}` was used before; every question needs its own")
        if not held.id or not held.digest:
            raise ValueError("a question needs an id and a digest, which its answer is bound to")
        if not (0 < held.timeout < math.inf and 0 < held.unseen < math.inf and 0 <= held.limit < math.inf):
            raise ValueError("a question needs an end to its waiting: `timeout` and `unseen` are positive seconds")
        return self.tick(now) + self._enter(Waiting(held, QuestionState.QUEUED, now), now)

    def attached(self, name: str, now: float, *, room: int = 0) -> list[Command]:
        """A channel opened, or opened again: it receives all waiting questions. One with `room` shows so many questions
        at a time; one that waits for its turn there counts as seen, and its clock does not run."""
        commands = self.tick(now)
        channel = self._channels[name] = OpenChannel(name, room)
        for queue in self._queues.values():
            for position, question in enumerate(queue.values()):
                question.seen.discard(name)
                question.refused.discard(name)
                if question.state in HEAD:
                    commands += self._ask_in(channel, question)
                elif question.state is QuestionState.QUEUED:
                    commands.append(Queue(name, question.held, position))
        self._all_clocks(now)
        return commands

    def detached(self, name: str, now: float) -> list[Command]:
        """A channel closed. Questions shown only there are lost after the grace period."""
        commands = self.tick(now)
        self._channels.pop(name, None)
        for question in self._questions.values():
            question.seen.discard(name)
        self._all_clocks(now)
        return commands

    def shown(self, id: str, channel: str, now: float) -> list[Command]:
        """A question was delivered to a channel: its clock starts, if it does not run."""
        commands = self.tick(now)
        question = self._questions.get(id)
        if question is not None and question.state in HEAD and channel in self._channels:
            question.seen.add(channel)
            question.state = QuestionState.SHOWN
            if question.deadline is None:
                end = now + question.held.timeout
                question.deadline = end if question.end is None else min(end, question.end)
                commands.append(StartClock(id, channel, question.deadline))
            self._clocks(question, now)
        return commands

    def undeliverable(self, id: str, name: str, now: float, detail: str = "") -> list[Command]:
        """A channel could not show a question, or shows it no longer. `detail` is the error."""
        commands = self.tick(now)
        question, channel = self._questions.get(id), self._channels.get(name)
        if question is not None and channel is not None:
            question.seen.discard(name)
            question.refused.add(name)
            if detail:
                question.problems[name] = detail
            self._clocks(question, now)
            commands += self._next_turn(channel, id, now)
            if self._fixed and question.problems.keys() >= self._channels.keys():
                commands += self._end(id, Ending.UNSEEN, now, detail=failures(question), states=VISIBLE)
        return commands

    def answer(self, id: str, digest: str, answer: Answer, now: float) -> list[Command]:
        """A person answered. The last command says why an answer does not count."""
        commands = self.tick(now)
        question = self._matching(id, digest)
        if not isinstance(question, Waiting):
            return [*commands, question]
        if question.state is QuestionState.LOST:
            return [*commands, Absent(id)]
        if question.state is QuestionState.RELEASING:
            return [*commands, question.late(Ending.SETTLED if question.settled else Ending.ANSWERED)]
        question.answer = answer
        if answer.said is Said.ALLOW:
            return [*commands, *self._release(question, now)]
        stopped = self._stopped(question, now) if answer.said is Said.STOP else []
        return [*commands, *stopped, *self._deny(question, Ending.ANSWERED, now)]

    def rechecked(self, id: str, recheck: Recheck, now: float) -> list[Command]:
        """An approved call was evaluated again. The only event after which a call may run."""
        commands = self.tick(now)
        question = self._questions.get(id)
        if question is None or question.state is not QuestionState.RELEASING:
            return commands
        if recheck.verdict is SecondLook.STANDS:
            return [*commands, *self._finish(question, self._approval(question, now), now)]
        ending = Ending.CHANGED if recheck.verdict is SecondLook.CHANGED else Ending.OVERRULED
        return [*commands, *self._deny(question, ending, now, recheck.reason)]

    def settle(self, ids: Iterable[str], now: float, answer: Answer | None = None) -> list[Command]:
        """A new grant settles these. `answer` is the one that made it."""
        commands = self.tick(now)
        for question in (self._questions[id] for id in ids if self.state(id) in VISIBLE):
            question.answer, question.settled = answer, True
            commands += self._release(question, now)
        return commands

    def dismissed(self, id: str, channel: str, now: float) -> list[Command]:
        return self._end(id, Ending.DISMISSED, now, detail=f"in {channel}" if channel else "", states=VISIBLE)

    def unseen(self, id: str, now: float, detail: str = "") -> list[Command]:
        """A channel knows that nobody will see the question."""
        return self._end(id, Ending.UNSEEN, now, detail=detail, states=VISIBLE)

    def cancel(self, id: str, now: float, detail: str = "") -> list[Command]:
        return self._end(id, Ending.CANCELLED, now, detail=detail)

    def fault(self, id: str, now: float, detail: str = "") -> list[Command]:
        return self._end(id, Ending.FAULT, now, detail=detail)

    def lose(self, leftovers: Iterable[Leftover], now: float) -> list[Command]:
        """Questions of a process that died. They wait for their callers until their deadlines."""
        commands = self.tick(now)
        for left in leftovers:
            if left.held.id in self._questions or left.held.id in self._ended:
                continue
            question = self._questions[left.held.id] = Waiting(left.held, QuestionState.LOST, now)
            if left.used:
                commands += self._deny(question, Ending.LOST, now, "the process that released it died")
                continue
            question.deadline = left.deadline if left.shown else None
            question.end = left.deadline if left.held.limit else None
            question.blind = None if left.shown else left.deadline - left.held.unseen
            question.answer = left.answer
            self._clocks(question, now)
        return commands + self.tick(now)

    def reattach(self, id: str, digest: str, now: float) -> list[Command]:
        """The caller of a question is back. A lost one is asked again, or its unused approval is re-evaluated."""
        commands = self.tick(now)
        question = self._matching(id, digest)
        if not isinstance(question, Waiting):
            return [*commands, question]
        if question.state is QuestionState.RELEASING:
            return [*commands, Late(id, Ending.ANSWERED)]
        if question.state is not QuestionState.LOST:
            return commands
        question.since, question.blind = now, None
        if question.answer is None:
            del self._questions[id]
            return [*commands, *self._enter(question, now)]
        self._queues.setdefault(session_of(question.held), {})[id] = question
        return [*commands, *self._release(question, now, stored=True)]

    def tick(self, now: float) -> list[Command]:
        """Time passes: overdue questions end."""
        commands: list[Command] = []
        while (at := self.wake) is not None and at <= now:
            question = self._questions[heapq.heappop(self._timers)[1]]
            commands += self._deny(question, *overdue(question, now))
        return commands

    def close(self, now: float) -> list[Command]:
        """The gate shuts down: everything ends, and nothing is asked in its place."""
        commands = self.tick(now)
        self._queues.clear()
        for question in list(self._questions.values()):
            commands += self._deny(question, Ending.CLOSED, now)
        return commands

    # Transitions

    def _matching(self, id: str, digest: str) -> Waiting | Refusal:
        """The question with this id and digest, or why there is none."""
        question, (known, late) = self._questions.get(id), self._ended.get(id, ("", Unknown(id)))
        if question is not None:
            return question if digest == question.held.digest else Mismatch(id)
        return late if isinstance(late, Unknown) or known == digest else Mismatch(id)

    def _enter(self, question: Waiting, now: float) -> list[Command]:
        """Put a question into the queue of its session; ask it at once if the queue is empty."""
        held = question.held
        question.state = QuestionState.QUEUED
        self._questions[held.id] = question
        queue = self._queues.setdefault(session_of(held), {})
        queue[held.id] = question
        commands = self._promote(session_of(held), now)
        if question.state is QuestionState.QUEUED:
            commands += [Queue(channel, held, len(queue) - 1) for channel in self._channels]
        self._clocks(question, now)
        return commands

    def _promote(self, session: Session, now: float) -> list[Command]:
        """Ask the next question of a session, unless one is being asked, or a released one may settle the next."""
        # INVARIANT: at most one question of a session is asked.
        queue = self._queues.get(session, {})
        if not queue or any(each.state is not QuestionState.QUEUED for each in queue.values()):
            return []
        question = next(iter(queue.values()))
        question.state = QuestionState.ASKED
        commands = [each for channel in self._channels.values() for each in self._ask_in(channel, question)]
        self._clocks(question, now)
        return commands

    def _ask_in(self, channel: OpenChannel, question: Waiting) -> list[Command]:
        """Show a question in a channel. One that is full lists it; a serial one has no place for a list."""
        if channel.is_full_for(question.held.id):
            return [Queue(channel.name, question.held, 0)] if channel.room > 1 else []
        if channel.room:
            channel.shows.add(question.held.id)
        return [Show(channel.name, question.held, question.deadline)]

    def _next_turn(self, channel: OpenChannel, id: str, now: float) -> list[Command]:
        """A channel is done with a question: if it was full, it shows the next one, of any session."""
        if id not in channel.shows:
            return []
        channel.shows.discard(id)
        for question in (each for queue in self._queues.values() for each in queue.values()):
            waits = question.state in HEAD and question.held.id not in channel.shows
            if waits and channel.name not in question.seen | question.refused:
                commands = self._ask_in(channel, question)
                self._clocks(question, now)
                return commands
        return []

    def _release(self, question: Waiting, now: float, *, stored: bool = False) -> list[Command]:
        question.state = QuestionState.RELEASING
        self._clocks(question, now)
        return [Release(question.held.id, question.answer, settled=question.settled, stored=stored)]

    def _stopped(self, question: Waiting, now: float) -> list[Command]:
        """A person wants the agent to stop: the other waiting questions of its session end unasked."""
        commands: list[Command] = []
        for each in list(self._queues.get(session_of(question.held), {}).values()):
            if each is not question and each.state in VISIBLE:
                each.answer = question.answer
                commands += self._deny(each, Ending.SETTLED, now)
        return commands

    def _end(
        self, id: str, ending: Ending, now: float, *, detail: str, states: frozenset[QuestionState] | None = None
    ) -> list[Command]:
        commands = self.tick(now)
        question = self._questions.get(id)
        if question is not None and (states is None or question.state in states):
            commands += self._deny(question, ending, now, detail)
        return commands

    def _deny(self, question: Waiting, ending: Ending, now: float, detail: str = "") -> list[Command]:
        waited = max(0.0, now - question.since)
        resolution = deny(question.held.id, ending, answer=question.answer, detail=detail, waited=waited)
        return self._finish(question, resolution, now)

    def _approval(self, question: Waiting, now: float) -> Resolution:
        """The only place where a question ends with an allowed call."""
        # INVARIANT: reached through one ALLOW answer to this digest, or a grant, and a confirming second look.
        id, answer, waited = question.held.id, question.answer, max(0.0, now - question.since)
        if question.settled:
            reason = "a grant that was given while it waited settles it"
            return Resolution(id, Ending.SETTLED, allowed=True, answer=answer, reason=reason, waited=waited)
        if answer is None or answer.said is not Said.ALLOW:
            return deny(id, Ending.FAULT, detail="released without an approval", waited=waited)
        return approve(id, answer, waited=waited)

    def _finish(self, question: Waiting, resolution: Resolution, now: float) -> list[Command]:
        held, session = question.held, session_of(question.held)
        del self._questions[held.id]
        self._ended[held.id] = (held.digest, question.late(resolution.ending))
        if len(self._ended) > REMEMBERED:
            del self._ended[next(iter(self._ended))]
        self._drop_stale_timers()
        commands: list[Command] = [Finish(held.id, resolution)]
        if question.state is QuestionState.LOST:
            return commands
        commands += [Withdraw(channel, held.id, resolution) for channel in self._channels]
        queue = self._queues.get(session, {})
        queue.pop(held.id, None)
        if not queue:
            self._queues.pop(session, None)
        for channel in self._channels.values():
            commands += self._next_turn(channel, held.id, now)
        return commands + self._promote(session, now)

    def _visible(self, question: Waiting) -> bool:
        """Whether somebody can see a question: in a channel, in its queue, or behind others in a full channel."""
        if question.state not in HEAD:
            return bool(self._channels)
        full = (each for each in self._channels.values() if each.is_full_for(question.held.id))
        return bool(question.seen) or any(each.name not in question.refused for each in full)

    def _all_clocks(self, now: float) -> None:
        for question in self._questions.values():
            self._clocks(question, now)

    def _clocks(self, question: Waiting, now: float) -> None:
        """Start and stop the clocks of a question by who can see it, and note which ends first."""
        if question.state in VISIBLE:
            visible = self._visible(question)
            was_shown = question.state is QuestionState.SHOWN
            question.dark = None if visible or not was_shown else now if question.dark is None else question.dark
            question.blind = None if visible or was_shown else now if question.blind is None else question.blind
        dark = None if question.dark is None else question.dark + self._grace
        blind = None if question.blind is None else question.blind + question.held.unseen
        ends = [each for each in (question.deadline, question.end, dark, blind) if each is not None]
        due = None if question.state is QuestionState.RELEASING or not ends else min(ends)
        if due != question.due and due is not None:
            heapq.heappush(self._timers, (due, question.held.id))
        question.due = due

    def _drop_stale_timers(self) -> None:
        """Once they are the majority."""
        if len(self._timers) > 64 + 2 * len(self._questions):
            self._timers = [(each.due, id) for id, each in self._questions.items() if each.due is not None]
            heapq.heapify(self._timers)
