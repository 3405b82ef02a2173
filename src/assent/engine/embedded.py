"""A gate inside the program that asks: gates, memory, a broker on a thread of its own, and the channels of its author.

Whatever raises here ends in a denial. Shows nothing itself."""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING, Any

from assent.approval.approvals import Approvals, Kept, moment
from assent.approval.channels import Channel
from assent.approval.channels.callback import CallbackChannel
from assent.approval.channels.headless import HeadlessChannel
from assent.approval.channels.turn import has_terminal, turn
from assent.approval.denial import deny
from assent.approval.patience import contained
from assent.approval.store import SqliteStore
from assent.contract.approval import Answer, Ending, Held, Preview, Resolution, Said, Verdict
from assent.contract.call import Call
from assent.contract.decision import Decision, Outcome
from assent.contract.errors import AssentError, PayloadError, StoreError
from assent.effects.declared import Tool
from assent.engine.background import Thread
from assent.engine.cache import EngineCache
from assent.engine.classify import Inquiry, asked_a_person
from assent.engine.desk import Desk, verdict
from assent.engine.engine import Engine as Rules
from assent.engine.journal import new_id, of_ending
from assent.engine.memory import Memory, Settled
from assent.engine.places import Ask, Place
from assent.engine.remote import SOCKET_FILE, Server, ServerChannel, denied
from assent.engine.values import arguments
from assent.facts import digest
from assent.state import shared
from assent.state.files import state_folder
from assent.trail.append import Trail

STORE_FILE = "held.db"
CLOSING = 10.0  # seconds for what waits to be told that the gate closes
DAY = 86400.0

if TYPE_CHECKING:
    from assent.approval.channels.terminal import TerminalChannel

NO_PREVIEW = Preview("input", "")


class Embedded:
    """Decides calls by the gates of one project, and asks in the given places. Safe for threads and loops. Gates of one
    `name` share what was allowed for a session of the same id; one without a name shares it with none."""

    def __init__(
        self, gates: EngineCache, project: str, state: str, places: Sequence[Place] | None, *, name: str = ""
    ) -> None:
        self._gates = gates
        self.project = project
        self._state = state
        self._places = places
        self._name = name or new_id()
        self.approvals = Approvals(state)
        self._closed = False
        self._reset()
        _living.add(self)

    def _reset(self) -> None:
        """Everything that lives in one process: threads, loops and open files, which a fork does not share."""
        trail = shared.take(Trail, f"{self._state}/audit", Trail)
        self.memory = Memory(self._state, scope=self._name, trail=trail)
        self._thread = Thread()
        self._opening = threading.Lock()
        self._desk: Desk | None = None
        self._store: SqliteStore | None = None
        self._attached = False
        self._functions = 0
        self._terminal: TerminalChannel | None = None
        self._callers: dict[str, asyncio.AbstractEventLoop] = {}  # id of a question → the loop that waits for it
        self._asking = 0
        self._turn: AsyncExitStack | None = None
        self._taking = asyncio.Lock()
        self._gates.unlock()

    def place(self, call: Call) -> Call:
        """The call in this project, where it does not say otherwise. Raises PayloadError for arguments that cannot be
        read."""
        _, here = self._gates.find(self.project, call.session)
        return call.but(
            input=arguments(call.input),  # a copy, of nothing but data
            cwd=call.cwd or self.project,
            roots=call.roots or here.roots,
            home=call.home or here.home,
        )

    def declare(self, name: str, tool: Tool) -> None:
        self._gates.declare(name, tool)

    def decide(self, call: Call, *, host_mode: str = "") -> Decision:
        """What holds now, grants included. Asks nobody, records nothing, never raises."""
        try:
            rules, _ = self._gates.find(self.project, call.session)
            return self.memory.judge(rules, self.place(call), project=self.project, host_mode=host_mode).decision
        except Exception as error:  # the net: whatever breaks inside, the call does not run
            return fault(error).decision

    async def guard(self, call: Call, *, host_mode: str = "") -> Verdict:
        """Whether a call may run. Raises nothing but CancelledError, which takes the question back."""
        try:
            rules, placed, begun = self._begin(call, host_mode)
            mine = copied(placed)
            if isinstance(begun, Settled) and begun.judged.decision.outcome is not Outcome.ASK:
                return verdict(begun).on(mine)
            asking = self._thread.start(self._ask(rules, placed, begun, asyncio.get_running_loop()))
        except Exception as error:  # the net
            return fault(error)
        try:
            found = await asyncio.wrap_future(asking)
            return unchanged(found, lambda: arguments(call.input), mine.input).on(mine)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if asking.cancelled() and task is not None and not task.cancelling():
                return fault(AssentError("the gate was closed"))
            raise
        except Exception as error:  # the net
            return fault(error)

    def guard_sync(self, call: Call, *, host_mode: str = "") -> Verdict:
        """The same for callers without a loop. Raises nothing but what interrupts the thread."""
        try:
            rules, placed, begun = self._begin(call, host_mode)
            mine = copied(placed)
            if isinstance(begun, Settled) and begun.judged.decision.outcome is not Outcome.ASK:
                return verdict(begun).on(mine)
            found = self._thread.wait(self._ask(rules, placed, begun))
            return unchanged(found, lambda: arguments(call.input), mine.input).on(mine)
        except (Exception, asyncio.CancelledError) as error:  # the net
            return fault(error)

    # Approvals that outlive the run

    def hold(self, call: Call, *, host_mode: str = "", seconds: float = DAY) -> tuple[Verdict | None, Held | None]:
        """The verdict on a call, or the question that is to be answered elsewhere. Raises AssentError."""
        rules, call, begun = self._begin(call, host_mode)
        settled = begun if isinstance(begun, Settled) else self.memory.conclude(begun, begun.opinion())
        if settled.judged.decision.outcome is not Outcome.ASK:
            return verdict(settled).on(copied(call)), None
        held = self._open_desk().held(rules, call, settled, project=self.project)
        self.approvals.keep(Kept(held.id, held.digest, call.session, held.made, held.made + seconds, moment()))
        return None, held

    def release(self, id: str, call: Call, answer: Answer, *, host_mode: str = "") -> Verdict:
        """The verdict on a held call by an answer from elsewhere. The call is looked at again, and a denial wins."""
        try:
            placed = self.place(call)
            return self._release(id, placed, answer, host_mode).on(copied(placed))
        except Exception as error:  # the net
            return fault(error)

    def _release(self, id: str, call: Call, answer: Answer, host_mode: str) -> Verdict:
        if self._closed:
            raise AssentError("the gate was closed")
        kept, now = self.approvals.find(id), self.memory.clock()
        rules, _ = self._gates.find(self.project, call.session)
        judged = self.memory.judge(rules, call, project=self.project, host_mode=host_mode)
        settled = Settled(judged, id)
        if kept is None or not self.approvals.use(id):
            return verdict(settled, deny(id, Ending.LOST, detail="the approval is not known, or was used"))
        waited = max(0.0, now - kept.made)
        if judged.lowering is None or judged.facts is None or judged.decision.outcome is Outcome.DENY:
            resolution = deny(id, Ending.OVERRULED, detail=judged.decision.reason, waited=waited)
        elif kept.over(now, moment()):
            resolution = deny(id, Ending.EXPIRED, waited=waited)
        elif kept.session != call.session or kept.digest != digest.digest(call, judged.lowering, judged.facts):
            resolution = deny(id, Ending.CHANGED, waited=waited)
        elif answer.said is not Said.ALLOW:
            resolution = deny(id, Ending.ANSWERED, answer=answer, waited=waited)
        else:
            resolution = Resolution(id, Ending.ANSWERED, allowed=True, answer=answer, waited=waited)
        held = Held(id, call, kept.digest, judged.decision, NO_PREVIEW, project=self.project)
        # INVARIANT: what cannot be recorded does not run.
        self.memory.trail.append(of_ending(held, resolution, time=now))
        if resolution.ending is Ending.ANSWERED and not resolution.allowed:
            asked_a_person(self.memory.state, call, judged.lowering)
        return verdict(settled, resolution)

    # How it is done

    def _begin(self, call: Call, host_mode: str) -> tuple[Rules, Call, Settled | Inquiry]:
        if self._closed:
            raise AssentError("the gate was closed")
        rules, _ = self._gates.find(self.project, call.session)
        call = self.place(call)
        session = call.session

        def reopen() -> Rules:
            return self._gates.find(self.project, session)[0]

        begun = self.memory.begin(rules, call, project=self.project, host_mode=host_mode, reopen=reopen)
        return rules, call, begun

    async def _ask(
        self, rules: Rules, call: Call, begun: Settled | Inquiry, caller: asyncio.AbstractEventLoop | None = None
    ) -> Verdict:
        """What is still open about a call: a model's opinion where one may be asked, then a person's answer."""
        desk = self._open_desk()
        settled = await desk.concluded(begun)
        if settled.judged.decision.outcome is not Outcome.ASK:
            return verdict(settled)
        self._attach(desk)
        self._asking += 1
        if caller is not None:
            self._callers[settled.id] = caller
        try:
            await self._take_turn()
            attended = self._terminal is not None
            return await desk.ask(rules, call, settled, project=self.project, attended=attended)
        finally:
            self._callers.pop(settled.id, None)
            self._asking -= 1
            if not self._asking and self._turn is not None:
                held, self._turn = self._turn, None
                await held.aclose()

    async def _take_turn(self) -> None:
        """The first of several questions takes the terminal, for all of them."""
        if self._terminal is None:
            return
        async with self._taking:
            if self._turn is None:
                held = AsyncExitStack()
                await held.enter_async_context(turn())
                self._turn = held

    def _open_desk(self) -> Desk:
        with self._opening:
            if self._desk is None:
                self._store = shared.take(SqliteStore, os.path.join(state_folder(self._state), STORE_FILE), SqliteStore)
                self._desk = Desk(self.memory, self._store, self._rules_of, fixed=True)
            return self._desk

    def _attach(self, desk: Desk) -> None:
        """Attach the channels; on the loop, since that is where they live."""
        if self._attached:
            return
        self._attached = True
        places = ["terminal" if has_terminal() else "nobody"] if self._places is None else self._places
        for each in places or ["nobody"]:
            desk.broker.attach(self._channel(desk, each))

    def _channel(self, desk: Desk, place: Place) -> Channel:
        if place == "terminal":
            from assent.approval.channels.terminal import TerminalChannel

            self._terminal = TerminalChannel(who=self.memory.who, reach=desk.reach)
            return self._terminal
        if place == "server":
            return ServerChannel(Server(os.path.join(self._state, SOCKET_FILE)))
        if place == "nobody":
            return HeadlessChannel()
        if callable(place):
            self._functions += 1
            name = "callback" if self._functions == 1 else f"callback {self._functions}"
            return CallbackChannel(self._asked(place), name=name)
        if isinstance(place, str):  # `check_places` let it pass
            raise PayloadError(f"there is no channel `{place}`")
        return place

    def _asked(self, ask: Ask) -> Callable[[Held], Any]:
        """A function of the author as the channel wants it: on the loop that waits for the answer, if it is one."""
        if not inspect.iscoroutinefunction(ask) and not inspect.iscoroutinefunction(type(ask).__call__):
            return lambda held: self._signed(ask(held))

        async def there(held: Held) -> Answer | None:
            loop, asking = self._callers.get(held.id), ask(held)
            assert inspect.iscoroutine(asking)
            if loop is None or loop.is_closed():
                return self._signed(await asking)
            return self._signed(await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(contained(asking), loop)))

        return there

    def _signed(self, said: object) -> Answer | None:
        """INVARIANT: nothing but True, or an Answer that says so, is a yes."""
        if isinstance(said, Answer):
            return said
        if said is True or said is False:
            return Answer(Said.ALLOW if said else Said.DENY, who=self.memory.who, channel="callback")
        if said is None:
            return None
        raise PayloadError(f"it returned {said!r:.80}; nothing but True, or an Answer that says so, is a yes")

    def _rules_of(self, held: Held) -> Rules:
        return self._gates.find(held.project, held.call.session)[0]

    def close(self) -> None:
        """Deny what waits, and let go of everything."""
        if self._closed:
            return
        self._closed = True
        if self._desk is not None:
            with suppress(Exception):
                self._thread.start(self._shut(self._desk)).result(CLOSING)
        self._thread.close()
        if shared.drop(Trail, self.memory.trail.folder):
            self.memory.trail.close()

    async def _shut(self, desk: Desk) -> None:
        await desk.broker.close()
        if self._terminal is not None:
            await self._terminal.close()
        if self._store is not None and shared.drop(SqliteStore, self._store.path):
            with suppress(StoreError):
                await self._store.close()


CHANGED = "This call was not run: its arguments changed while a person was asked."


def copied(call: Call) -> Call:
    """The call with arguments that nobody else holds. Raises PayloadError where they cannot be read."""
    return call.but(input=arguments(call.input))


def unchanged(found: Verdict, read: Callable[[], object], judged: object) -> Verdict:
    """The verdict; a denial where what would run, read again, is not what was judged. Raises what `read` does."""
    # INVARIANT: what runs is what was judged; arguments can change while a person is asked.
    if found.allowed is True and read() != judged:
        return Verdict(False, found.decision, found.id, message=CHANGED, resolution=found.resolution, call=found.call)
    return found


def fault(error: BaseException) -> Verdict:
    """A fault inside, as a verdict. The call was not run."""
    if isinstance(error, asyncio.CancelledError | concurrent.futures.CancelledError):
        return denied("the gate was closed")
    reason = (
        str(error) if isinstance(error, AssentError) else f"the gate failed inside: {type(error).__name__}: {error}"
    )
    return denied(reason)


_living: weakref.WeakSet[Embedded] = weakref.WeakSet()


def _forked() -> None:
    for each in list(_living):
        each._reset()


os.register_at_fork(after_in_child=_forked)
