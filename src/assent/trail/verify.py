"""Verifies the trail from its first line to its head and names the first fault. Changes nothing.

It proves that the lines are those written, in that order, with none missing in between or, by the head and the mark, at
the end. It cannot prove that nobody rewrote trail, head and mark."""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import Enum
from itertools import islice

from assent.trail import line
from assent.trail.entries import Segment, forwards, snapshot
from assent.trail.line import Link
from assent.trail.segments import HEAD, Head, decode, lost_path, mark_path, read_mark


class What(Enum):
    CHANGED = "changed"
    DROPPED = "dropped"
    INSERTED = "inserted"
    REORDERED = "reordered"
    TRUNCATED = "truncated"
    CUT = "cut tail"
    HEAD_MISSING = "head missing"
    HEAD_ALTERED = "head altered"
    GONE = "gone"
    REPLACED = "replaced"
    NOT_FOUND = "not found"


@dataclass(frozen=True, slots=True)
class Fault:
    """The first fault: its file, its line there, and its number in the chain."""

    what: What
    file: str
    line: int
    n: int
    text: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.what.value}: {self.text}"


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of `verify`. `notes` are remarks that are no faults."""

    fault: Fault | None
    lines: int
    segments: int
    last: int
    hash: str
    notes: tuple[str, ...] = ()


def verify(folder: str, *, start: int = 1, expect: str = "") -> Verification:
    """Check all segments. `start` is the number of the first line, if older segments were archived, `expect` the hash
    of a line, or a prefix of it, that must be among them."""
    with snapshot(folder) as (held, raw):
        head, mark = decode(raw) if raw is not None else None, read_mark(folder)
        walk = _ChainWalk(start, head.count if head else -1, mark.count if mark else -1, expect)
        fault = walk.all(held) or _judge_head(os.path.join(folder, HEAD), raw is None, head, walk)
        fault = fault or _judge_mark(folder, mark, walk)
        if fault is None and expect:
            if walk.expected:
                walk.notes.append(f"line {walk.expected} has the expected hash")
            else:
                text = f"no line has the hash {expect}: the trail was cut before it, or rewritten"
                fault = Fault(What.NOT_FOUND, folder, 0, walk.n, text)
        return Verification(fault, walk.lines, len(held), walk.n, walk.hash, tuple(walk.notes))


class _ChainWalk:
    """Goes from line to line with the number and hash of the last one."""

    def __init__(self, start: int, watched: int, marked: int, expect: str) -> None:
        self.start = start
        self.marked = marked  # the number of the last line that the mark counts
        self.at_mark = ""  # its hash
        self.expect = expect
        self.expected = 0  # the number of the line whose hash is expected
        self.watched = watched  # the number of the last line that the head counts
        self.seen: tuple[str, int] = (line.NO_HASH, 0) if watched == 0 else ("", -1)  # its hash, and where it ends
        self.first = self.before = 1  # the first numbers of the last segment and the one before it
        self.n = start - 1
        self.hash = line.NO_HASH if start == 1 else ""
        self.prev = ""  # the hash before the last line
        self.lines = 0
        self.place: tuple[str, int] = ("", 0)  # file and line of the last one
        self.tail = b""  # an unfinished line at the very end
        self.notes: list[str] = []

    def all(self, held: list[Segment]) -> Fault | None:
        for index, segment in enumerate(held):
            if not segment.current and segment.first != self.n + 1 and self.hash:
                gone = f"lines {self.n + 1} to {segment.first - 1} are missing before this segment"
                what = What.DROPPED if segment.first > self.n else What.INSERTED
                return Fault(what, segment.path, 0, self.n + 1, gone if what is What.DROPPED else "it is there twice")
            if (fault := self.one(segment, held[index:])) is not None:
                return fault
        return None

    def one(self, segment: Segment, rest: list[Segment]) -> Fault | None:
        offset = 0
        self.before, self.first = self.first, self.n + 1
        for number, each in enumerate(forwards(segment.handle, segment.size), 1):
            found = line.link(each)
            if found is None and segment.current and offset + len(each) == segment.size and each[-1:] != b"\n":
                self.tail, self.place = each, (segment.path, number)
                return None
            if found is None or not found.whole or found.n != self.n + 1 or (self.hash and found.prev != self.hash):
                return self.name(segment, number, each, found, rest)
            offset += len(each)
            self.prev, self.n, self.hash = self.hash or found.prev, found.n, found.hash
            self.lines += 1
            self.place = (segment.path, number)
            if found.n == self.marked:
                self.at_mark = found.hash
            if self.expect and found.hash.startswith(self.expect):
                self.expected = found.n
            if found.n == self.watched:
                self.seen = (found.hash, offset if segment.current else 0)
        return None

    # ------------------------------------------------------------ naming the fault

    def name(self, segment: Segment, number: int, each: bytes, found: Link | None, rest: list[Segment]) -> Fault:
        """The fault of a line that is not the expected one."""
        expected = self.n + 1
        if found is None and not (each.startswith(b"{") and each.endswith(b"}\n")):
            return Fault(What.TRUNCATED, segment.path, number, expected, f"line {expected} is not whole")
        if found is None or not found.whole:
            return Fault(What.CHANGED, segment.path, number, expected, f"line {expected} is not as it was written")
        if found.n == expected:
            return self.broken(segment, number, found)
        if found.n < expected:
            if found.n == self.n and found.prev == self.prev:
                text = f"two lines follow line {self.n - 1}; the second goes on, so the first does not belong here"
                return Fault(What.INSERTED, *self.place, self.n, text)
            return Fault(What.INSERTED, segment.path, number, found.n, f"line {found.n} is here a second time")
        if _is_later(expected, rest, number):
            text = f"line {found.n} comes before line {expected}"
            return Fault(What.REORDERED, segment.path, number, found.n, text)
        gone = f"line {expected} is" if found.n == expected + 1 else f"lines {expected} to {found.n - 1} are"
        return Fault(What.DROPPED, segment.path, number, expected, f"{gone} missing before this line, number {found.n}")

    def broken(self, segment: Segment, number: int, found: Link) -> Fault:
        """A line with the right number that follows another line than the one before it."""
        raw = next(islice(forwards(segment.handle, segment.size), number, None), b"")
        following = line.link(raw)
        if following is not None and following.n == found.n and following.prev == self.hash:
            return Fault(What.INSERTED, segment.path, number, found.n, f"the real line {found.n} comes after this one")
        if self.lines == 0:
            return Fault(What.CHANGED, segment.path, number, found.n, "the first line does not begin the chain")
        text = f"line {self.n} was rewritten: line {found.n} follows another one"
        return Fault(What.CHANGED, *self.place, self.n, text)


def _is_later(expected: int, rest: list[Segment], number: int) -> bool:
    """Whether a line with this number comes after line `number` of the first of these segments."""
    return any(
        (found := line.link(each)) is not None and found.n == expected
        for index, segment in enumerate(rest)
        for each in islice(forwards(segment.handle, segment.size), 0 if index else number, None)
    )


# ---------------------------------------------------------------- the head and the mark


def _judge_mark(folder: str, mark: Head | None, walk: _ChainWalk) -> Fault | None:
    """Whether the lines that the mark counts exist. It is outside the folder, and outlives it."""
    if mark is None or not mark.count or mark.count < walk.start:
        return None
    path, lost = mark_path(folder), read_mark(folder, lost=True)
    removed = "Where you removed it yourself, remove"
    if lost is not None:
        text = f"a trail of {lost.count} lines or more was there before this one. {removed} `{lost_path(folder)}` too"
        return Fault(What.REPLACED, folder, 0, 0, text)
    if not walk.lines and not walk.tail:
        text = f"the trail is gone: it had {mark.count} lines or more. {removed} `{path}` too"
        return Fault(What.GONE, folder, 0, 0, text)
    if walk.n < mark.count:
        text = f"lines {walk.n + 1} to {mark.count} are missing: `{path}` counts them"
        return Fault(What.CUT, walk.place[0] or folder, walk.place[1], walk.n, text)
    if walk.at_mark != mark.hash:
        text = f"line {mark.count} is not the one that `{path}` counts: the trail was rewritten"
        return Fault(What.REPLACED, folder, 0, mark.count, text)
    return None


def _judge_head(path: str, missing: bool, head: Head | None, walk: _ChainWalk) -> Fault | None:
    if missing and not walk.lines and not walk.tail:
        return None
    if missing:
        text = "nothing says how long the trail was; its end cannot be proved"
        return Fault(What.HEAD_MISSING, path, 0, walk.n, text)
    if head is None:
        return Fault(What.HEAD_ALTERED, path, 0, walk.n, "it is not as a writer leaves it")
    if head.count > walk.n:
        if walk.tail:
            text = f"line {walk.n + 1} is not whole; the head counts {head.count}"
            return Fault(What.TRUNCATED, *walk.place, walk.n + 1, text)
        gone = f"line {head.count} is" if head.count == walk.n + 1 else f"lines {walk.n + 1} to {head.count} are"
        return Fault(What.CUT, walk.place[0] or path, walk.place[1], walk.n, f"{gone} missing after this line")
    if ((head.hash, head.offset) != walk.seen or head.first != walk.first) and not _between(head, walk):
        return Fault(What.HEAD_ALTERED, path, 0, walk.n, f"it does not fit line {head.count}")
    if head.count < walk.n:
        walk.notes.append(
            f"{walk.n - head.count} whole lines that the head does not count yet: a writer died after them"
        )
    if walk.tail:
        walk.notes.append(f"{len(walk.tail)} bytes of a line that a dying writer did not finish; nothing relied on it")
    return None


def _between(head: Head, walk: _ChainWalk) -> bool:
    """A writer died in the middle of a rotation: the full segment has its new name, but the head does not have it."""
    renamed = (walk.first, walk.before)[walk.first > walk.n]
    return (head.count, head.hash, head.first) == (walk.n, walk.hash, renamed) and walk.seen[1] == 0 and head.offset > 0
