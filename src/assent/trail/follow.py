"""Reads the trail as it grows, over rotations too. Knows nothing of what was there before."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from time import sleep

from assent.trail.entries import Entry, Wanted, parse
from assent.trail.line import BEGINNING
from assent.trail.lines import backwards
from assent.trail.segments import CURRENT, old_segments, open_own


def follow(
    folder: str, wanted: Wanted | None = None, *, poll: float = 0.3, heard: Callable[[], bool] = lambda: True
) -> Iterator[Entry]:
    """Wanted records that are written from the call on, without end. While nobody hears them, they are passed over."""
    path = os.path.join(folder, CURRENT)
    handle = _opened(path)
    at = os.fstat(handle).st_size if handle >= 0 else 0
    last = [_last(handle, at)]
    return _parsed(path, _growing(folder, path, handle, at, last, poll), wanted or Wanted(), heard)


def _parsed(path: str, lines: Iterator[bytes], wanted: Wanted, heard: Callable[[], bool]) -> Iterator[Entry]:
    for raw in lines:
        entry = parse(path, 0, raw, wanted) if heard() else None
        if isinstance(entry, Entry):
            yield entry


def _growing(folder: str, path: str, handle: int, at: int, last: list[int], poll: float) -> Iterator[bytes]:
    """Whole lines as they come. `last` holds the number of the last one, to find the segments in between."""
    try:
        while True:
            # In this order: what is renamed after the look is read to its end in the next round.
            moved = handle < 0 or _moved(handle, path)
            for raw in _lines(handle, at):
                at += len(raw)
                last[0] = _number(raw) or last[0]
                yield raw
            following = _opened(path) if moved else -1
            if following < 0:
                sleep(poll)
                continue
            yield from _between(folder, following, last)
            if handle >= 0:
                os.close(handle)
            handle, at = following, 0
    finally:
        if handle >= 0:
            os.close(handle)


def _between(folder: str, following: int, last: list[int]) -> Iterator[bytes]:
    """Segments that were filled and put aside since the last look."""
    for first, path in old_segments(folder):
        handle = _opened(path) if first > last[0] > 0 else -1
        if handle < 0:
            continue
        try:
            if os.fstat(handle).st_ino != os.fstat(following).st_ino:
                for raw in _lines(handle, 0):
                    last[0] = _number(raw) or last[0]
                    yield raw
        finally:
            os.close(handle)


def _last(handle: int, size: int) -> int:
    """The number of the last line; 0 where there is none."""
    return next((number for raw in backwards(handle, size) if (number := _number(raw))), 0) if handle >= 0 else 0


def _number(raw: bytes) -> int:
    digits = raw[len(BEGINNING) : len(BEGINNING) + 20].partition(b",")[0]
    return int(digits) if raw.startswith(BEGINNING) and digits.isdigit() else 0


def _opened(path: str) -> int:
    try:
        return open_own(path, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return -1


def _moved(handle: int, path: str) -> bool:
    try:
        return os.stat(path).st_ino != os.fstat(handle).st_ino
    except FileNotFoundError:
        return True


def _lines(handle: int, at: int) -> Iterator[bytes]:
    """The whole lines behind a place."""
    rest = b""
    while handle >= 0 and (block := os.pread(handle, 1 << 20, at + len(rest))):
        lines = (rest + block).split(b"\n")
        rest = lines.pop()
        for each in lines:
            at += len(each) + 1
            yield each + b"\n"
