"""The life of questions as a state machine: events in, commands out. Has no clock, no tasks, no files, no channels.

Every event carries the time. What is overdue at that time ends first, so no event can come too late and still count.

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

GRACE = 10.0  # seconds for a channel to come back, as after the reload of a page
REMEMBERED = 1024  # ended questions, so that late answers are told how
VISIBLE = frozenset({QuestionState.QUEUED, QuestionState.ASKED, QuestionState.SHOWN})  # waits for a person
HEAD = frozenset({QuestionState.ASKED, QuestionState.SHOWN})


class Machine:
    """All questions of one broker. `fixed`: no other channel will come, so that what failed in all of them ends."""

    def __init__(self, *, grace: float = GRACE, fixed: bool = False) -> None:
        self._grace = grace
        self._fixed = fixed
        self._questions: dict[str, Waiting] = {}
        self._queues: dict[Session, dict[str, Waiting]] = {}  # in the order of arrival
        self._places: dict[str, OpenChannel] = {}
        self._timers: list[tuple[float, str]] = []  # a heap; entries that no question is due at are stale
        self._ended: dict[str, tuple[str, Late]] = {}

    # What can be asked of it

    @property
    def wake(self) -> float | None:
        """When `tick` has something to do, or None."""
        while self._timers:
            at, id = self._timers[0]
            question = self._questions.get(id)
            if question is not None and question.due == at:
                return at
            heapq.heappop(self._timers)
        return None

    def pending(self) -> tuple[Pending, ...]:
        """Every question that has not ended, session by session."""
        found = [
            Pending(each.held, each.state, position, each.due)
            for queue in self._queues.values()
            for position, each in enumerate(queue.values())
        ]
        lost = (each for each in self._questions.values() if each.state is QuestionState.LOST)
        return (*found, *(Pending(each.held, each.state, 0, each.due) for each in lost))

    def state(self, id: str) -> QuestionState | None:
        """The state of a question, None where it has ended or never was."""
        question = self._questions.get(id)
        return None if question is None else question.state

    def siblings(self, id: str) -> tuple[Held, ...]:
        """The other questions of the same session that wait for a person."""
        question = self._questions.get(id)
        return () if question is None else tuple(h for h in self.waiting(session_of(question.held)) if h.id != id)

    def waiting(self, session: Session) -> tuple[Held, ...]:
        """The questions of a session that wait for a person."""
        return tuple(each.held for each in self._queues.get(session, {}).values() if each.state in VISIBLE)

    # Events

    def submit(self, held: Held, now: float) -> list[Command]:
        """A call is to be asked about."""
        if held.id in self._questions or held.id in self._ended:
            raise ValueError(f"the id `{held.id}` was used before; every question needs its own")
        if not held.id or not held.digest:
            raise ValueError("a question needs an id and a digest, which its answer is bound to")
        if not (0 < held.timeout < math.inf and 0 < held.unseen < math.inf and 0 <= held.limit < math.inf):
            raise ValueError("a question needs an end to its waiting: `timeout` and `unseen` are positive seconds")
        return self.tick(now) + self._enter(Waiting(held, QuestionState.QUEUED, now), now)

    def attached(self, channel: str, now: float, *, room: int = 0) -> list[Command]:
        """A channel opened, or opened again: it gets to see everything that waits. One with `room` shows so many
        questions at a time; what waits for its turn there counts as seen, and its clock does not run."""
        commands = self.tick(now)
        place = self._places[channel] = OpenChannel(channel, room)
        for queue in self._queues.values():
            for position, question in enumerate(queue.values()):
                question.seen.discard(channel)
                question.refused.discard(channel)
                if question.state in HEAD:
                    commands += self._ask_in(place, question)
                elif question.state is QuestionState.QUEUED:
                    commands.append(Queue(channel, question.held, position))
        self._all_clocks(now)
        return commands

    def detached(self, channel: str, now: float) -> list[Command]:
        """A channel closed. What it alone showed is lost after the grace."""
        commands = self.tick(now)
        self._places.pop(channel, None)
        for question in self._questions.values():
            question.seen.discard(channel)
        self._all_clocks(now)
        return commands

    def shown(self, id: str, channel: str, now: float) -> list[Command]:
        """A question was delivered to a channel: its clock starts, if it does not run."""
        commands = self.tick(now)
        question = self._questions.get(id)
        if question is None or question.state not in HEAD or channel not in self._places:
            return commands
        question.seen.add(channel)
        question.state = QuestionState.SHOWN
        if question.deadline is None:
            end = now + question.held.timeout
            question.deadline = end if question.end is None else min(end, question.end)
            commands.append(StartClock(id, channel, question.deadline))
        self._clocks(question, now)
        return commands

    def undeliverable(self, id: str, channel: str, now: float, detail: str = "") -> list[Command]:
        """A channel could not show a question, or shows it no longer. `detail` is what went wrong there."""
        commands = self.tick(now)
        question = self._questions.get(id)
        place = self._places.get(channel)
        if question is None or place is None:
            return commands
        question.seen.discard(channel)
        question.refused.add(channel)
        if detail:
            question.problems[channel] = detail
        self._clocks(question, now)
        commands += self._next_turn(place, id, now)
        if self._fixed and question.problems.keys() >= self._places.keys():
            commands += self._end(id, Ending.UNSEEN, now, detail=failures(question), states=VISIBLE)
        return commands

    def answer(self, id: str, digest: str, answer: Answer, now: float) -> list[Command]:
        """A person answered. What does not count is told why, as the last command."""
        commands = self.tick(now)
        question = self._questions.get(id)
        if question is None:
            ended = self._ended.get(id)
            return [*commands, Unknown(id) if ended is None else ended[1] if ended[0] == digest else Mismatch(id)]
        if digest != question.held.digest:
            return [*commands, Mismatch(id)]
        if question.state is QuestionState.LOST:
            return [*commands, Absent(id)]
        if question.state is QuestionState.RELEASING:
            by = question.answer
            ending = Ending.SETTLED if question.settled else Ending.ANSWERED
            return [*commands, Late(id, ending, "" if by is None else by.who, "" if by is None else by.channel)]
        question.answer = answer
        if answer.said is Said.ALLOW:
            return [*commands, *self._release(question, now)]
        stopped = self._stopped(question, now) if answer.said is Said.STOP else []
        return [*commands, *stopped, *self._deny(question, Ending.ANSWERED, now)]

    def rechecked(self, id: str, recheck: Recheck, now: float) -> list[Command]:
        """The second look at an approved call. The only event after which a call may run."""
        commands = self.tick(now)
        question = self._questions.get(id)
        if question is None or question.state is not QuestionState.RELEASING:
            return commands
        if recheck.verdict is SecondLook.STANDS:
            return [*commands, *self._finish(question, self._approval(question, now), now)]
        ending = Ending.CHANGED if recheck.verdict is SecondLook.CHANGED else Ending.OVERRULED
        return [*commands, *self._deny(question, ending, now, recheck.reason)]

    def settle(self, ids: Iterable[str], now: float, answer: Answer | None = None) -> list[Command]:
        """A grant that came in the meantime settles these. `answer` is the one that made it."""
        commands = self.tick(now)
        for id in ids:
            question = self._questions.get(id)
            if question is not None and question.state in VISIBLE:
                question.answer, question.settled = answer, True
                commands += self._release(question, now)
        return commands

    def dismissed(self, id: str, channel: str, now: float) -> list[Command]:
        """Somebody looked at a question and put it away."""
        return self._end(id, Ending.DISMISSED, now, detail=f"in {channel}" if channel else "", states=VISIBLE)

    def unseen(self, id: str, now: float, detail: str = "") -> list[Command]:
        """A channel knows that nobody will see the question."""
        return self._end(id, Ending.UNSEEN, now, detail=detail, states=VISIBLE)

    def cancel(self, id: str, now: float, detail: str = "") -> list[Command]:
        """The caller went away or withdrew."""
        return self._end(id, Ending.CANCELLED, now, detail=detail)

    def fault(self, id: str, now: float, detail: str = "") -> list[Command]:
        """Something broke around a question."""
        return self._end(id, Ending.FAULT, now, detail=detail)

    def lose(self, leftovers: Iterable[Leftover], now: float) -> list[Command]:
        """Questions of a process that died. They wait for their callers until their deadlines."""
        commands = self.tick(now)
        for left in leftovers:
            if left.held.id in self._questions or left.held.id in self._ended:
                continue
            question = Waiting(left.held, QuestionState.LOST, now)
            self._questions[left.held.id] = question
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
        """The caller of a question is back. A lost one is asked again, or its unused approval is looked at again."""
        commands = self.tick(now)
        question = self._questions.get(id)
        if question is None:
            ended = self._ended.get(id)
            return [*commands, Unknown(id) if ended is None else ended[1] if ended[0] == digest else Mismatch(id)]
        if digest != question.held.digest:
            return [*commands, Mismatch(id)]
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
        """Time passes: what is overdue ends."""
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

    # How it is done

    def _enter(self, question: Waiting, now: float) -> list[Command]:
        """Into the queue of its session; and to the front, if nothing is there."""
        held = question.held
        question.state = QuestionState.QUEUED
        self._questions[held.id] = question
        queue = self._queues.setdefault(session_of(held), {})
        queue[held.id] = question
        commands = self._promote(session_of(held), now)
        if question.state is QuestionState.QUEUED:
            commands += [Queue(channel, held, len(queue) - 1) for channel in self._places]
        self._clocks(question, now)
        return commands

    def _promote(self, session: Session, now: float) -> list[Command]:
        """Ask the next question of a session, unless one is asked, or one is released and may settle the next."""
        # INVARIANT: at most one question of a session is asked.
        queue = self._queues.get(session, {})
        if any(each.state is not QuestionState.QUEUED for each in queue.values()):
            return []
        for question in queue.values():
            question.state = QuestionState.ASKED
            commands = [each for place in self._places.values() for each in self._ask_in(place, question)]
            self._clocks(question, now)
            return commands
        return []

    def _ask_in(self, place: OpenChannel, question: Waiting) -> list[Command]:
        """Show a question in a channel. One that is busy with others lists it; a serial one has no place for a list."""
        if place.is_full_for(question.held.id):
            return [Queue(place.name, question.held, 0)] if place.room > 1 else []
        if place.room:
            place.shows.add(question.held.id)
        return [Show(place.name, question.held, question.deadline)]

    def _next_turn(self, place: OpenChannel, id: str, now: float) -> list[Command]:
        """A channel is done with a question: one that had no room for more turns to the next, of whichever session."""
        if id not in place.shows:
            return []
        place.shows.discard(id)
        for queue in self._queues.values():
            for question in queue.values():
                waits = question.state in HEAD and question.held.id not in place.shows
                if waits and place.name not in question.seen | question.refused:
                    commands = self._ask_in(place, question)
                    self._clocks(question, now)
                    return commands
        return []

    def _release(self, question: Waiting, now: float, *, stored: bool = False) -> list[Command]:
        question.state = QuestionState.RELEASING
        self._clocks(question, now)
        return [Release(question.held.id, question.answer, settled=question.settled, stored=stored)]

    def _stopped(self, question: Waiting, now: float) -> list[Command]:
        """A person wants the agent to stop: what else its session waits for ends too, before any of it is asked."""
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
        if question is None or (states is not None and question.state not in states):
            return commands
        return [*commands, *self._deny(question, ending, now, detail)]

    def _deny(self, question: Waiting, ending: Ending, now: float, detail: str = "") -> list[Command]:
        waited = max(0.0, now - question.since)
        resolution = deny(question.held.id, ending, answer=question.answer, detail=detail, waited=waited)
        return self._finish(question, resolution, now)

    def _approval(self, question: Waiting, now: float) -> Resolution:
        """The only place where a question ends with an allowed call."""
        # INVARIANT: reached through one ALLOW answer to this digest, or a grant, and a second look that stands.
        answer, waited = question.answer, max(0.0, now - question.since)
        if question.settled:
            reason = "a grant that was given while it waited settles it"
            return Resolution(
                question.held.id, Ending.SETTLED, allowed=True, answer=answer, reason=reason, waited=waited
            )
        if answer is None or answer.said is not Said.ALLOW:
            return deny(question.held.id, Ending.FAULT, detail="released without an approval", waited=waited)
        return approve(question.held.id, answer, waited=waited)

    def _finish(self, question: Waiting, resolution: Resolution, now: float) -> list[Command]:
        held, by = question.held, question.answer
        del self._questions[held.id]
        late = Late(held.id, resolution.ending, "" if by is None else by.who, "" if by is None else by.channel)
        self._ended[held.id] = (held.digest, late)
        if len(self._ended) > REMEMBERED:
            del self._ended[next(iter(self._ended))]
        self._sweep()
        commands: list[Command] = [Finish(held.id, resolution)]
        if question.state is QuestionState.LOST:
            return commands
        commands += [Withdraw(channel, held.id, resolution) for channel in self._places]
        session = session_of(held)
        queue = self._queues.get(session)
        if queue is not None:
            queue.pop(held.id, None)
            if not queue:
                del self._queues[session]
        for place in self._places.values():
            commands += self._next_turn(place, held.id, now)
        return commands + self._promote(session, now)

    def _visible(self, question: Waiting) -> bool:
        """Whether somebody can see a question: in a channel, in its queue, or behind others where there is no room."""
        if question.state not in HEAD:
            return bool(self._places)
        if question.seen:
            return True
        busy = (each for each in self._places.values() if each.is_full_for(question.held.id))
        return any(each.name not in question.refused for each in busy)

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
        ends = [each for each in (question.deadline, question.end) if each is not None]
        if question.dark is not None:
            ends.append(question.dark + self._grace)
        if question.blind is not None:
            ends.append(question.blind + question.held.unseen)
        due = None if question.state is QuestionState.RELEASING or not ends else min(ends)
        if due != question.due and due is not None:
            heapq.heappush(self._timers, (due, question.held.id))
        question.due = due

    def _sweep(self) -> None:
        """Drop stale timers once they are the most."""
        if len(self._timers) > 64 + 2 * len(self._questions):
            self._timers = [(each.due, id) for id, each in self._questions.items() if each.due is not None]
            heapq.heapify(self._timers)
