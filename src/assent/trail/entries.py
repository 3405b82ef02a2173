"""The lines of the trail: reading them in bounded memory from a snapshot of its segments, and filtering them."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from assent.contract import StoreError
from assent.trail.line import iso, readable
from assent.trail.segments import CURRENT, HEAD, LOCK, old_segments, open_own, read_head

BLOCK = 1 << 20
_EXACT, _PREFIX = ("outcome", "kind", "runtime"), ("session", "id", "code")  # how a filter compares these fields


@dataclass(frozen=True, slots=True)
class Segment:
    """One file, opened while the lock was held: what is appended or renamed later is not read."""

    path: str
    handle: int
    size: int
    first: int
    current: bool


@contextmanager
def snapshot(folder: str) -> Iterator[tuple[list[Segment], bytes | None]]:
    """All segments, oldest first, and the bytes of the head. Nothing if there is no trail."""
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
                held.append(_open(path, first, current=False))
            with suppress(FileNotFoundError, NotADirectoryError):
                held.append(_open(os.path.join(folder, CURRENT), 0, current=True))
            return held, read_head(os.path.join(folder, HEAD)) if os.path.isdir(folder) else None
    except OSError as error:
        raise StoreError(f"the trail in `{folder}` cannot be read: {error.strerror}; check its permissions") from None


def _open(path: str, first: int, *, current: bool) -> Segment:
    handle = open_own(path, os.O_RDONLY)
    return Segment(path, handle, os.fstat(handle).st_size, first, current)


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


def forwards(handle: int, size: int) -> Iterator[bytes]:
    """The lines of the first `size` bytes, each with its newline; the last may have none."""
    rest, at = b"", 0
    while block := os.pread(handle, min(BLOCK, size - at), at):
        at += len(block)
        lines = (rest + block).split(b"\n")
        rest = lines.pop()
        for each in lines:
            yield each + b"\n"
    if rest:
        yield rest


def backwards(handle: int, size: int) -> Iterator[bytes]:
    """The same lines, the last first."""
    rest, at, first = b"", size, True
    while at > 0:
        start = max(at - BLOCK, 0)
        rest, *lines = (os.pread(handle, at - start, start) + rest).split(b"\n")
        at = start
        for each in reversed(lines):
            if not first:
                yield each + b"\n"
            elif each:
                yield each
            first = False
    if size and (rest or not first):
        yield rest if first else rest + b"\n"


@dataclass(slots=True)
class TrailEntry:
    file: str
    fields: dict[str, object]

    def text(self, name: str) -> str:
        """A field as text; `""` if it is missing."""
        found = self.fields.get(name, "")
        return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Malformed:
    """A line that is no JSON object."""

    file: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailFilter:
    """Which records to read; an empty field does not filter.

    `since` and `until` are seconds since the epoch. `id` and `session` may be prefixes; `rule` and `text` may occur
    anywhere, `text` in upper or lower case; `code` may be a family (`floor` is also `floor.self`)."""

    since: float = 0.0
    until: float = 0.0
    session: str = ""
    tool: str = ""
    outcome: str = ""
    kind: str = ""
    rule: str = ""
    code: str = ""
    runtime: str = ""
    id: str = ""
    text: str = ""

    def matches(self, fields: dict[str, object], line: str) -> bool:
        """Whether a record passes; `line` is its text."""
        time, code = str(fields.get("time", "")), str(fields.get("code", ""))
        return (
            (not self.since or time >= iso(self.since))
            and (not self.until or time < iso(self.until))
            and str(fields.get("session", "")).startswith(self.session)
            and (not self.tool or str(fields.get("tool", "")).lower() == self.tool.lower())
            and self.outcome in ("", fields.get("outcome"))
            and self.kind in ("", fields.get("kind"))
            and self.rule in str(fields.get("rule", ""))
            and (not self.code or code == self.code or code.startswith(self.code + "."))
            and self.runtime in ("", fields.get("runtime"))
            and str(fields.get("id", "")).startswith(self.id)
            and (not self.text or written(self.text).lower() in line.lower())
        )

    def needles(self) -> list[bytes]:
        """Bytes that every passing line contains."""
        exact = [f'"{name}":"{written(value)}"' for name in _EXACT if (value := getattr(self, name))]
        begin = [f'"{name}":"{written(value)}' for name in _PREFIX if (value := getattr(self, name))]
        return [each.encode() for each in (*exact, *begin, *([written(self.rule)] if self.rule else []))]


ALL = TrailFilter()


def written(text: str) -> str:
    """A text as written in a line."""
    return readable(json.dumps(text, ensure_ascii=False))[1:-1]


def scan(
    segment: Segment, filter: TrailFilter, newest_first: bool, tell: Callable[[Malformed], None]
) -> Iterator[TrailEntry]:
    needles = filter.needles()
    since = iso(filter.since).encode() if filter.since else b""
    until = iso(filter.until).encode() if filter.until else b""
    text = written(filter.text).lower().encode() if filter.text.isascii() else b""
    for number, raw in _numbered(segment, newest_first):
        if raw[:5] == b'{"v":' and raw[-3:] == b'"}\n':
            if not all(each in raw for each in needles) or (text and text not in raw.lower()):
                continue
            if since or until:
                at = raw.find(b'"time":"') + 8
                time = raw[at : at + 24]
                if at > 8 and (time < since or (until and time >= until)):
                    continue
        entry = parse(segment.path, number, raw, filter)
        if isinstance(entry, Malformed):
            count = 0 if number > 0 else sum(1 for _ in forwards(segment.handle, segment.size)) + 1
            tell(Malformed(entry.file, count + number))
        elif entry is not None:
            yield entry


def _numbered(segment: Segment, newest_first: bool) -> Iterator[tuple[int, bytes]]:
    if not newest_first:
        return enumerate(forwards(segment.handle, segment.size), 1)
    # Counting the lines would take another pass: from the end, numbers are negative as in a slice.
    return ((-number, raw) for number, raw in enumerate(backwards(segment.handle, segment.size), 1))


def parse(file: str, number: int, raw: bytes, filter: TrailFilter) -> TrailEntry | Malformed | None:
    """A line as an entry; None if it is blank or does not pass."""
    if not raw.strip():
        return None
    try:
        text = raw.decode()
        fields = json.loads(text)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        return Malformed(file, number)
    return TrailEntry(file, fields) if filter is ALL or filter.matches(fields, text) else None
