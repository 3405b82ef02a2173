"""Repairs the trail after a writer died or somebody else changed it. Call it with the lock held.

Nothing is deleted or hidden. A complete line that the head does not count yet is adopted. Bytes that are no line of the
chain are moved to another file, and an `event` in the trail says so. A trail that is shorter than its head continues
from the head: the gap stays, and `verify` reports it."""

from __future__ import annotations

import os

from assent.contract import Record
from assent.trail import line
from assent.trail.segments import (
    CURRENT,
    HEAD,
    Head,
    decode,
    old_name,
    old_segments,
    open_own,
    read_head,
    write_whole,
)

TAIL = 4 * 1024 * 1024  # bytes at the end of a segment to search for a complete line


def recover(folder: str, time: float) -> tuple[Head, list[Record]]:
    """Make the current segment end with its last whole line; return where that is, and the events to record."""
    raw = read_head(os.path.join(folder, HEAD))
    head = decode(raw) if raw is not None else None
    with open(open_own(os.path.join(folder, CURRENT), os.O_RDWR | os.O_CREAT), "r+b", 0) as file:
        handle, size = file.fileno(), os.fstat(file.fileno()).st_size
        if head is None:
            return _without_head(folder, handle, size, raw, time)
        if size == 0 < head.offset and _was_rotating(folder, head):
            head = Head(head.count, head.hash, 0, head.count + 1)
        if size < head.offset:
            return _shorter(folder, handle, head, size, time)
        return (head, []) if size == head.offset else _longer(folder, handle, head, size, time)


def sync_folder(folder: str) -> None:
    """Wait until the names in a folder are on disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _was_rotating(folder: str, head: Head) -> bool:
    """Whether a writer died after it renamed the full segment and before it wrote the new head."""
    try:
        handle = open_own(os.path.join(folder, old_name(head.first)), os.O_RDONLY)
    except FileNotFoundError:
        return False
    with open(handle, "rb", 0):
        last = os.pread(handle, 67, max(head.offset - 67, 0))[:64]
        return os.fstat(handle).st_size == head.offset and last == head.hash.encode()


# ---------------------------------------------------------------- more than the head counts


def _longer(folder: str, handle: int, head: Head, size: int, time: float) -> tuple[Head, list[Record]]:
    head, rest = _adopt(_read(handle, head.offset, size), head)
    if not rest:
        return head, []
    name = _aside(folder, head.count + 1, rest)
    torn = b"\n" not in rest
    code, what = ("trail.torn", "a line was not finished") if torn else ("trail.foreign", "lines do not fit the chain")
    return _over(handle, head, _event(head, code, f"{what}; the bytes were moved to `{name}`", time, len(rest)))


def _adopt(data: bytes, head: Head) -> tuple[Head, bytes]:
    """The head after every line that fits the chain, and the remaining bytes."""
    for each in data.splitlines(keepends=True):
        found = line.link(each)
        if found is None or not found.whole or found.n != head.count + 1 or found.prev != head.hash:
            break
        head = Head(found.n, found.hash, head.offset + len(each), head.first)
        data = data[len(each) :]
    return head, data


def _over(handle: int, head: Head, event: Record) -> tuple[Head, list[Record]]:
    """Write an event over the moved bytes, so that no crash in between loses it."""
    data, found = line.chained(line.body(event), head.count + 1, head.hash)
    end = head.offset + len(data)
    if os.pwrite(handle, data, head.offset) != len(data):
        raise OSError(28, "no space left on the disk")
    os.ftruncate(handle, end)
    return Head(head.count + 1, found, end, head.first), []


def _aside(folder: str, n: int, rest: bytes) -> str:
    for each in range(1000):
        name = f"torn-{n}.txt" if each == 0 else f"torn-{n}-{each}.txt"
        if not os.path.lexists(os.path.join(folder, name)):
            write_whole(os.path.join(folder, name), rest)
            return name
    raise OSError(17, "too many files of torn lines")


def _event(head: Head, code: str, reason: str, time: float, length: int = 0) -> Record:
    return Record(
        "event", f"trail-{head.count + 1}", time, code=code, reason=reason, more={"bytes": length} if length else None
    )


# ---------------------------------------------------------------- less than the head counts


def _shorter(folder: str, handle: int, head: Head, size: int, time: float) -> tuple[Head, list[Record]]:
    """The end is gone. The chain continues from the head, so that the gap can be seen."""
    data = _read(handle, max(size - TAIL, 0), size)
    whole = data.rfind(b"\n") + 1
    torn = _aside(folder, head.count + 1, data[whole:]) if whole < len(data) else ""
    moved = f", and a piece of a line was moved to `{torn}`" if torn else ""
    end = size - (len(data) - whole)
    gone = f"the trail was cut: {head.offset - end} bytes before line {head.count + 1} are gone{moved}"
    event = _event(head, "trail.cut", gone, time, head.offset - end)
    return _over(handle, Head(head.count, head.hash, end, head.first), event)


def _without_head(folder: str, handle: int, size: int, raw: bytes | None, time: float) -> tuple[Head, list[Record]]:
    """A new trail, or one whose head is gone: the head is taken from the last complete line, and an event says so."""
    old = old_segments(folder)
    if not old and not size and not raw:
        return Head(), []
    head = _from_lines(handle, size, 1)
    if head is not None:
        head = Head(head.count, head.hash, head.offset, line.number(os.pread(handle, 64, 0)) or head.count)
    elif old:
        with open(open_own(old[-1][1], os.O_RDONLY), "rb", 0) as before:
            found = _from_lines(before.fileno(), os.fstat(before.fileno()).st_size, old[-1][0])
        head = Head(found.count, found.hash, 0, found.count + 1) if found else None
    head = head or Head()
    what = "was missing" if raw is None else "was damaged"
    reason = f"`head.json` {what}; it was regenerated from line {head.count}"
    if rest := _read(handle, head.offset, size):
        moved = f"what followed line {head.count} was moved to `{_aside(folder, head.count + 1, rest)}`"
        head, _ = _over(handle, head, _event(head, "trail.torn", moved, time, len(rest)))
    return head, [_event(head, "trail.head", reason, time)]


def _from_lines(handle: int, size: int, first: int) -> Head | None:
    """The end of the last complete line of a segment."""
    start = max(size - TAIL, 0)
    data = _read(handle, start, size)
    end = data.rfind(b"\n") + 1
    while end:
        begin = data.rfind(b"\n", 0, end - 1) + 1
        found = line.link(data[begin:end])
        if found is not None and found.whole:
            return Head(found.n, found.hash, start + end, first)
        end = begin
    return None


def _read(handle: int, start: int, end: int) -> bytes:
    chunks: list[bytes] = []
    while start < end and (chunk := os.pread(handle, min(end - start, 1 << 24), start)):
        chunks.append(chunk)
        start += len(chunk)
    return b"".join(chunks)
