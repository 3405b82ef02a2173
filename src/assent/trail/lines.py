"""Bytes of a segment, line by line, forwards and backwards, in bounded memory. Knows nothing of what they say."""

from __future__ import annotations

import os
from collections.abc import Iterator

BLOCK = 1 << 20


def forwards(handle: int, size: int) -> Iterator[bytes]:
    """The lines of the first `size` bytes, each with its newline; the last may have none."""
    rest = b""
    at = 0
    while at < size:
        block = os.pread(handle, min(BLOCK, size - at), at)
        if not block:
            break
        at += len(block)
        lines = (rest + block).split(b"\n")
        rest = lines.pop()
        for each in lines:
            yield each + b"\n"
    if rest:
        yield rest


def backwards(handle: int, size: int) -> Iterator[bytes]:
    """The same lines, the last first."""
    rest = b""
    at = size
    first = True
    while at > 0:
        start = max(at - BLOCK, 0)
        block = os.pread(handle, at - start, start)
        at = start
        lines = (block + rest).split(b"\n")
        rest = lines[0]
        for each in reversed(lines[1:]):
            if not first:
                yield each + b"\n"
            elif each:
                yield each
            first = False
    if size and (rest or not first):
        yield rest if first else rest + b"\n"
