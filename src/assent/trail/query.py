"""Reads the trail, all of it or filtered, oldest or newest first, in bounded memory; and follows it.

Lines that cannot be read are reported and skipped. If DuckDB is installed and the trail is long, it does the searching
(`duck`); the results are the same."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from time import sleep

from assent.trail import line
from assent.trail.entries import ALL, Malformed, Segment, TrailEntry, TrailFilter, backwards, parse, scan, snapshot
from assent.trail.segments import CURRENT, old_segments, open_own

# The size from which loading DuckDB pays, as measured: on few cores a plain search is as fast, reading everything is
# not.
WORTH_BYTES, WORTH_CORES, WORTH_READING = 256 * 1024 * 1024, 4, 32 * 1024 * 1024


def read(
    folder: str,
    wanted: TrailFilter | None = None,
    *,
    newest_first: bool = False,
    limit: int = 0,
    malformed: Callable[[Malformed], None] | None = None,
    engine: str = "",
) -> Iterator[TrailEntry]:
    """The records that pass. `malformed` gets the lines that cannot be read.

    `engine` is `python` or `duckdb`; by default DuckDB is used if it is installed and pays."""
    wanted = ALL if wanted is None or wanted == ALL else wanted
    tell = malformed or _ignore
    with snapshot(folder) as (held, _):
        if newest_first:
            held.reverse()
        few = newest_first and limit and wanted is ALL  # the last few lines: nothing to search
        if engine == "duckdb" or (not engine and not few and _pays(held)):
            from assent.trail import duck

            found = duck.search(held, wanted, newest_first, tell)
        else:
            found = (entry for segment in held for entry in scan(segment, wanted, newest_first, tell))
        for count, entry in enumerate(found, 1):
            yield entry
            if count == limit:
                return


def thin(
    folder: str,
    names: tuple[str, ...],
    *,
    since: float = 0.0,
    until: float = 0.0,
    malformed: Callable[[Malformed], None] | None = None,
    engine: str = "",
) -> Iterator[TrailEntry]:
    """All records of a time, oldest first, with at least these fields: enough to count them."""
    wanted = TrailFilter(since=since, until=until)
    with snapshot(folder) as (held, _):
        long = sum(each.size for each in held) >= WORTH_READING
        if engine == "duckdb" or (not engine and long and find_spec("duckdb") is not None):
            from assent.trail import duck

            yield from duck.thin(held, names, wanted, malformed or _ignore)
            return
        for segment in held:
            yield from scan(segment, wanted, False, malformed or _ignore)


def _ignore(_: Malformed) -> None:
    """The default for lines that cannot be read."""


def _pays(held: list[Segment]) -> bool:
    size = sum(each.size for each in held)
    return size >= WORTH_BYTES and (os.cpu_count() or 1) >= WORTH_CORES and find_spec("duckdb") is not None


def follow(
    folder: str, wanted: TrailFilter | None = None, *, poll: float = 0.3, heard: Callable[[], bool] = lambda: True
) -> Iterator[TrailEntry]:
    """Records that pass and are written from the call on, without end. While `heard` is false, they are skipped."""
    path = os.path.join(folder, CURRENT)
    handle = _opened(path)
    at = os.fstat(handle).st_size if handle >= 0 else 0
    last = next(filter(None, map(line.number, backwards(handle, at))), 0) if handle >= 0 else 0
    return _parsed(path, _growing(folder, path, handle, at, [last], poll), wanted or TrailFilter(), heard)


def _parsed(path: str, lines: Iterator[bytes], wanted: TrailFilter, heard: Callable[[], bool]) -> Iterator[TrailEntry]:
    for raw in lines:
        entry = parse(path, 0, raw, wanted) if heard() else None
        if isinstance(entry, TrailEntry):
            yield entry


def _growing(folder: str, path: str, handle: int, at: int, last: list[int], poll: float) -> Iterator[bytes]:
    """Complete lines as they are written. `last` holds the number of the last one, to find the segments in between."""
    try:
        while True:
            # In this order: a segment renamed after this check is read to its end in the next round.
            moved = handle < 0 or _moved(handle, path)
            for raw in _lines(handle, at):
                at += len(raw)
                last[0] = line.number(raw) or last[0]
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
    """The lines of segments that were filled since the last round."""
    for first, path in old_segments(folder):
        handle = _opened(path) if first > last[0] > 0 else -1
        if handle >= 0:
            with open(handle, "rb", 0):
                if os.fstat(handle).st_ino != os.fstat(following).st_ino:
                    for raw in _lines(handle, 0):
                        last[0] = line.number(raw) or last[0]
                        yield raw


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
    rest = b""
    while handle >= 0 and (block := os.pread(handle, 1 << 20, at + len(rest))):
        lines = (rest + block).split(b"\n")
        rest = lines.pop()
        for each in lines:
            at += len(each) + 1
            yield each + b"\n"
