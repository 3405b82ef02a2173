"""Reads the trail as it grows, over rotations too. Knows nothing of what was there before."""

from __future__ import annotations

import os
from time import sleep

from assent.trail.query import Entry, Wanted, parse
from assent.trail.segments import CURRENT, open_own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def follow(folder: str, wanted: Wanted | None = None, *, poll: float = 0.3) -> Iterator[Entry]:
    """Wanted records that are written from now on, without end."""
    wanted = wanted or Wanted()
    path = os.path.join(folder, CURRENT)
    handle = _opened(path)
    at = os.fstat(handle).st_size if handle >= 0 else 0
    try:
        while True:
            # In this order: what is renamed after the look is read to its end in the next round.
            moved = handle < 0 or _moved(handle, path)
            for raw in _lines(handle, at):
                at += len(raw)
                entry = parse(path, 0, raw, wanted)
                if isinstance(entry, Entry):
                    yield entry
            following = _opened(path) if moved else -1
            if following >= 0:
                if handle >= 0:
                    os.close(handle)
                handle, at = following, 0
            else:
                sleep(poll)
    finally:
        if handle >= 0:
            os.close(handle)


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
