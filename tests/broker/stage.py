"""Shared by the tests of the broker: questions, answers, an event loop in fake time, and a scripted person."""

from __future__ import annotations

import asyncio
import itertools
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

from assent.approval.accounts import Moment
from assent.approval.broker import Broker
from assent.approval.channels import Offering, Question
from assent.approval.commands import Recheck, SecondLook
from assent.approval.store import Store
from assent.contract import Call, Decision, Layer, Outcome, Part
from assent.contract.approval import Answer, Held, Preview, Resolution, Said, Scope, Suggestion
from tests.broker.memory_store import MemoryStore

T = TypeVar("T")
EPOCH = 1_700_000_000.0
YES = Answer(Said.ALLOW, who="ada", channel="desk")
NO = Answer(Said.DENY, who="ada", channel="desk")
STOP = Answer(Said.STOP, who="ada", channel="desk")
FOR_SESSION = Answer(Said.ALLOW, scope=Scope.SESSION, rules=("bash(make:*)",), who="ada", channel="desk")
STANDS = Recheck(SecondLook.STANDS)

_numbers = itertools.count(1)


def held(
    id: str = "",
    *,
    session: str = "s",
    runtime: str = "test",
    command: str = "make all",
    timeout: float = 300.0,
    unseen: float = 60.0,
) -> Held:
    """A question as the gate would put it."""
    id = id or f"q{next(_numbers)}"
    part = Part(Outcome.ASK, Layer.MODE, "mode.default.execute", "it runs a program", what=command)
    return Held(
        id,
        Call("bash", {"command": command}, cwd="/w", roots=("/w",), session=session, runtime=runtime),
        f"digest of {id}",
        Decision(Outcome.ASK, part, (part,), mode="default"),
        Preview("command", command),
        suggestions=(Suggestion(("bash(make:*)",), "make with any arguments"),),
        timeout=timeout,
        unseen=unseen,
    )


class FakeLoop(asyncio.SelectorEventLoop):
    """An event loop that does not wait: if nothing is due before a timer, time jumps to it."""

    def __init__(self) -> None:
        super().__init__(_Selector(self))
        self.now = 0.0

    def time(self) -> float:
        return self.now


class _Selector(selectors.SelectSelector):
    loop: FakeLoop

    def __init__(self, loop: FakeLoop) -> None:
        super().__init__()
        self.loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise AssertionError("everything waits, and nothing will ever come")
        self.loop.now += max(0.0, timeout)
        return super().select(0)


def play(scene: Coroutine[Any, Any, T]) -> T:
    """Run a scene in fake time."""
    with asyncio.Runner(loop_factory=FakeLoop) as runner:
        return runner.run(scene)


class Desk:
    """A channel that keeps what it is given, for a test to answer by hand."""

    def __init__(self, name: str = "desk", *, serial: bool = False) -> None:
        self.name = name
        self.serial = serial
        self.questions: dict[str, Question] = {}
        self.waiting: dict[str, Question] = {}
        self.withdrawn: dict[str, Resolution] = {}
        self.offers: list[Offering] = []

    async def show(self, question: Question) -> None:
        self.questions[question.held.id] = question
        self.waiting.pop(question.held.id, None)

    async def queued(self, question: Question, position: int) -> None:
        self.waiting[question.held.id] = question

    async def withdraw(self, id: str, resolution: Resolution) -> None:
        self.questions.pop(id, None)
        self.waiting.pop(id, None)
        self.withdrawn[id] = resolution

    async def offer(self, offering: Offering) -> None:
        self.offers.append(offering)


class Scene:
    """A broker with a desk, and everything it was told to record."""

    def __init__(self, *, store: Store | None = None, desk: Desk | None = None, **given: Any) -> None:
        self.recorded: list[Moment] = []
        self.store = MemoryStore() if store is None else store
        self.desk = desk or Desk()
        given.setdefault("recheck", lambda held: STANDS)
        given.setdefault("record", self.recorded.append)
        loop = asyncio.get_running_loop()
        self.broker = Broker(store=self.store, wall=lambda: EPOCH + loop.time(), **given)

    def kinds(self) -> list[str]:
        return [moment.kind for moment in self.recorded]

    def ask(self, question: Held) -> asyncio.Task[Resolution]:
        return asyncio.create_task(self.broker.ask(question))

    def assert_empty(self) -> None:
        """Nothing stays in the pending table, wherever one looks."""
        assert self.broker.pending() == ()
        assert self.broker._waits == {}
        assert isinstance(self.store, MemoryStore)
        assert len(self.store) == 0


async def calm() -> None:
    """Run everything that needs no time."""
    for _ in range(30):
        await asyncio.sleep(0)
