"""Laws of the machine under any order of events, with a naive model beside it."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from assent.approval.commands import (
    Command,
    Finish,
    Leftover,
    QuestionState,
    Recheck,
    Release,
    SecondLook,
    Show,
    StartClock,
    Withdraw,
    session_of,
)
from assent.approval.machine import Machine
from assent.contract.approval import Answer, Ending, Held, Said
from tests.broker.stage import held
from tests.examples import examples

CHANNELS = ("desk", "phone", "teletype")
ANSWERS = tuple(Answer(said, who=who, channel="desk") for said in Said for who in ("ada", "ben"))
VERDICTS = tuple(Recheck(verdict) for verdict in SecondLook)


class Questions(RuleBasedStateMachine):
    """Events at random. The model knows only: who was submitted, which answers were valid, what was released."""

    ids = Bundle("ids")

    def __init__(self) -> None:
        super().__init__()
        self.machine = Machine()
        self.now = 0.0
        self.count = 0
        self.submitted: dict[str, Held] = {}
        self.finished: dict[str, Finish] = {}
        self.approved: dict[str, list[Answer]] = {}  # ALLOW answers to the right digest, or stored ones
        self.settled: set[str] = set()
        self.released: list[str] = []
        self.stands: set[str] = set()
        self.started: dict[str, float] = {}
        self.open: set[str] = set()

    def take(self, commands: list[Command], *, closing: bool = False) -> None:
        for command in commands:
            match command:
                case Finish(id=id):
                    assert id in self.submitted
                    assert id not in self.finished, "a question ends once"
                    self.finished[id] = command
                case Release(id=id):
                    assert id not in self.released, "an approval is released once"
                    self.released.append(id)
                case Show(channel=channel, held=question):
                    assert channel in self.open
                    assert question.id not in self.finished
                    assert not closing
                case Withdraw(id=id):
                    assert id in self.finished
                case StartClock(id=id, deadline=deadline):
                    assert id not in self.started, "a clock starts once"
                    assert deadline == self.now + self.submitted[id].timeout
                    self.started[id] = deadline

    @initialize()
    def begin(self) -> None:
        self.attach("desk", False)

    @rule(
        target=ids, session=st.sampled_from("stu"), timeout=st.sampled_from((30, 300)), unseen=st.sampled_from((5, 60))
    )
    def submit(self, session: str, timeout: float, unseen: float) -> str:
        self.count += 1
        question = held(f"q{self.count}", session=session, timeout=timeout, unseen=unseen)
        self.submitted[question.id] = question
        self.take(self.machine.submit(question, self.now))
        return question.id

    @rule(
        target=ids,
        answer=st.sampled_from((None, Answer(Said.ALLOW, who="ada"))),
        used=st.booleans(),
        rest=st.sampled_from((-1.0, 20.0, 100.0)),
        shown=st.booleans(),
    )
    def lose(self, answer: Answer | None, used: bool, rest: float, shown: bool) -> str:
        self.count += 1
        question = held(f"q{self.count}", session="s")
        self.submitted[question.id] = question
        if answer is not None and not used:
            self.approved.setdefault(question.id, []).append(answer)
        if shown:
            self.started[question.id] = self.now + rest
        left = Leftover(question, self.now + rest, shown=shown, answer=answer, used=used)
        self.take(self.machine.lose([left], self.now))
        return question.id

    @rule(channel=st.sampled_from(CHANNELS), room=st.integers(0, 3))
    def attach(self, channel: str, room: int) -> None:
        self.open.add(channel)
        self.take(self.machine.attached(channel, self.now, room=room))

    @rule(channel=st.sampled_from(CHANNELS))
    def detach(self, channel: str) -> None:
        self.take(self.machine.detached(channel, self.now))
        self.open.discard(channel)

    @rule(id=ids, channel=st.sampled_from(CHANNELS))
    def show(self, id: str, channel: str) -> None:
        self.take(self.machine.shown(id, channel, self.now))

    @rule(id=ids, channel=st.sampled_from(CHANNELS))
    def refuse(self, id: str, channel: str) -> None:
        self.take(self.machine.undeliverable(id, channel, self.now))

    @rule(id=ids, answer=st.sampled_from(ANSWERS), right=st.booleans())
    def answer(self, id: str, answer: Answer, right: bool) -> None:
        digest = self.submitted[id].digest if right else "another digest"
        before = len(self.released)
        self.take(self.machine.answer(id, digest, answer, self.now))
        if not right:
            assert len(self.released) == before
        elif len(self.released) > before:
            assert answer.said is Said.ALLOW
            self.approved.setdefault(id, []).append(answer)

    @rule(id=ids, recheck=st.sampled_from(VERDICTS))
    def recheck(self, id: str, recheck: Recheck) -> None:
        if recheck.verdict is SecondLook.STANDS and id in self.released and id not in self.finished:
            self.stands.add(id)
        self.take(self.machine.rechecked(id, recheck, self.now))

    @rule(id=ids)
    def settle(self, id: str) -> None:
        if self.machine.state(id) in (QuestionState.QUEUED, QuestionState.ASKED, QuestionState.SHOWN):
            self.settled.add(id)
        self.take(self.machine.settle([id], self.now))

    @rule(id=ids, event=st.sampled_from(("dismissed", "unseen", "cancel", "fault", "reattach", "forge")))
    def other(self, id: str, event: str) -> None:
        match event:
            case "dismissed":
                self.take(self.machine.dismissed(id, "desk", self.now))
            case "unseen":
                self.take(self.machine.unseen(id, self.now))
            case "cancel":
                self.take(self.machine.cancel(id, self.now))
            case "fault":
                self.take(self.machine.fault(id, self.now))
            case "reattach":
                self.take(self.machine.reattach(id, self.submitted[id].digest, self.now))
            case "forge":
                self.take(self.machine.reattach(id, "another digest", self.now))

    @rule(seconds=st.sampled_from((0.0, 1.0, 9.0, 11.0, 61.0)))
    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.take(self.machine.tick(self.now))

    @invariant()
    def at_most_one_question_of_a_session_is_asked(self) -> None:
        heads = [
            session_of(e.held) for e in self.machine.pending() if e.state in (QuestionState.ASKED, QuestionState.SHOWN)
        ]
        assert len(heads) == len(set(heads))

    @invariant()
    def something_is_asked_wherever_something_waits(self) -> None:
        states: dict[tuple[str, str], set[QuestionState]] = {}
        for each in self.machine.pending():
            states.setdefault(session_of(each.held), set()).add(each.state)
        assert all(found - {QuestionState.QUEUED} for found in states.values())

    @invariant()
    def every_question_is_pending_or_has_ended(self) -> None:
        pending = {each.held.id for each in self.machine.pending()}
        assert pending.isdisjoint(self.finished)
        assert pending | set(self.finished) == set(self.submitted)

    @invariant()
    def nothing_is_overdue_and_nothing_that_waits_unseen_is_without_a_clock(self) -> None:
        for each in self.machine.pending():
            assert each.deadline is None or each.deadline > self.now
            if each.state is QuestionState.SHOWN or (not self.open and each.state is not QuestionState.RELEASING):
                assert each.deadline is not None
        dues = [each.deadline for each in self.machine.pending() if each.deadline is not None]
        assert self.machine.wake == min(dues, default=None)

    @invariant()
    def only_one_valid_approval_and_a_second_look_that_stands_allow(self) -> None:
        for id, finish in self.finished.items():
            if finish.resolution.allowed:
                assert id in self.released
                assert id in self.stands
                if finish.resolution.ending is Ending.ANSWERED:
                    assert self.approved[id] == [finish.resolution.answer]
                else:
                    assert finish.resolution.ending is Ending.SETTLED
                    assert id in self.settled

    def teardown(self) -> None:
        self.take(self.machine.close(self.now), closing=True)
        assert set(self.finished) == set(self.submitted)
        assert self.machine.pending() == ()
        assert self.machine.wake is None
        assert self.machine._queues == {}


TestQuestions = Questions.TestCase
TestQuestions.settings = examples(120, stateful_step_count=40)
