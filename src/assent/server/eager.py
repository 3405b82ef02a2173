"""Coroutines that are run at once, up to where they first have to wait. Most never do, and need no task then.

INVARIANT: what runs before the first wait has no task of its own, so it must not ask for one. A function that does
(`asyncio.timeout`, and `asyncio.wait_for` of newer Pythons) gives the loop a turn first, with `asyncio.sleep(0)`."""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Finished(Generic[T]):
    """What a coroutine gave that had to wait for nothing."""

    __slots__ = ("value",)

    def __init__(self, value: T) -> None:
        self.value = value


class Suspended(Generic[T]):
    """A coroutine that waits. To be awaited once, in a task: it goes on from there."""

    __slots__ = ("_coroutine", "_wanted")

    def __init__(self, coroutine: Coroutine[Any, Any, T], wanted: object) -> None:
        self._coroutine = coroutine
        self._wanted = wanted  # what it waits for, as it would tell its task

    def __await__(self) -> Generator[object, Any, T]:
        coroutine, wanted = self._coroutine, self._wanted
        try:
            while True:
                try:
                    told = yield wanted
                except GeneratorExit:
                    coroutine.close()
                    raise
                except BaseException as error:  # it was cancelled, and may see to that
                    wanted = coroutine.throw(error)
                else:
                    wanted = coroutine.send(told)
        except StopIteration as ended:
            value: T = ended.value
            return value


def run_eagerly(coroutine: Coroutine[Any, Any, T]) -> Finished[T] | Suspended[T]:
    """Run a coroutine up to where it has to wait. Raises what it raises before that."""
    try:
        return Suspended(coroutine, coroutine.send(None))
    except StopIteration as ended:
        return Finished(ended.value)
