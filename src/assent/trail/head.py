"""How far the trail reaches, kept apart from it: so that a cut tail is found. Reads no lines.

`head.json` is one line of a fixed length, written in place: `count` lines in all, the last one's `hash`, and the
`offset` at which the current segment ends, whose first line is number `first`."""

from __future__ import annotations

import os

from assent.contract import Value, loads
from assent.trail.line import NO_HASH
from assent.trail.segments import HEAD, open_own

LENGTH = 256


class Head(Value):
    """The state of the trail after its last line."""

    __slots__ = ("count", "hash", "offset", "first")

    def __init__(self, count: int = 0, hash: str = NO_HASH, offset: int = 0, first: int = 1) -> None:
        self.count = count
        self.hash = hash
        self.offset = offset
        self.first = first

    def encode(self) -> bytes:
        text = b'{"v":1,"count":%d,"hash":"%b","offset":%d,"first":%d}' % (
            self.count,
            self.hash.encode(),
            self.offset,
            self.first,
        )
        return text.ljust(LENGTH - 1) + b"\n"


def decode(raw: bytes) -> Head | None:
    """The head that bytes stand for; None where they are not exactly what a writer writes."""
    try:
        value = loads(raw)
        head = Head(value["count"], value["hash"], value["offset"], value["first"])
        return head if head.encode() == raw else None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def read_head(folder: str) -> bytes | None:
    """The bytes of the head; None where there is none."""
    try:
        handle = open_own(os.path.join(folder, HEAD), os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        return os.pread(handle, LENGTH * 2, 0)
    finally:
        os.close(handle)
