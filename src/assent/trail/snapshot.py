"""The segments of a trail as of one moment between two appends. Reads no lines itself."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from assent.contract import StoreError
from assent.trail.head import read_head
from assent.trail.segments import CURRENT, LOCK, old_segments, open_own


class Segment:
    """One file, opened while the lock was held: what is appended or renamed later is not looked at."""

    __slots__ = ("path", "handle", "size", "first", "current")

    def __init__(self, path: str, first: int, *, current: bool) -> None:
        self.path = path
        self.handle = open_own(path, os.O_RDONLY)
        self.size = os.fstat(self.handle).st_size
        self.first = first
        self.current = current


@contextmanager
def snapshot(folder: str) -> Iterator[tuple[list[Segment], bytes | None]]:
    """All segments, oldest first, and the bytes of the head. Nothing where there is no trail."""
    held: list[Segment] = []
    try:
        yield _fill(folder, held)
    finally:
        for each in held:
            os.close(each.handle)


def _fill(folder: str, held: list[Segment]) -> tuple[list[Segment], bytes | None]:
    try:
        with _shared(os.path.join(folder, LOCK)):
            for first, path in old_segments(folder):
                held.append(Segment(path, first, current=False))
            with suppress(FileNotFoundError, NotADirectoryError):
                held.append(Segment(os.path.join(folder, CURRENT), 0, current=True))
            return held, read_head(folder) if os.path.isdir(folder) else None
    except OSError as error:
        raise StoreError(f"the trail in `{folder}` cannot be read: {error.strerror}; check its permissions") from None


@contextmanager
def _shared(path: str) -> Iterator[None]:
    try:
        lock = open_own(path, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        yield
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_SH)
        yield
    finally:
        os.close(lock)
