"""A gate inside the program that asks: engines, memory, a broker on a background thread, and its author's channels.

Whatever raises here ends in a denial."""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import os
import threading
import weakref
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import Any

from assent.api.background import Thread
from assent.api.values import read_arguments
from assent.approval.approvals import Approvals, PausedQuestion, moment
from assent.approval.channels import Channel
from assent.approval.channels.callback import CallbackChannel, HeadlessChannel
from assent.approval.channels.terminal import TerminalChannel, has_terminal, turn
from assent.approval.denial import deny
from assent.approval.patience import contained
from assent.approval.store import SqliteStore
from assent.contract import AssentError, Call, Decision, Outcome, PayloadError, StoreError
from assent.contract.approval import Answer, Ending, Held, Said, Verdict
from assent.effects.declared import Tool
from assent.engine.cache import EngineCache
from assent.engine.classify import Inquiry
from assent.engine.engine import Engine, Request, Settled
from assent.engine.journal import new_id
from assent.engine.memory import Memory
from assent.engine.remote import SOCKET_FILE, RemoteServer, ServerChannel, denied
from assent.gate import CallGate, verdict
from assent.state import shared
from assent.state.files import state_folder
from assent.trail.append import Trail

STORE_FILE = "held.db"
CLOSING = 10.0  # seconds to deny what waits when the gate closes
DAY = 86400.0
CHANGED = "This call was not run: its arguments changed while a person was asked."
NAMED_CHANNELS = ("terminal", "server", "nobody")
GIVE = "give terminal, server, nobody, a channel or a function"

Reply = Answer | bool | None
Ask = Callable[[Held], Reply | Awaitable[Reply]]
ChannelSpec = str | Channel | Ask  # one of the named channels, a channel, or a function


class Embedded:
    """Decides calls by the engines of one project, and asks in the given channels. Safe for threads and loops. Gates
    with the same `name` share what was allowed for a session id; a gate without a name shares nothing."""

    def __init__(
        self, gates: EngineCache, project: str, state: str, channels: Sequence[ChannelSpec] | None, *, name: str = ""
    ) -> None:
        self._gates = gates
        self.project = project
        self._state = state
        self._channels = channels
        self._name = name or new_id()
        self.approvals = Approvals(state)
        self._closed = False
        self._reset()
        _living.add(self)

    def _reset(self) -> None:
        """Set up what belongs to one process: threads, loops and open files, which a fork does not share."""
        trail = shared.take(Trail, f"{self._state}/audit", Trail)
        self.memory = Memory(self._state, scope=self._name, trail=trail)
        self._thread = Thread()
        self._opening = threading.Lock()
        self._deciding = CallGate(self.memory)
        self._gate: CallGate | None = None  # the same, and it asks
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
        """The call, in this project unless it says otherwise. Raises PayloadError if its arguments cannot be read."""
        _, here = self._gates.find(self.project, call.session)
        return call.but(
            input=read_arguments(call.input),  # a copy, of nothing but data
            cwd=call.cwd or self.project,
            roots=call.roots or here.roots,
            home=call.home or here.home,
            path=call.path or os.environ.get("PATH", ""),
        )

    def declare(self, name: str, tool: Tool) -> None:
        self._gates.declare(name, tool)

    def decide(self, call: Call, *, host_mode: str = "") -> Decision:
        """The decision by the current rules and grants. Asks nobody, records nothing, never raises."""
        try:
            return self._deciding.judge(self._request(call, host_mode)).decision
        except Exception as error:  # the net: after a fault the call does not run
            return fault(error).decision

    async def guard(self, call: Call, *, host_mode: str = "", rewrites: bool = False) -> Verdict:
        """Whether a call may run. Raises nothing but CancelledError, which withdraws the question."""
        try:
            request, begun = self._begin(call, host_mode, rewrites)
            mine = copied(request.call)
            if isinstance(begun, Settled) and begun.outcome is not Outcome.ASK:
                return verdict(begun).on(mine)
            asking = self._thread.start(self._ask(request, begun, asyncio.get_running_loop()))
        except Exception as error:  # the net
            return fault(error)
        try:
            found = await asyncio.wrap_future(asking)
            return unchanged(found, lambda: read_arguments(call.input), mine.input).on(mine)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if asking.cancelled() and task is not None and not task.cancelling():
                return fault(AssentError("the gate was closed"))
            raise
        except Exception as error:  # the net
            return fault(error)

    def guard_sync(self, call: Call, *, host_mode: str = "", rewrites: bool = False) -> Verdict:
        """The same for callers without a loop. Raises nothing but what interrupts the thread."""
        try:
            request, begun = self._begin(call, host_mode, rewrites)
            mine = copied(request.call)
            if isinstance(begun, Settled) and begun.outcome is not Outcome.ASK:
                return verdict(begun).on(mine)
            found = self._thread.wait(self._ask(request, begun))
            return unchanged(found, lambda: read_arguments(call.input), mine.input).on(mine)
        except (Exception, asyncio.CancelledError) as error:  # the net
            return fault(error)

    # Approvals that outlive the run

    def hold(self, call: Call, *, host_mode: str = "", seconds: float = DAY) -> tuple[Verdict | None, Held | None]:
        """The verdict on a call, or the question to be answered outside of this process. Raises AssentError."""
        request = self._open_request(call, host_mode)
        settled = self._deciding.decide(request)
        if settled.outcome is not Outcome.ASK:
            return verdict(settled).on(copied(request.call)), None
        held = self._deciding.question(request, settled)
        self.approvals.keep(
            PausedQuestion(held.id, held.digest, call.session, held.made, held.made + seconds, moment())
        )
        return None, held

    def release(self, id: str, call: Call, answer: Answer, *, host_mode: str = "") -> Verdict:
        """The verdict on a held call by an answer from outside. The call is decided again, and a denial wins."""
        try:
            request = self._open_request(call, host_mode)
            kept, now = self.approvals.find(id), self.memory.clock()
            if kept is None or not self.approvals.use(id):
                settled = Settled(self._deciding.judge(request), id)
                lost = deny(id, Ending.LOST, detail="the approval is not known, or was used")
                return verdict(settled, lost).on(copied(request.call))
            expired, waited = kept.over(now, moment()), max(0.0, now - kept.made)
            digest = kept.digest if kept.session == call.session else ""
            found = self._deciding.release(request, id, digest, answer, waited=waited, expired=expired)
            return found.on(copied(request.call))
        except Exception as error:  # the net
            return fault(error)

    def _open_request(self, call: Call, host_mode: str) -> Request:
        """The request of a gate that is open. Raises AssentError."""
        if self._closed:
            raise AssentError("the gate was closed")
        return self._request(call, host_mode)

    def _request(self, call: Call, host_mode: str) -> Request:
        reopen = partial(self._engine, self.project, call.session)
        return Request(reopen(), self.place(call), self.project, host_mode=host_mode, reopen=reopen)

    def _engine(self, project: str, session: str) -> Engine:
        return self._gates.find(project, session)[0]

    def _begin(self, call: Call, host_mode: str, rewrites: bool = False) -> tuple[Request, Settled | Inquiry]:
        request = self._open_request(call, host_mode)
        request.rewrites, request.environ = rewrites, os.environ
        return request, self._deciding.begin(request)

    async def _ask(
        self, request: Request, first: Settled | Inquiry, caller: asyncio.AbstractEventLoop | None = None
    ) -> Verdict:
        """Ask the classifier if it may be asked, then a person."""
        gate = self._open_gate()
        settled = await gate.settle(request, first=first)
        if settled.outcome is not Outcome.ASK:
            return verdict(settled)
        self._attach(gate)
        self._asking += 1
        if caller is not None:
            self._callers[settled.id] = caller
        try:
            await self._take_turn()
            return await gate.ask(request, settled, attended=self._terminal is not None)
        finally:
            self._callers.pop(settled.id, None)
            self._asking -= 1
            if not self._asking and self._turn is not None:
                held, self._turn = self._turn, None
                await held.aclose()

    async def _take_turn(self) -> None:
        """The first of several questions takes the terminal, for all of them."""
        async with self._taking:
            if self._turn is None and self._terminal is not None:
                held = AsyncExitStack()
                await held.enter_async_context(turn())
                self._turn = held

    def _open_gate(self) -> CallGate:
        with self._opening:
            if self._gate is None:
                self._store = shared.take(SqliteStore, os.path.join(state_folder(self._state), STORE_FILE), SqliteStore)
                self._gate = CallGate(
                    self.memory, self._store, lambda held: self._engine(held.project, held.call.session), fixed=True
                )
            return self._gate

    def _attach(self, gate: CallGate) -> None:
        """Attach the channels; on the loop, since they belong to it."""
        if self._attached:
            return
        self._attached = True
        places = ["terminal" if has_terminal() else "nobody"] if self._channels is None else self._channels
        for each in places or ["nobody"]:
            gate.broker.attach(self._channel(gate, each))

    def _channel(self, gate: CallGate, spec: ChannelSpec) -> Channel:
        if spec == "terminal":
            self._terminal = TerminalChannel(who=self.memory.who, reach=gate.reach)
            return self._terminal
        if spec == "server":
            return ServerChannel(RemoteServer(os.path.join(self._state, SOCKET_FILE)))
        if spec == "nobody":
            return HeadlessChannel()
        if callable(spec):
            self._functions += 1
            name = "callback" if self._functions == 1 else f"callback {self._functions}"
            return CallbackChannel(self._asked(spec), name=name)
        if isinstance(spec, str):  # `check_channels` let it pass
            raise PayloadError(f"there is no channel `{spec}`")
        return spec

    def _asked(self, ask: Ask) -> Callable[[Held], Any]:
        """A function of the author for a channel. A coroutine function runs on the loop that waits for the answer."""
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
        if said is None or isinstance(said, Answer):
            return said
        if said is True or said is False:
            return Answer(Said.ALLOW if said else Said.DENY, who=self.memory.who, channel="callback")
        raise PayloadError(f"it returned {said!r:.80}; nothing but True, or an Answer that says so, is a yes")

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        if self._gate is not None:
            with suppress(Exception):
                self._thread.start(self._shut(self._gate)).result(CLOSING)
        self._thread.close()
        if shared.drop(Trail, self.memory.trail.folder):
            self.memory.trail.close()

    async def _shut(self, gate: CallGate) -> None:
        await gate.broker.close()
        if self._terminal is not None:
            await self._terminal.close()
        if self._store is not None and shared.drop(SqliteStore, self._store.path):
            with suppress(StoreError):
                await self._store.close()


def copied(call: Call) -> Call:
    """The call with a copy of its arguments. Raises PayloadError if they cannot be read."""
    return call.but(input=read_arguments(call.input))


def unchanged(found: Verdict, read: Callable[[], object], judged: object) -> Verdict:
    """The verdict; a denial if the call, read again, is not the one that was judged. Raises what `read` raises."""
    # INVARIANT: what runs is what was judged; arguments can change while a person is asked.
    if found.allowed is True and read() != judged:
        return Verdict(False, found.decision, found.id, message=CHANGED, resolution=found.resolution, call=found.call)
    return found


def fault(error: BaseException) -> Verdict:
    """A denial for an error inside. The call was not run."""
    if isinstance(error, asyncio.CancelledError | concurrent.futures.CancelledError):
        return denied("the gate was closed")
    known = isinstance(error, AssentError)
    return denied(str(error) if known else f"an internal error of the gate: {type(error).__name__}: {error}")


def check_channels(channels: object) -> None:
    """Raises PayloadError, with what to write, if these are no channels to ask in."""
    if isinstance(channels, str):
        raise PayloadError(f"`channels` must be a list, not one text; write `channels=[{channels!r:.80}]`")
    if channels is not None and not isinstance(channels, Sequence):
        raise PayloadError(f"`channels` must be a list; write `channels=[…]`, and {GIVE}")
    for each in channels or ():
        if isinstance(each, str):
            if each not in NAMED_CHANNELS:
                raise PayloadError(f"there is no channel `{each}`; {GIVE}")
        elif not callable(each) and not all(hasattr(each, name) for name in ("name", "show", "withdraw")):
            raise PayloadError(f"{each!r:.80} is no channel, which has `name`, `show` and `withdraw`; {GIVE}")


_living: weakref.WeakSet[Embedded] = weakref.WeakSet()


def _forked() -> None:
    for each in list(_living):
        each._reset()


os.register_at_fork(after_in_child=_forked)
