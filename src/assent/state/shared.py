"""Objects that the gates of one process share: one trail and one store for each state folder."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
_lock = threading.Lock()
_open: dict[tuple[type, str], list[Any]] = {}  # (what, where) → the object, and how many use it


def take(kind: type[T], path: str, make: Callable[[str], T]) -> T:
    """The object of this kind at a path, created on first use. Release it with `drop`."""
    with _lock:
        found = _open.get((kind, path))
        if found is None:
            found = _open[kind, path] = [make(path), 0]
        found[1] += 1
        shared: T = found[0]
        return shared


def drop(kind: type, path: str) -> bool:
    """Release an object. True if this was the last user: close it."""
    with _lock:
        found = _open.get((kind, path))
        if found is None:
            return True
        found[1] -= 1
        if found[1] <= 0:
            del _open[kind, path]
        return bool(found[1] <= 0)


def _forked() -> None:
    global _lock
    _lock = threading.Lock()
    _open.clear()  # a fork shares no locks


os.register_at_fork(after_in_child=_forked)
