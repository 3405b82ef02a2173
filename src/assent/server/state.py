"""The state of one server, made at the start and closed at the end. Contains no HTTP."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from assent import __version__
from assent.approval.store import SqliteStore
from assent.contract import AssentError, Call, Record, display, keep
from assent.engine.cache import EngineCache, Refusing
from assent.engine.engine import Engine, Request, Settled
from assent.engine.journal import new_id
from assent.engine.memory import Memory, getuser
from assent.facts.links import Links
from assent.gate import CallGate
from assent.server.access import INBOX, SCRAPE_FILE, Access, Person, load_token, steady
from assent.server.api import shown
from assent.server.api.events import Hub
from assent.server.api.metrics import Metrics
from assent.server.api.shown import Readers
from assent.server.held_calls import HeldCalls, SlowDecisions
from assent.server.log import ServerLog
from assent.server.remote_channels import RemoteChannels
from assent.state import denials, files, sessions
from assent.state.files import state_folder
from assent.trail import line, query

STORE_FILE = "held.db"
RECENT = 100  # decisions sent to a page when it opens
MOST_SESSIONS = 200  # remembered
FOLLOW_AGAIN = 5.0  # seconds to wait after the trail could not be read
KEPT = 90 * 86400.0  # seconds that counts of denials are kept
WORKERS = 4  # threads for callers
SLICE = 0.02  # seconds of one round of the loop for callers
ENDS = "the server stopped before this was decided; make the call again"

T = TypeVar("T")


class Closing(AssentError):
    """The server stops before something was decided."""


@dataclass(frozen=True, slots=True)
class KnownSession:
    """A session that made a call since the start."""

    session: str
    runtime: str
    project: str
    seen: float


class ServerState:
    """Created inside the server's event loop."""

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
        self.home = environ.get("HOME", "") or os.path.expanduser("~")
        self.state = state_folder(files.assent_home(environ, self.home))
        self.port = port
        self.socket = socket
        self.address = f"http://127.0.0.1:{port}/"
        self.hosts = frozenset(f"{name}:{port}".encode() for name in ("127.0.0.1", "localhost", "[::1]"))
        self.origins = frozenset(b"http://" + host for host in self.hosts)
        self.folder = folder or os.getcwd()
        self.clock = time.time
        self.log = ServerLog()
        self.metrics = Metrics()
        token, scrape = load_token(self.state), load_token(self.state, SCRAPE_FILE)
        self.access = Access(steady, who=getuser(), token=token, scrape=scrape)
        self._make_engines = partial(EngineCache, environ, config=config)
        self.engines = self._make_engines(mode=mode)
        self._by_mode: dict[str, EngineCache] = {}
        self._store = SqliteStore(os.path.join(self.state, STORE_FILE))
        self.gate = CallGate(
            Memory(self.state), self._store, lambda held: self.engine_now(held.project, held.call.session)
        )
        line.hasten()
        self._stopping = False
        # Of this round of the event loop: when it first worked for a caller, what it observed of the host, and how many
        # callers it has; and whether the last round had several.
        self._round_began: float | None = None
        self._round_links: Links | None = None
        self._round_callers, self._crowded = 0, False
        self.moment: Links | None = None  # `_round_links`, while a caller is served that shares them
        self._callers = ThreadPoolExecutor(WORKERS, thread_name_prefix="callers")
        self.calls = HeldCalls(self.gate, self.work)
        self.slow = SlowDecisions()
        self.hub = Hub(self.clock)
        self.readers = Readers()
        self.gate.broker.offers.closed = lambda offer: self.hub.send("offer-ended", {"id": offer.id})
        self._known: dict[str, KnownSession] = {}
        self._environments: dict[str, tuple[dict[str, str], str]] = {}
        self._loop = asyncio.get_running_loop()
        self.remote = RemoteChannels(self, secrets or {}, config=config)
        threading.Thread(target=self._follow, name="trail", daemon=True).start()

    async def open(self) -> None:
        """Recover the questions that a crashed server left, and drop the state of old sessions."""
        await asyncio.to_thread(sessions.sweep, self.state, self.clock())
        await asyncio.to_thread(denials.forget, self.state, older_than=self.clock() - KEPT)
        await self.gate.broker.recover()
        self.remote.open()

    async def close(self) -> None:
        """Deny what waits, close the pages, and wait for the disk."""
        self.remote.leave()
        await self.gate.broker.close()
        await self.calls.close()
        await self.remote.close()
        self._stopping = True
        self._callers.shutdown(wait=False, cancel_futures=True)
        self.hub.close()
        await self._store.close()
        await asyncio.to_thread(self.gate.memory.close)

    def show_code(self) -> None:
        """Show a new code, only on a terminal: output to a file or a pipe would keep it."""
        if sys.stdout.isatty():
            self.log.show(f"\n  sign in at {self.address} with the code  {self.access.codes.fresh()}\n")

    # For endpoints

    def status(self) -> dict[str, object]:
        """What a caller may know. Who is signed in is for persons only."""
        engine, _ = self.engines.find(self.folder)
        return {
            "version": __version__,
            "pid": os.getpid(),
            "address": self.address,
            "socket": self.socket,
            "mode": engine.settings.mode.word,
            "problem": display.one_line(str(engine.error)) if isinstance(engine, Refusing) else "",
            "held": len(self.gate.broker.pending()),
            "uptime": round(self.clock() - self.metrics.started, 3),
            "elsewhere": self.remote.states(),
        }

    async def work(self, do: Callable[..., T], *given: Any, **named: Any) -> T:
        """Run a function for a caller in one of a few threads: however much callers send, persons have other threads.
        Raises Closing if the server stops first."""
        if self._stopping:
            raise Closing(ENDS)
        doing = self._loop.run_in_executor(self._callers, partial(do, *given, **named))
        try:
            return await doing
        except asyncio.CancelledError:
            if self._stopping and doing.cancelled():
                raise Closing(ENDS) from None
            raise

    def has_time(self) -> bool:
        """Whether a caller can be served in this round of the event loop. If many call at once, the first are; the
        others run in threads, so that no person waits behind them all."""
        now = time.monotonic()
        if self._round_began is None:
            self._round_began = now
            self._loop.call_soon(self._end_round)
        return now - self._round_began < SLICE

    def _end_round(self) -> None:
        self._round_began = self._round_links = None
        self._crowded, self._round_callers = self._round_callers > 1, 0

    def share_moment(self) -> None:
        """Serve a caller whose request arrived before this round of callbacks began: all such callers share what is
        observed of the host in this round, by `moment`. After a round with one caller nothing is shared.

        INVARIANT: an observation serves nobody who called after it. Whoever arrives after this round gets a new one."""
        self._round_callers += 1
        if self._crowded:
            if self._round_links is None:
                self.has_time()
                self._round_links = Links()
            self.moment = self._round_links

    def fault(self, error: Exception) -> None:
        self.log.fault(error)
        self.metrics.faults += 1

    async def settled(self, request: Request, *, quick: bool = False) -> Settled:
        """A call settled for a caller. A `quick` one takes no thread, unless another process holds the trail."""
        request.moment = self.moment if quick else None
        return await self.gate.settle(request, quick=quick and not self._stopping, work=self.work)

    def engine_now(self, project: str, session: str) -> Engine:
        """The engine of a project by the current files."""
        return self.engines.find(project, session)[0]

    async def signed_in(self, person: Person) -> None:
        """Record a sign-in and show it everywhere: nobody signs in unnoticed."""
        self.log.say(f"signed in: {person.who}, session {person.session}")
        self.hub.send("signed-in", {"session": person.session, "now": self.clock()})
        words = f"signed in {'in the inbox' if person.channel == INBOX else 'on the page'}, session {person.session}"
        record = Record("event", new_id(), self.clock(), who=person.who, channel=person.channel, reason=words)
        await asyncio.to_thread(self.gate.memory.record, record)

    def expires(self, person: Person) -> float:
        """When a person's session ends at the latest, in seconds since the epoch."""
        return round(self.clock() + person.until - steady(), 3)

    def engines_in(self, mode: str) -> EngineCache:
        """Engines in another mode, for the simulator."""
        if not mode:
            return self.engines
        if mode not in self._by_mode:
            self._by_mode[mode] = self._make_engines(mode=mode)
        return self._by_mode[mode]

    def called(self, call: Call, project: str) -> None:
        """Remember the session of a call, the latest last."""
        if call.session:
            self._known.pop(call.session, None)
            known = KnownSession(call.session, call.runtime, project, self.clock())
            keep(self._known, call.session, known, MOST_SESSIONS)

    def remember(self, session: str, environ: Mapping[str, str], project: str) -> None:
        """Keep what a command hook sends of its session, for HTTP hooks, which do not send it."""
        if session:
            self._environments.pop(session, None)
            keep(self._environments, session, ({"HOME": self.home, **environ}, project), MOST_SESSIONS)

    def remembered(self, session: str) -> tuple[Mapping[str, str], str]:
        """The environment and the project that `remember` kept."""
        return self._environments.get(session, ({"HOME": self.home}, ""))

    def sessions(self) -> list[KnownSession]:
        """Sessions that made calls, the latest first."""
        return list(reversed(self._known.values()))

    def projects(self, first: str) -> list[str]:
        return list(dict.fromkeys([first, self.folder, *(each.project for each in self.sessions() if each.project)]))

    async def settle_session(self, session: str) -> None:
        """Release what waits in a session and no longer needs an answer."""
        names = {each.held.call.runtime for each in self.gate.broker.pending() if each.held.call.session == session}
        for runtime in names:
            await self.gate.broker.settle((runtime, session))

    def recent(self) -> list[dict[str, Any]]:
        """The latest records of the trail, the oldest first."""
        found = query.read(self.gate.memory.trail.folder, newest_first=True, limit=RECENT)
        return [shown.entry(each.fields) for each in found][::-1]

    def _follow(self) -> None:
        """Send every record that any process writes to the pages."""
        while not self._loop.is_closed():
            try:
                for entry in query.follow(self.gate.memory.trail.folder, heard=lambda: bool(self.hub.streams)):
                    if self.hub.streams:
                        self._loop.call_soon_threadsafe(self.hub.send, "decision", shown.entry(entry.fields))
            except RuntimeError:  # the loop is closed
                return
            except Exception as error:  # only the live view misses something
                self.log.say(f"the live view cannot read the trail: {error}")
                time.sleep(FOLLOW_AGAIN)
