"""Waiting with a timeout, tasks in order, and functions in threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


async def within(seconds: float, work: Awaitable[T]) -> T:
    """The result of the awaitable within this time; else TimeoutError.

    A task that does not end is cancelled and abandoned, even if it ignores that. If the awaitable cancels itself, that
    is an ordinary error: only cancelling the caller raises CancelledError."""
    task = asyncio.ensure_future(contained(work))
    task.add_done_callback(_retrieve)
    if isinstance(work, Coroutine):  # not started if the task was cancelled before its first step
        task.add_done_callback(lambda _: work.close())
    try:
        await asyncio.wait({task}, timeout=seconds)
    finally:
        if not task.done():
            task.cancel()
    if not task.done():
        raise TimeoutError(f"no reply within {seconds:g} s")
    if task.cancelled():
        raise RuntimeError("it was cancelled inside")
    return task.result()


async def contained(work: Awaitable[T]) -> T:
    """Turns `sys.exit()` and the like into an error: raised in a task, they would end its loop, and with it the
    questions of everybody else."""
    try:
        return await work
    except (Exception, asyncio.CancelledError):
        raise
    except BaseException as error:
        raise RuntimeError(f"it ended with {type(error).__name__}") from error


async def given(seconds: float, found: T | Awaitable[T]) -> T:
    """`within` for the result of a plain or a coroutine function."""
    return await within(seconds, found) if isinstance(found, Awaitable) else found


async def in_thread(work: Callable[[], T], name: str) -> T:
    """The result of a plain function that may wait for somebody. It has its own thread, so that it takes none from
    others and does not delay the exit of the program. A result after cancellation is ignored."""
    done: Future[T] = Future()
    done.set_running_or_notify_cancel()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:
            plain = isinstance(error, Exception) and not isinstance(error, StopIteration)  # which no future takes
            done.set_exception(error if plain else RuntimeError(f"the function ended with {type(error).__name__}"))

    threading.Thread(target=run, name=name, daemon=True).start()
    return await asyncio.wrap_future(done)


def _retrieve(task: asyncio.Future[Any]) -> None:
    """Keep asyncio from warning about an error that nobody waits for any more."""
    if not task.cancelled():
        task.exception()


class Tasks:
    """Background tasks, kept alive until they end. Those with the same key run one after the other."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._last: dict[Hashable, asyncio.Task[None]] = {}

    def __len__(self) -> int:
        return len(self._tasks)

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(_retrieve)
        return task

    def queue(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Start this once everything queued before under the same key has ended, however it ended."""
        before = self._last.get(key)

        async def after() -> None:
            if before is not None:
                await asyncio.wait({before})
            await work()

        task = self._last[key] = self.start(after())
        task.add_done_callback(lambda done: self._forget(key, done))

    async def drain(self, seconds: float) -> None:
        """Wait for all tasks to end; cancel those that do not."""
        left = self._tasks - {asyncio.current_task()}
        if left:
            _, left = await asyncio.wait(left, timeout=seconds)
        for each in left:
            each.cancel()

    def _forget(self, key: Hashable, task: asyncio.Task[None]) -> None:
        if self._last.get(key) is task:
            del self._last[key]
