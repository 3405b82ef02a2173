"""One model, asked in a separate thread: with a timeout, once for identical calls, and not while it fails.

Which calls are asked about, and what an opinion settles, is decided in `policy`. Opinions are cached in memory only."""

from __future__ import annotations

import asyncio
import json
import math
import os
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import closing, suppress
from threading import Lock, Thread
from time import monotonic, time
from typing import TYPE_CHECKING

from assent.approval.classifier import apis, prompt
from assent.approval.classifier.apis import Unread
from assent.approval.classifier.prompt import Shown
from assent.contract import StoreError, keep, sha256
from assent.contract.classifier import Backend, Opinion
from assent.state.files import held, read, replace_text, state_folder

if TYPE_CHECKING:
    import httpx

REMEMBERED = 1024  # opinions
AT_ONCE = 8  # requests
LAST = 2.0  # seconds for requests that are cancelled at the end
OURS = ("key", "library")  # failures of this process alone: another one may succeed
FILE = "breaker.json"
FAILURES = 5  # in a row
REST = 60.0  # seconds
_LARGEST = 4096


class Classifier:
    """Asks one backend. Safe for threads and event loops; the first question starts its thread.

    `state` is Assent's folder, where failures in a row are counted; `environ` is where a key may be."""

    def __init__(
        self, backend: Backend, *, state: str, environ: Mapping[str, str], clock: Callable[[], float] = time
    ) -> None:
        self.backend = backend
        self._environ = environ
        self._breaker = Breaker(state, sha256(repr(backend).encode()).hexdigest(), clock=clock)
        self._known: dict[str, Opinion] = {}
        self._flights: dict[str, asyncio.Task[Opinion]] = {}
        self._client: httpx.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._process = 0
        self._lock = Lock()

    def known(self, key: str) -> Opinion | None:
        """The cached opinion on an equivalent call."""
        found = self._known.get(key)
        return found.again() if found is not None else None

    def ask(self, key: str, shown: Shown, patience: float) -> Opinion:
        """The model's opinion; a failure is never safe. Waits for `patience` seconds at most. `key` covers everything
        the answer depends on: concurrent callers with the same key get the same answer."""
        return self._begin(key, shown, patience).result(patience + LAST)

    async def asked(self, key: str, shown: Shown, patience: float) -> Opinion:
        """The same for an event loop."""
        return await asyncio.wait_for(asyncio.wrap_future(self._begin(key, shown, patience)), patience + LAST)

    def close(self) -> None:
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None and self._process == os.getpid():
            asyncio.run_coroutine_threadsafe(self._end(), loop).result()
            loop.call_soon_threadsafe(loop.stop)

    # In the thread

    def _begin(self, key: str, shown: Shown, patience: float) -> Future[Opinion]:
        return asyncio.run_coroutine_threadsafe(self._patiently(key, shown, patience), self._running())

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None or self._process != os.getpid():  # a fork leaves no thread behind
                self._loop, self._process = asyncio.new_event_loop(), os.getpid()
                self._client, self._flights = None, {}
                Thread(target=_run, args=(self._loop,), name="classifier", daemon=True).start()
            return self._loop

    async def _patiently(self, key: str, shown: Shown, patience: float) -> Opinion:
        started, first = monotonic(), key not in self._flights
        if first:
            self._flights[key] = asyncio.create_task(self._opinion(key, shown))
            self._flights[key].add_done_callback(lambda _: self._flights.pop(key, None))
        flight = self._flights[key]
        try:
            found = await asyncio.wait_for(asyncio.shield(flight), max(patience, 0.0))
        except TimeoutError:
            return self._none("timeout", "the model did not answer in time", monotonic() - started)
        except asyncio.CancelledError:
            if flight.cancelled():
                return self._none("fault", "the request was cancelled, since Assent ends")
            raise
        return found if first or found.error else found.again()

    async def _opinion(self, key: str, shown: Shown) -> Opinion:
        started = monotonic()
        try:
            if left := self._breaker.rests():
                return self._none("rests", f"the model failed several times and is not asked for {left:.0f} s more")
            async with asyncio.timeout(self.backend.timeout):
                found = await self._said(shown, started)
        except TimeoutError:
            return self._failure("timeout", "the model did not answer in time", started)
        except apis.Failed as error:
            return self._failure(error.code, str(error), started)
        except Unread as error:  # the service works, but the reply is no answer
            self._breaker.worked()
            return self._none(error.code, str(error), monotonic() - started, *error.tokens)
        except Exception as error:
            return self._failure("fault", f"an internal error while asking: {type(error).__name__}", started)
        self._breaker.worked()
        keep(self._known, key, found, REMEMBERED)
        return found

    async def _said(self, shown: Shown, started: float) -> Opinion:
        backend = self.backend
        key = await apis.find_key(backend.key, self._environ)
        if self._client is None:
            self._client = apis.client(backend.timeout)
            self._places = asyncio.Semaphore(AT_ONCE)
        async with self._places:
            said = await apis.send(self._client, apis.request(backend, key, prompt.SYSTEM, prompt.framed(shown)))
        return Opinion(
            said.safe,
            said.reason,
            backend.model,
            seconds=monotonic() - started,
            input_tokens=said.input_tokens,
            output_tokens=said.output_tokens,
            cost=self._cost(said.input_tokens, said.output_tokens),
        )

    def _cost(self, read: int, written: int) -> float:
        return round((read * self.backend.input_price + written * self.backend.output_price) / 1e6, 9)

    def _failure(self, code: str, reason: str, started: float) -> Opinion:
        if code not in OURS:
            self._breaker.failed()
        return self._none(code, reason, monotonic() - started)

    def _none(self, error: str, reason: str, seconds: float = 0.0, read: int = 0, written: int = 0) -> Opinion:
        return Opinion(
            False,
            reason,
            self.backend.model,
            error=error,
            seconds=seconds,
            input_tokens=read,
            output_tokens=written,
            cost=self._cost(read, written),
        )

    async def _end(self) -> None:
        for flight in list(self._flights.values()):
            flight.cancel()
        if rest := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(rest, timeout=LAST)
        if self._client is not None:
            await self._client.aclose()
            self._client = None


def _run(loop: asyncio.AbstractEventLoop) -> None:
    with closing(loop):
        loop.run_forever()


class Breaker:
    """Pauses requests to a backend for a while after some failures in a row. `of` names the backend: another one starts
    at zero. Without `state` none are counted.

    Saved in a small file, since a hook is a process for each call. If it cannot be read or written, the model is asked
    again: a failure costs time and a question, never an answer."""

    def __init__(self, state: str, of: str, *, clock: Callable[[], float] = time) -> None:
        self._state = state
        self._path = os.path.join(state, FILE)
        self._of = of
        self._clock = clock

    def rests(self) -> float:
        """For how many more seconds the backend is not asked."""
        left = self._read()[1] - self._clock()
        return left if 0 < left <= REST else 0.0  # setting the clock back does not extend the pause

    def failed(self) -> None:
        """Count a failure; the last one of several starts a pause, and after that each one more."""
        self._change(lambda failures: failures + 1)

    def worked(self) -> None:
        if self._read()[0]:
            self._change(lambda _: 0)

    def _change(self, count: Callable[[int], int]) -> None:
        if not self._state:
            return
        with suppress(OSError, StoreError):
            state_folder(self._state)
            with held(f"{self._path}.lock"):
                failures = count(self._read()[0])
                until = self._clock() + REST if failures >= FAILURES else 0.0
                replace_text(self._path, json.dumps({"of": self._of, "failures": failures, "until": until}))

    def _read(self) -> tuple[int, float]:
        """Failures in a row, and until when the backend is not asked."""
        with suppress(OSError, ValueError, TypeError, KeyError, ArithmeticError):
            found = json.loads(read(self._path, _LARGEST)[0]) if self._state else {}
            failures, until = int(found["failures"]), float(found["until"])
            if found["of"] == self._of and math.isfinite(until):
                return failures, until
        return 0, 0.0
