"""Bounded memories of what was worked out before: the oldest goes first. Says nothing of when one is out of date."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    Key = TypeVar("Key", bound=Hashable)
    Kept = TypeVar("Kept")


def keep(memory: dict[Key, Kept], key: Key, kept: Kept, most: int) -> None:
    """Remember something, and forget the oldest where that is one too many.

    One at a time: to let go of a thousand at once would make one call in a thousand wait."""
    if len(memory) >= most:
        try:
            memory.pop(next(iter(memory)), None)
        except (RuntimeError, StopIteration):  # another thread came between
            memory.clear()
    memory[key] = kept
