"""Everything one server has, made at the start and closed at the end. Speaks no HTTP."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from assent import __version__
from assent.approval.store import SqliteStore
from assent.contract import AssentError, Call, Record, Value, display
from assent.contract.approval import Held
from assent.engine.cache import EngineCache, Refusing
from assent.engine.engine import Engine
from assent.engine.journal import new_id
from assent.engine.memory import Memory, getuser
from assent.engine.request import Request, Settled
from assent.facts.links import Links
from assent.gate import CallGate
from assent.server.access import INBOX, Access, Person, caller_token, scrape_token, steady
from assent.server.api import shown
from assent.server.api.endpoint import ApiRequest
from assent.server.api.events import Hub
from assent.server.api.metrics import Metrics
from assent.server.held_calls import HeldCalls
from assent.server.readers import Readers
from assent.server.remote_channels import Elsewhere
from assent.server.slow import SlowDecisions
from assent.server.voice import Voice
from assent.state import denials, files, sessions
from assent.state.files import state_folder
from assent.trail import line, query

STORE_FILE = "held.db"
RECENT = 100  # decisions that a page gets to see when it opens
SEEN = 200  # sessions remembered
FOLLOW_AGAIN = 5.0  # seconds after a trail that cannot be read
KEPT = 90 * 86400.0  # seconds that a session's view of its project is kept
WORKERS = 4  # threads for callers
SLICE = 0.02  # seconds of one round of the loop that go to callers at most
ENDS = "the server ends, and this was not decided; make the call again"

T = TypeVar("T")


class Closing(AssentError):
    """The server ends before something was decided."""


class KnownSession(Value):
    """A session that made a call since the start."""

    __slots__ = ("session", "runtime", "project", "seen")

    def __init__(self, session: str, runtime: str, project: str, seen: float) -> None:
        self.session = session
        self.runtime = runtime
        self.project = project
        self.seen = seen


class ServerState:
    """The state of a server. Made inside its event loop."""

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        port: int,
        socket: str,
        mode: str = "",
        config: str = "",
        folder: str = "",
        secrets: Mapping[str, str] | None = None,
    ) -> None:
        home = environ.get("HOME", "") or os.path.expanduser("~")
        self.state = state_folder(files.assent_home(environ, home))
        self.port = port
        self.socket = socket
        self.address = f"http://127.0.0.1:{port}/"
        names = ("127.0.0.1", "localhost", "[::1]")
        self.hosts = frozenset(f"{name}:{port}".encode() for name in names)
        self.origins = frozenset(b"http://" + host for host in self.hosts)
        self.folder = folder or os.getcwd()
        self.clock = time.time
        self.voice = Voice()
        self.metrics = Metrics()
        tokens = {"token": caller_token(self.state), "scrape": scrape_token(self.state)}
        self.access = Access(steady, who=getuser(), **tokens)
        self.gates = EngineCache(environ, mode=mode, config=config)
        self._by_mode: dict[str, EngineCache] = {}
        self._environ, self._config = environ, config
        self.store = SqliteStore(os.path.join(self.state, STORE_FILE))
        self.gate = CallGate(Memory(self.state), self.store, self._engine_of)
        line.hasten()
        self._ends = False
        self._began: float | None = None  # when this round of the loop did its first work for a caller
        self._seen_now: Links | None = None  # what was seen of the host in this round
        self._heard, self._crowded = 0, False  # how many were heard of in this round, whether there were several before
        self.moment: Links | None = None  # the same, while somebody is answered who called before it
        self._callers = ThreadPoolExecutor(WORKERS, thread_name_prefix="callers")
        self.calls = HeldCalls(self.gate, self.work)
        self.slow = SlowDecisions()
        self.hub = Hub(self.clock)
        self.readers = Readers()
        self.gate.broker.offers.closed = lambda offer: self.hub.tell("offer-ended", {"id": offer.id})
        self._seen: dict[str, KnownSession] = {}
        self._told: dict[str, tuple[dict[str, str], str]] = {}
        self.home = home
        self._loop = asyncio.get_running_loop()
        self.elsewhere = Elsewhere(self, secrets or {}, config=config)
        threading.Thread(target=self._follow, name="trail", daemon=True).start()

    async def open(self) -> None:
        """Take over what a server that died left behind, and drop what old sessions did."""
        await asyncio.to_thread(sessions.sweep, self.state, self.clock())
        await asyncio.to_thread(denials.forget, self.state, older_than=self.clock() - KEPT)
        await self.gate.broker.recover()
        self.elsewhere.open()

    async def close(self) -> None:
        """Deny what waits, tell the pages, and wait for the disk."""
        self.elsewhere.leave()
        await self.gate.broker.close()
        await self.calls.close()
        await self.elsewhere.close()
        self._ends = True
        self._callers.shutdown(wait=False, cancel_futures=True)
        self.hub.close()
        await self.store.close()
        await asyncio.to_thread(self.gate.memory.close)

    # What is shown in the terminal

    def show_code(self) -> None:
        """Show a fresh code, where a person reads it and nothing keeps it."""
        if sys.stdout.isatty():
            self.voice.show(f"\n  sign in at {self.address} with the code  {self.access.codes.fresh()}\n")

    def show_code_if_none(self) -> None:
        if not self.access.codes.live:
            self.show_code()

    # What endpoints ask

    def status(self) -> dict[str, object]:
        """What a caller may know: where the server is and whether it works. Who watches is for persons."""
        gate, _ = self.gates.find(self.folder)
        return {
            "version": __version__,
            "pid": os.getpid(),
            "address": self.address,
            "socket": self.socket,
            "mode": gate.settings.mode.word,
            "problem": display.one_line(str(gate.error)) if isinstance(gate, Refusing) else "",
            "held": len(self.gate.broker.pending()),
            "uptime": round(self.clock() - self.metrics.started, 3),
            "elsewhere": self.elsewhere.states(),
        }

    async def work(self, do: Callable[..., T], *given: Any, **named: Any) -> T:
        """Do something for a caller aside. Callers share some threads: however much they send, what a person does has
        threads of its own. Raises Closing where the server ends first."""
        if self._ends:
            raise Closing(ENDS)
        doing = self._loop.run_in_executor(self._callers, partial(do, *given, **named))
        try:
            return await doing
        except asyncio.CancelledError:
            if self._ends and doing.cancelled():
                raise Closing(ENDS) from None
            raise

    def has_time(self) -> bool:
        """Whether a caller can be served in this round of the loop. Where many come at once, the first are, and the
        others take threads, so that a person does not wait behind them all."""
        now = time.monotonic()
        if self._began is None:
            self._began = now
            self._loop.call_soon(self._rest)
        return now - self._began < SLICE

    def _rest(self) -> None:
        self._began = self._seen_now = None
        self._crowded, self._heard = self._heard > 1, 0

    def attend(self) -> None:
        """Answer somebody of whom the loop heard before this round of callbacks began: what is seen of the host in it
        is as of a moment after they called, for all of them. Ends with `attended`.

        INVARIANT: a look serves nobody who called after it. Whoever is not heard of in this round gets a new one.

        Where the last round heard of one alone, there is nothing to share, and nothing is kept for others."""
        self._heard += 1
        if self._crowded:
            if self._seen_now is None:
                self.has_time()
                self._seen_now = Links()
            self.moment = self._seen_now

    def attended(self) -> None:
        self.moment = None

    def fault(self, error: Exception) -> None:
        """Tell of something that broke inside."""
        self.voice.fault(error)
        self.metrics.faults += 1

    async def settled(self, request: Request, *, quick: bool = False) -> Settled:
        """A call settled for a caller. One that is `quick` needs no thread, unless another process holds the trail."""
        request.moment = self.moment if quick else None
        return await self.gate.settle(request, quick=quick and not self._ends, work=self.work)

    def gate_now(self, project: str, session: str) -> Engine:
        """The gate of a project as the files are now."""
        return self.gates.find(project, session)[0]

    def watchers(self) -> dict[str, object]:
        """Who could answer, for persons."""
        return {"streams": len(self.hub.streams), "signed_in": len(self.access.sessions)}

    async def signed_in(self, person: Person) -> None:
        """Somebody signed in: it is recorded, and shown everywhere, so that nobody does it in silence."""
        self.voice.say(f"signed in: {person.who}, session {person.session}")
        self.hub.tell("signed-in", {"session": person.session, "now": self.clock()})
        place = "in the inbox" if person.channel == INBOX else "on the page"
        words = f"signed in {place}, session {person.session}"
        record = Record("event", new_id(), self.clock(), who=person.who, channel=person.channel, reason=words)
        await asyncio.to_thread(self.gate.memory.record, record)

    def ends(self, person: Person) -> float:
        """When a session ends at the latest, in seconds since the epoch."""
        return round(self.clock() + person.until - steady(), 3)

    def is_signed_in(self, asked: ApiRequest) -> bool:
        """Whether the person of a request that goes on is still signed in; that it goes on keeps the session awake."""
        return asked.person is not None and self.access.sessions.awake(asked.cookie)

    def gates_in(self, mode: str) -> EngineCache:
        """Engines as they would be in another mode, for the simulator."""
        if not mode:
            return self.gates
        if mode not in self._by_mode:
            self._by_mode[mode] = EngineCache(self._environ, mode=mode, config=self._config)
        return self._by_mode[mode]

    def seen(self, call: Call, project: str) -> None:
        if not call.session:
            return
        now, last = self.clock(), self._seen.get(call.session)
        if last is not None and last.project == project and last.runtime == call.runtime and 0 <= now - last.seen < 1.0:
            return
        self._seen.pop(call.session, None)
        self._seen[call.session] = KnownSession(call.session, call.runtime, project, now)
        while len(self._seen) > SEEN:
            del self._seen[next(iter(self._seen))]

    def remember(self, session: str, environ: Mapping[str, str], project: str) -> None:
        """What a command hook tells of its session, and an HTTP hook does not."""
        if session:
            self._told.pop(session, None)
            self._told[session] = ({"HOME": self.home, **environ}, project)
            while len(self._told) > SEEN:
                del self._told[next(iter(self._told))]

    def told(self, session: str) -> tuple[Mapping[str, str], str]:
        """The environment and the project of a session, as far as they were told."""
        return self._told.get(session, ({"HOME": self.home}, ""))

    def sessions(self) -> list[KnownSession]:
        """Sessions that called, the latest first."""
        return list(reversed(self._seen.values()))

    def projects(self, first: str) -> list[str]:
        """Projects that are known, the given one first."""
        return list(dict.fromkeys([first, self.folder, *(each.project for each in self.sessions() if each.project)]))

    async def settle_session(self, session: str) -> None:
        """Release what waits in a session and needs no asking any more."""
        names = {each.held.call.runtime for each in self.gate.broker.pending() if each.held.call.session == session}
        for runtime in names:
            await self.gate.broker.settle((runtime, session))

    def recent(self) -> list[object]:
        """The latest records of the trail, the oldest first."""
        found = list(query.read(self.gate.memory.trail.folder, newest_first=True, limit=RECENT))
        return [shown.entry(each.fields) for each in reversed(found)]

    # How it is done

    def _engine_of(self, held: Held) -> Engine:
        return self.gates.find(held.project, held.call.session)[0]

    def _follow(self) -> None:
        """Tell the pages of every record that any process writes."""
        while not self._loop.is_closed():
            try:
                for entry in query.follow(self.gate.memory.trail.folder, heard=lambda: bool(self.hub.streams)):
                    if self.hub.streams:
                        self._loop.call_soon_threadsafe(self.hub.tell, "decision", shown.entry(entry.fields))
            except RuntimeError:  # the loop is closed
                return
            except Exception as error:  # the live view misses something; what is recorded is recorded
                self.voice.say(f"the live view cannot read the trail: {error}")
                time.sleep(FOLLOW_AGAIN)
