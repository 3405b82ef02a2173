"""Waiting with an end: for what was given to us, and for deliveries in order. Knows nothing of questions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from typing import Any, TypeVar

T = TypeVar("T")


async def within(seconds: float, work: Awaitable[T]) -> T:
    """What the awaitable gives within this time; else TimeoutError.

    What does not end is cancelled and left behind, even where it will not be cancelled. That something cancelled
    itself inside is an error like any other: only the cancelling of the one who waits here is CancelledError."""
    task = asyncio.ensure_future(contained(work))
    task.add_done_callback(_retrieve)
    if isinstance(work, Coroutine):  # which has not begun where the task was cancelled before its first step
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
    """The same, where `sys.exit()` and the like are an error: raised in a task, they would end its loop, and with it
    the questions of everybody else."""
    try:
        return await work
    except (Exception, asyncio.CancelledError):
        raise
    except BaseException as error:
        raise RuntimeError(f"it ended with {type(error).__name__}") from error


async def given(seconds: float, found: T | Awaitable[T]) -> T:
    """The same for what a plain or a coroutine function returned."""
    return await within(seconds, found) if isinstance(found, Awaitable) else found


def _retrieve(task: asyncio.Future[Any]) -> None:
    """An error that nobody waits for any more is not worth a warning."""
    if not task.cancelled():
        task.exception()


class Tasks:
    """Tasks that run beside, kept alive until they end. Those with the same key run one after the other."""

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
        task = self.start(_after(self._last.get(key), work))
        self._last[key] = task
        task.add_done_callback(lambda done: self._forget(key, done))

    async def drain(self, seconds: float) -> None:
        """Let everything come to its end; cancel what does not."""
        mine = asyncio.current_task()
        left = {each for each in self._tasks if each is not mine}
        if left:
            _, left = await asyncio.wait(left, timeout=seconds)
        for each in left:
            each.cancel()

    def _forget(self, key: Hashable, task: asyncio.Task[None]) -> None:
        if self._last.get(key) is task:
            del self._last[key]


async def _after(before: asyncio.Task[None] | None, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    if before is not None:
        await asyncio.wait({before})
    await work()
