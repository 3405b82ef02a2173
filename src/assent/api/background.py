"""An event loop on a background thread, one for all gates of a process."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
import weakref
from collections.abc import Coroutine, Generator
from typing import Any, TypeVar

from assent.contract import AssentError

T = TypeVar("T")
ENDING = 5.0  # seconds for what is cancelled to end


class Shared:
    """The loop of this process and its thread, which runs while somebody uses it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.loop: asyncio.AbstractEventLoop | None = None
        self.thread: threading.Thread | None = None
        self.users = 0

    def taken(self) -> asyncio.AbstractEventLoop:
        """The loop, started if it does not run. Call it with the lock held."""
        if self.loop is None:
            self.loop = asyncio.new_event_loop()
            self.thread = threading.Thread(target=_run, args=(self.loop,), name="assent", daemon=True)
            self.thread.start()
        return self.loop

    def left(self) -> None:
        with self.lock:
            self.users -= 1
            if not self.users and self.loop is not None:
                self.loop.call_soon_threadsafe(self.loop.stop)
                self.loop = self.thread = None


_shared = Shared()


class Thread:
    """The work of one gate on that loop, which starts with the first work."""

    def __init__(self) -> None:
        self._closed = False
        self.reset()
        _living.add(self)

    def reset(self) -> None:
        """Forget all work: a fork does not copy threads."""
        self._user = False
        self._doing: set[concurrent.futures.Future[Any]] = set()

    def start(self, work: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        """Run a coroutine on the loop. Cancelling the future cancels it. Raises AssentError once this is closed."""
        with _shared.lock:
            if self._closed:
                work.close()
                raise AssentError("the gate was closed")
            loop = _shared.taken()
            if not self._user:
                self._user = True
                _shared.users += 1
            doing = asyncio.run_coroutine_threadsafe(work, loop)
            self._doing.add(doing)
        doing.add_done_callback(self._doing.discard)
        return doing

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop, and wait for it. An interrupt cancels it."""
        if threading.current_thread() is _shared.thread:
            work.close()
            raise AssentError("the gate was called on the thread on which it asks; use `await gate.guard(…)` there")
        doing = self.start(work)
        try:
            return doing.result()
        except BaseException:
            doing.cancel()
            raise

    def close(self) -> None:
        """Cancel all work, so that nobody waits forever."""
        with _shared.lock:
            first, self._closed = not self._closed, True
            left = list(self._doing)
        for each in left:
            each.cancel()
        if first and self._user:
            _shared.left()


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
    """A coroutine that cannot be used as its result: if `await` is forgotten, any other would be true."""

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
    _shared.__init__()  # type: ignore[misc]  # its lock was held by a thread that the fork left behind
    for each in list(_living):
        each.reset()


os.register_at_fork(after_in_child=_forked)
