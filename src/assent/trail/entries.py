"""The lines of the trail as entries, which of them are wanted, and looking for those in a segment line by line."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from assent.contract import StoreError, Value
from assent.trail.line import iso, readable
from assent.trail.segments import CURRENT, LOCK, old_segments, open_own, read_head


class TrailEntry(Value):
    """One line that was read: in which file it stands, and its fields."""

    __slots__ = ("file", "fields")

    def __init__(self, file: str, fields: dict[str, object]) -> None:
        self.file = file
        self.fields = fields

    def text(self, name: str) -> str:
        """A field as text; `""` where it is not there."""
        found = self.fields.get(name, "")
        return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)


class Malformed(Value):
    """A line that is no JSON object."""

    __slots__ = ("file", "line")

    def __init__(self, file: str, line: int) -> None:
        self.file = file
        self.line = line


class TrailFilter(Value):
    """Which records are wanted; what is empty does not filter.

    `since` and `until` are seconds since the epoch. `id` and `session` may be beginnings; `rule` and `text` may stand
    anywhere, `text` in upper or lower case; `code` may be a family (`floor` is also `floor.self`)."""

    __slots__ = ("since", "until", "session", "tool", "outcome", "kind", "rule", "code", "runtime", "id", "text")

    def __init__(
        self,
        *,
        since: float = 0.0,
        until: float = 0.0,
        session: str = "",
        tool: str = "",
        outcome: str = "",
        kind: str = "",
        rule: str = "",
        code: str = "",
        runtime: str = "",
        id: str = "",
        text: str = "",
    ) -> None:
        self.since = since
        self.until = until
        self.session = session
        self.tool = tool
        self.outcome = outcome
        self.kind = kind
        self.rule = rule
        self.code = code
        self.runtime = runtime
        self.id = id
        self.text = text

    def matches(self, fields: dict[str, object], line: str) -> bool:
        """Whether a record is wanted; `line` is it as written."""
        time = str(fields.get("time", ""))
        code = str(fields.get("code", ""))
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
        """What must stand in every line that is wanted, as the trail writes it."""
        exact = ("outcome", "kind", "runtime")
        begin = ("session", "id", "code")
        found = [f'"{name}":"{written(value)}"' for name in exact if (value := getattr(self, name))]
        found += [f'"{name}":"{written(value)}' for name in begin if (value := getattr(self, name))]
        if self.rule:
            found.append(written(self.rule))
        return [each.encode() for each in found]


ALL = TrailFilter()


def written(text: str) -> str:
    """A text as it stands within a line."""
    return readable(json.dumps(text, ensure_ascii=False))[1:-1]


def scan(
    segment: Segment, wanted: TrailFilter, newest_first: bool, tell: Callable[[Malformed], None]
) -> Iterator[TrailEntry]:
    """The wanted records of one segment, looked for line by line."""
    needles = wanted.needles()
    since = iso(wanted.since).encode() if wanted.since else b""
    until = iso(wanted.until).encode() if wanted.until else b""
    text = written(wanted.text).lower().encode() if wanted.text.isascii() else b""
    for number, raw in _numbered(segment, newest_first):
        if raw[:5] == b'{"v":' and raw[-3:] == b'"}\n':
            if not all(each in raw for each in needles):
                continue
            if text and text not in raw.lower():
                continue
            if since or until:
                at = raw.find(b'"time":"') + 8
                time = raw[at : at + 24]
                if at > 8 and (time < since or (until and time >= until)):
                    continue
        entry = parse(segment.path, number, raw, wanted)
        if isinstance(entry, Malformed):
            tell(entry if number > 0 else Malformed(entry.file, _count(segment) + 1 + number))
        elif entry is not None:
            yield entry


def _numbered(segment: Segment, newest_first: bool) -> Iterator[tuple[int, bytes]]:
    if not newest_first:
        yield from enumerate(forwards(segment.handle, segment.size), 1)
        return
    # Counting lines takes a pass of its own: from the end, numbers are negative as in a slice.
    for number, raw in enumerate(backwards(segment.handle, segment.size), 1):
        yield -number, raw


def _count(segment: Segment) -> int:
    return sum(1 for _ in forwards(segment.handle, segment.size))


def parse(file: str, number: int, raw: bytes, wanted: TrailFilter) -> TrailEntry | Malformed | None:
    """A line as an entry; None where it is blank or not wanted."""
    if not raw.strip():
        return None
    try:
        text = raw.decode()
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return Malformed(file, number)
    if not isinstance(fields, dict):
        return Malformed(file, number)
    return TrailEntry(file, fields) if wanted is ALL or wanted.matches(fields, text) else None


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
