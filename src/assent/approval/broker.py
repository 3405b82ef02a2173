"""Collects answers: runs the machine of questions with tasks, timers, store and channels.

After any exception at any time a question ends, ends once, and ends denied. Callables decide on calls."""

from __future__ import annotations

import asyncio
import concurrent.futures
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

from assent.approval.accounts import Accounts, Moment, Records, words
from assent.approval.channels import Channel
from assent.approval.commands import (
    Absent,
    Command,
    Finish,
    Late,
    Mismatch,
    Pending,
    Queue,
    Receipt,
    Recheck,
    Refusal,
    Release,
    SecondLook,
    Session,
    Show,
    StartClock,
    Taken,
    Unknown,
    Withdraw,
    session_of,
)
from assent.approval.deliveries import Changes, Deliveries, OfferDesk
from assent.approval.denial import deny
from assent.approval.escalation import Tally
from assent.approval.machine import GRACE, Machine
from assent.approval.patience import Tasks, given
from assent.approval.store import Store
from assent.contract.approval import Answer, Ending, Grant, Held, Resolution, Scope

PATIENCE = 30.0  # seconds for a callable: store, second look, grants, record
DELIVERY = 10.0  # seconds for a channel to show something
Rechecks = Callable[[Held], Recheck | Awaitable[Recheck]]
Remembers = Callable[[Held, Answer], Grant | Awaitable[Grant | None] | None]
Settles = Callable[[Held], bool | Awaitable[bool]]


class Broker:
    """Asks people about held calls. All methods except `answer_threadsafe` belong to one event loop.

    `recheck` observes and decides a call again, and compares the digest. `remember` makes and saves a grant.
    `settles` says whether a call would be allowed by now without asking. `record` writes a moment to the trail.
    `change_mode` and `deny_rule` carry out an accepted offer. Each may be a plain or a coroutine function, and may
    raise; a plain one should be quick, since it blocks the loop. `fixed`: a program's author set the channels, and no
    other is attached later: a question that none can show ends at once."""

    def __init__(
        self,
        *,
        store: Store,
        recheck: Rechecks,
        remember: Remembers | None = None,
        settles: Settles | None = None,
        record: Records | None = None,
        change_mode: Changes | None = None,
        deny_rule: Changes | None = None,
        tally: Tally | None = None,
        clock: Callable[[], float] | None = None,
        wall: Callable[[], float] = time.time,
        grace: float = GRACE,
        fixed: bool = False,
        patience: float = PATIENCE,
        delivery: float = DELIVERY,
    ) -> None:
        self._accounts = Accounts(store, record, patience)
        self._recheck = recheck
        self._remember = remember
        self._settles = settles
        self._clock = clock
        self.wall = wall
        self._patience = patience
        self._delivery = delivery
        self._machine = Machine(grace=grace, fixed=fixed)
        self._waits: dict[str, Wait] = {}
        self._tasks = Tasks()
        self._deliveries = Deliveries(self, self._machine, self._tasks, delivery, own=fixed)
        self._timer: asyncio.TimerHandle | None = None
        self._armed: float | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False
        self.offers = OfferDesk(self._accounts.note, self._tasks, patience, change_mode, deny_rule, tally)
        self.offers.accepted = self.settle

    # Callers

    async def ask(self, held: Held) -> Resolution:
        """Ask about a call and return how that ended. Raises nothing but CancelledError, which withdraws the question
        everywhere. The call may run only if the resolution is `allowed`."""
        try:
            self.now()
        except RuntimeError as error:
            return deny(held.id, Ending.FAULT, detail=words(error))
        if self._closed:
            return deny(held.id, Ending.CLOSED)
        if held.id in self._waits:
            return deny(held.id, Ending.FAULT, detail="another question has its id")
        return await self._carry(self._waits.setdefault(held.id, Wait(held)), self._begin)

    async def reattach(self, id: str, digest: str) -> Resolution:
        """The caller of a question is back, after a restart or a lost connection. The question is asked again, or
        continues; a caller that still waits for it is dismissed, since an approval is for one caller."""
        try:
            if id not in self._waits:  # left by a process that died after this one started
                await self.recover()
        except Exception as error:
            return deny(id, Ending.LOST, detail=words(error))
        commands = self._machine.reattach(id, digest, self.now())
        refused, old = refusal(commands), self._waits.get(id)
        if refused is not None or old is None:
            self.do(commands)
            return deny(id, Ending.LOST, detail=unattached(refused))
        wait = self._waits[id] = Wait(old.held)
        wait.start = old.start
        if not old.ended.done():
            old.ended.set_result(deny(id, Ending.CANCELLED, detail="another caller took it over"))

        async def again(_: Wait) -> None:
            self.do(commands)

        return await self._carry(wait, again)

    def withdraw(self, id: str, detail: str = "") -> None:
        self.do(self._machine.cancel(id, self.now(), detail))

    # People

    async def answer(self, id: str, digest: str, answer: Answer) -> Receipt:
        """A person answers. Returns once the result is known. Cancelling this does not take the answer back."""
        wait = self._waits.get(id)
        commands = self._machine.answer(id, digest, answer, self.now())
        refused = refusal(commands)
        self.do(commands)
        if refused is not None or wait is None:
            return refused or Unknown(id)
        return Taken(id, await asyncio.shield(wait.concluded), wait.note)

    def answer_threadsafe(self, id: str, digest: str, answer: Answer) -> concurrent.futures.Future[Receipt]:
        if self._loop is None:
            raise RuntimeError("nothing was asked yet; attach a channel or ask first")
        return asyncio.run_coroutine_threadsafe(self.answer(id, digest, answer), self._loop)

    def dismiss(self, id: str, channel: str = "") -> None:
        self.do(self._machine.dismissed(id, channel, self.now()))

    def pending(self) -> tuple[Pending, ...]:
        """Every question that has not ended. Deadlines are seconds since the epoch."""
        if self._loop is None:
            return ()
        ahead = self.wall() - self._time()
        return tuple(
            replace(each, deadline=None if each.deadline is None else each.deadline + ahead)
            for each in self._machine.pending()
        )

    # Channels

    def attach(self, channel: Channel) -> None:
        """Open a channel, or open it again: it receives all waiting questions."""
        self.detach(channel.name)
        self.do(self._deliveries.attach(channel))

    def detach(self, channel: Channel | str) -> None:
        """Close a channel. A question shown only there is lost after the grace period."""
        self.do(self._deliveries.detach(channel))

    # The life of the broker

    async def recover(self) -> None:
        """Take over questions of dead processes from the store: they are lost until their callers come back."""
        now, wall = self.now(), self.wall()
        left = await self._accounts.leftovers()
        if self._closed:
            return
        fresh = [each.rebased(now, wall) for each in left if each.held.id not in self._waits]
        for each in fresh:
            wait = self._waits[each.held.id] = Wait(each.held)
            self._tasks.start(self._carry(wait))
        self.do(self._machine.lose(fresh, now))

    async def settle(self, session: Session, answer: Answer | None = None) -> None:
        """Release the waiting questions of a session that need no asking any more. `answer` caused that."""
        ids = [held.id for held in self._machine.waiting(session) if await self._is_settled(held)]
        self.do(self._machine.settle(ids, self.now(), answer))

    async def close(self) -> None:
        """Shut down: everything that waits is denied. The store stays open; its creator closes it."""
        self._closed = True
        self.do(self._machine.close(self.now()))
        for wait in list(self._waits.values()):
            if not wait.ended.done():
                wait.ended.set_result(deny(wait.held.id, Ending.CLOSED))
        if waits := [each.concluded for each in self._waits.values()]:
            await asyncio.wait(waits, timeout=self._patience)
        await self._tasks.drain(self._delivery)
        self._deliveries.clear()
        if self._timer is not None:
            self._timer.cancel()

    # The life of a question

    async def _carry(self, wait: Wait, begin: Callable[[Wait], Awaitable[None]] | None = None) -> Resolution:
        """`begin` submits the question; a lost one is in the store and in the machine already."""
        # INVARIANT: whatever happens here, the question leaves the machine and the table, and is allowed only by a
        # recorded result of the machine, for a caller that still waits.
        try:
            if begin is not None:
                await begin(wait)
            resolution = await self._outcome(wait)
        except asyncio.CancelledError:
            await self._conclusion(wait, self._stop(wait, Ending.CANCELLED))
            raise
        except Exception as error:
            resolution = self._stop(wait, Ending.FAULT, words(error))
        except BaseException:
            self._stop(wait, Ending.FAULT)
            self._leave(wait, deny(wait.held.id, Ending.FAULT))
            raise
        return await self._conclusion(wait, resolution)

    async def _begin(self, wait: Wait) -> None:
        await self._accounts.held(wait.held)
        if not wait.ended.done():  # it ends here if the broker was closed concurrently
            self.do(self._machine.submit(wait.held, self.now()))

    async def _outcome(self, wait: Wait) -> Resolution:
        """Wait for the end; on an approval, evaluate the call again and report that to the machine."""
        await _either(wait.released, wait.ended)
        if not wait.ended.done():
            release = self._tasks.start(self._release(wait, wait.released.result()))
            try:
                await _either(release, wait.ended)
            finally:
                release.cancel()
        if not wait.ended.done():
            raise RuntimeError("the release came to no end")
        return wait.ended.result()

    async def _release(self, wait: Wait, release: Release) -> None:
        try:
            recheck = await self._second_look(wait, release)
        except Exception as error:
            self.do(self._machine.fault(wait.held.id, self.now(), words(error)))
        else:
            self.do(self._machine.rechecked(wait.held.id, recheck, self.now()))

    async def _second_look(self, wait: Wait, release: Release) -> Recheck:
        """Store and record the approval, observe and decide again, and use the approval up."""
        held, answer = wait.held, None if release.settled else release.answer
        if answer is not None and not release.stored:
            await self._started(wait)
            await self._accounts.approved(held, answer)
        if release.settled and not await self._is_settled(held):
            return Recheck(SecondLook.CHANGED, "the answer that settled it does not hold any more")
        recheck = await given(self._patience, self._recheck(held))
        if recheck.verdict is SecondLook.STANDS and answer is not None and answer.scope is not Scope.ONCE:
            wait.note = await self._keep(held, answer)
            recheck = await given(self._patience, self._recheck(held))  # saving takes time
        if recheck.verdict is SecondLook.STANDS:
            await self._accounts.used(held)
        return recheck

    async def _keep(self, held: Held, answer: Answer) -> str:
        """Save an answer and release the questions it settles. Returns a note for the person: an answer that cannot be
        saved still counts once."""
        try:
            grant = None if self._remember is None else await given(self._patience, self._remember(held, answer))
        except Exception as error:
            return f"this once only, as it could not be remembered: {words(error)}"
        if grant is None:
            return "this once only: it was not remembered"
        await self.settle(session_of(held), answer)
        return ""

    async def _is_settled(self, held: Held) -> bool:
        if self._settles is None:
            return False
        try:
            return await given(self._patience, self._settles(held)) is True
        except Exception:  # then a person is asked
            return False

    def _stop(self, wait: Wait, ending: Ending, detail: str = "") -> Resolution:
        """Remove a question from the machine, however far it was. The caller gets a denial."""
        id = wait.held.id
        if self._waits.get(id) is wait:
            end = self._machine.cancel if ending is Ending.CANCELLED else self._machine.fault
            self.do(end(id, self.now(), detail))
        if not wait.ended.done():
            wait.ended.set_result(deny(id, ending, detail=detail))
        found = wait.ended.result()
        return deny(id, ending, answer=found.answer, detail=detail, waited=found.waited) if found.allowed else found

    async def _conclusion(self, wait: Wait, resolution: Resolution) -> Resolution:
        """Record the end, in a separate task: cancelling the caller does not stop it."""
        task = self._tasks.start(self._conclude(wait, resolution))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            wait.gone = True
            if task.done() and not task.cancelled():  # too late for it to see that
                self._tasks.start(self._accounts.corrected(wait.held, task.result()))
            raise

    async def _conclude(self, wait: Wait, resolution: Resolution) -> Resolution:
        final = deny(wait.held.id, Ending.FAULT, answer=resolution.answer, waited=resolution.waited)
        try:
            if self._waits.get(wait.held.id) is not wait:
                final = resolution  # a dismissed caller ends alone: another has the question now
                return final
            await self._started(wait)
            final, problem = await self._accounts.ended(wait.held, resolution)
            wait.note = problem or wait.note
            if wait.gone:
                final = await self._accounts.corrected(wait.held, final)
            return final
        finally:
            self._leave(wait, final)

    def _leave(self, wait: Wait, resolution: Resolution) -> None:
        mine = self._waits.get(wait.held.id) is wait
        if mine:
            del self._waits[wait.held.id]
        if not wait.concluded.done():
            wait.concluded.set_result(resolution)
        if mine and (offer := self.offers.count(wait.held, resolution)) is not None:
            self._tasks.start(self._accounts.quietly(Moment("offer", held=wait.held, offer=offer)))
            self.offers.deliver(offer, self._deliveries.channels(), self._delivery)

    # Commands of the machine

    def do(self, commands: list[Command]) -> None:
        """Carry out the commands that an event led to. For this package."""
        for command in commands:
            wait = None if isinstance(command, Show | Queue) else self._waits.get(command.id)
            match command:
                case Show():
                    self._deliveries.show(command)
                case Queue():
                    self._deliveries.queue(command)
                case Withdraw() if wait is not None:
                    self._deliveries.withdraw(command, wait.held, wait.concluded)
                case StartClock() if wait is not None:
                    wait.start = self._tasks.start(self._start(wait, command))
                case Release() if wait is not None:
                    wait.released.set_result(command)
                case Finish() if wait is not None and not wait.ended.done():
                    wait.ended.set_result(command.resolution)
        self._arm()

    async def _start(self, wait: Wait, command: StartClock) -> None:
        """Store and record that the clock of a question started. A question that cannot be recorded is not asked."""
        try:
            deadline = self.wall() + command.deadline - self.now()
            await self._accounts.shown(wait.held, command.channel, deadline)
        except Exception as error:
            self.do(self._machine.fault(command.id, self.now(), words(error)))

    async def _started(self, wait: Wait) -> None:
        if wait.start is not None:
            await asyncio.wait({wait.start})

    # Time

    def now(self) -> float:
        """The time of the machine. Every event asks for it first, so other threads are refused here."""
        here = asyncio.get_running_loop()
        if self._loop is None or self._loop.is_closed():
            self._loop, self._timer, self._armed = here, None, None
        if self._loop is not here:
            raise RuntimeError(
                "the broker belongs to another event loop; answer by the question, or `answer_threadsafe`"
            )
        return self._time()

    def _time(self) -> float:
        if self._clock is not None:
            return self._clock()
        return 0.0 if self._loop is None else self._loop.time()

    def _arm(self) -> None:
        """One timer, for the earliest clock of all questions."""
        at = self._machine.wake
        if at == self._armed:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._armed = at
        if at is not None and not self._closed:
            self._timer = asyncio.get_running_loop().call_later(max(0.0, at - self.now()), self._wake)

    def _wake(self) -> None:
        self._timer = self._armed = None
        self.do(self._machine.tick(self.now()))


def _future() -> asyncio.Future[Any]:
    return asyncio.get_running_loop().create_future()


@dataclass(eq=False, slots=True)
class Wait:
    held: Held
    released: asyncio.Future[Release] = field(default_factory=_future)  # approved: evaluate it again
    ended: asyncio.Future[Resolution] = field(default_factory=_future)  # by the machine
    concluded: asyncio.Future[Resolution] = field(default_factory=_future)  # recorded: what the caller gets
    start: asyncio.Task[None] | None = None  # stores and records that the clock started
    note: str = ""  # another error, for the person
    gone: bool = False  # the caller was cancelled


async def _either(*futures: asyncio.Future[Any]) -> None:
    await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)


def refusal(commands: list[Command]) -> Refusal | None:
    last = commands[-1] if commands else None
    return last if isinstance(last, Late | Unknown | Mismatch | Absent) else None


def unattached(refused: Refusal | None) -> str:
    if isinstance(refused, Late):
        return f"the question has ended ({refused.ending.value})"
    return "the digest is not that of the question" if isinstance(refused, Mismatch) else "no such question is known"
