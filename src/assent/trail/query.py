"""Reads the trail back: all of it or what a filter wants, oldest or newest first, in bounded memory. Changes nothing.

Lines that cannot be read are reported and passed over. Whether the lines are those that were written is the business
of `verify`. Where DuckDB is installed and the trail is long, it does the searching (`duck`); the answers are the
same."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec

from assent.trail.entries import ALL, Entry, Malformed, Wanted, scan
from assent.trail.snapshot import Segment, snapshot

# From where on loading DuckDB pays, as measured: on few cores the plain search is as fast, reading all is not.
WORTH_BYTES, WORTH_CORES, WORTH_READING = 256 * 1024 * 1024, 4, 32 * 1024 * 1024


def read(
    folder: str,
    wanted: Wanted | None = None,
    *,
    newest_first: bool = False,
    limit: int = 0,
    malformed: Callable[[Malformed], None] | None = None,
    engine: str = "",
) -> Iterator[Entry]:
    """The wanted records. `malformed` is told of lines that cannot be read.

    `engine` is `python` or `duckdb`; by itself the one that is there and pays is taken."""
    wanted = ALL if wanted is None or wanted == ALL else wanted
    tell = malformed or _ignore
    with snapshot(folder) as (held, _):
        found = _search(list(reversed(held)) if newest_first else held, wanted, newest_first, limit, tell, engine)
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
) -> Iterator[Entry]:
    """All records of a time, oldest first, with at least these fields: what counting needs."""
    wanted = Wanted(since=since, until=until)
    with snapshot(folder) as (held, _):
        long = sum(each.size for each in held) >= WORTH_READING
        if engine == "duckdb" or (not engine and long and find_spec("duckdb") is not None):
            from assent.trail import duck

            yield from duck.thin(held, names, wanted, malformed or _ignore)
            return
        for segment in held:
            yield from scan(segment, wanted, False, malformed or _ignore)


def _ignore(_: Malformed) -> None:
    """Nobody wants to know."""


def _search(
    held: list[Segment],
    wanted: Wanted,
    newest_first: bool,
    limit: int,
    tell: Callable[[Malformed], None],
    engine: str,
) -> Iterator[Entry]:
    few = newest_first and limit and wanted is ALL  # the last few lines: nothing to search
    if engine == "duckdb" or (not engine and not few and _pays(held)):
        from assent.trail import duck

        yield from duck.search(held, wanted, newest_first, tell)
        return
    for segment in held:
        yield from scan(segment, wanted, newest_first, tell)


def _pays(held: list[Segment]) -> bool:
    size = sum(each.size for each in held)
    return size >= WORTH_BYTES and (os.cpu_count() or 1) >= WORTH_CORES and find_spec("duckdb") is not None
