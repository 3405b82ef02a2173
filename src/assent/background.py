"""An event loop on a thread of its own, for callers that have none or many. Knows nothing of what runs there."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
import weakref
from collections.abc import Coroutine, Generator
from typing import Any, TypeVar

from assent.contract.errors import AssentError

T = TypeVar("T")
ENDING = 5.0  # seconds for what is cancelled to end


class Thread:
    """One such loop, started when it is first needed."""

    def __init__(self) -> None:
        self._closed = False
        self.reset()
        _living.add(self)

    def reset(self) -> None:
        """As at first: a fork takes no threads along."""
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def start(self, work: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        """Do something on the loop. Cancelling the future cancels it. Raises AssentError once it is closed."""
        with self._lock:
            if self._closed:
                work.close()
                raise AssentError("the gate was closed")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_run, args=(self._loop,), name="assent", daemon=True)
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something on the loop, and wait for it. An interrupt takes it back."""
        if threading.current_thread() is self._thread:
            work.close()
            raise AssentError("the gate was asked from the very thread that asks; use `await gate.guard(…)` there")
        doing = self.start(work)
        try:
            return doing.result()
        except BaseException:
            doing.cancel()
            raise

    def close(self) -> None:
        """End it. What still runs there is cancelled, so that nobody waits for ever."""
        with self._lock:
            self._closed = True
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._loop.stop)
            self._loop = None


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.wait(left, timeout=ENDING))
    finally:
        loop.close()


class Awaited(Coroutine[Any, Any, T]):
    """A coroutine that cannot be taken for what it gives: where `await` is forgotten, any other would be true."""

    def __init__(self, inner: Coroutine[Any, Any, T]) -> None:
        self._inner = inner

    def __await__(self) -> Generator[Any, Any, T]:
        return self._inner.__await__()

    def send(self, value: Any) -> Any:
        return self._inner.send(value)

    def throw(self, *error: Any) -> Any:
        return self._inner.throw(*error)

    def close(self) -> None:
        self._inner.close()

    def __bool__(self) -> bool:
        raise TypeError("nothing is answered yet; write `await`, and then `verdict.allowed`")


_living: weakref.WeakSet[Thread] = weakref.WeakSet()


def _forked() -> None:
    for each in list(_living):
        each.reset()


os.register_at_fork(after_in_child=_forked)
