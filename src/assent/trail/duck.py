"""Searches a segment with DuckDB, if it is installed. The results are those of `entries.scan`, only faster.

SQL preselects lines, which are parsed and filtered by the same code as without DuckDB. A segment with an unreadable
line is left to that code."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator

import duckdb

from assent.trail.entries import Malformed, Segment, TrailEntry, TrailFilter, parse, scan, written
from assent.trail.line import iso

BATCH = 2000
LONGEST = 4 * 1024 * 1024  # bytes of one line; the trail's own are far shorter


def search(
    held: Iterable[Segment], wanted: TrailFilter, newest_first: bool, tell: Callable[[Malformed], None]
) -> Iterator[TrailEntry]:
    """The records of segments that pass, one after the other."""
    with duckdb.connect(":memory:", config={"autoinstall_known_extensions": "false"}) as base:
        for segment in held:
            if _gather(base, segment, wanted):
                yield from _hits(base, segment, wanted, newest_first)
            else:
                yield from scan(segment, wanted, newest_first, tell)


def _hits(
    base: duckdb.DuckDBPyConnection, segment: Segment, wanted: TrailFilter, newest_first: bool
) -> Iterator[TrailEntry]:
    rows = base.execute(f"SELECT line FROM hits ORDER BY rowid {'DESC' if newest_first else 'ASC'}")
    while batch := rows.fetchmany(BATCH):
        parsed = (parse(segment.path, 0, line.encode() + b"\n", wanted) for (line,) in batch)
        yield from (entry for entry in parsed if isinstance(entry, TrailEntry))


def _gather(base: duckdb.DuckDBPyConnection, segment: Segment, wanted: TrailFilter) -> bool:
    """Put the lines that may pass into a table; false if one of them, or the file, cannot be read."""
    conditions, values = _conditions(wanted)
    try:
        base.execute(
            "CREATE OR REPLACE TEMP TABLE hits AS SELECT line, NOT (line[:5] = '{\"v\":' AND line[-2:] = '\"}') AS odd "
            "FROM read_csv(?, columns = {'line': 'VARCHAR'}, delim = '\x01', quote = '', escape = '', "
            "nullstr = '\x02', header = false, auto_detect = false, new_line = '\\n', compression = 'none', "
            f"max_line_size = {LONGEST}) WHERE odd OR ({' AND '.join(conditions) or 'true'})",
            [_path(segment), *values],
        )
        rows = base.execute("SELECT line FROM hits WHERE odd AND line <> ''")
        return all(parse("", 0, line.encode(), wanted) != Malformed("", 0) for (line,) in rows.fetchall())
    except duckdb.Error:
        return False


def _path(segment: Segment) -> str:
    """The opened file, whatever its current name."""
    opened = f"/proc/self/fd/{segment.handle}"
    return opened if os.path.exists(opened) else segment.path


def _conditions(wanted: TrailFilter) -> tuple[list[str], list[str]]:
    found = [("contains(line, ?)", each.decode()) for each in wanted.needles()]
    if wanted.text.isascii() and wanted.text:
        found.append(("contains(lower(line), ?)", written(wanted.text).lower()))
    at = 'line[instr(line, \'"time":"\') + 8 : instr(line, \'"time":"\') + 31]'
    if wanted.since:
        found.append((f"{at} >= ?", iso(wanted.since)))
    if wanted.until:
        found.append((f"{at} < ?", iso(wanted.until)))
    return [condition for condition, _ in found], [value for _, value in found]


# ---------------------------------------------------------------- a few fields of every record

_TYPES = {"latency_ms": "DOUBLE", "timed_out": "BOOLEAN", "classifier": "JSON"}


def thin(
    held: Iterable[Segment], names: tuple[str, ...], wanted: TrailFilter, tell: Callable[[Malformed], None]
) -> Iterator[TrailEntry]:
    """Records with these fields alone, `time` and `kind` among them; `wanted` filters by time at most."""
    columns = ", ".join(f"'{name}': '{_TYPES.get(name, 'VARCHAR')}'" for name in names)
    with duckdb.connect(":memory:", config={"autoinstall_known_extensions": "false"}) as base:
        for segment in held:
            if not _load(base, segment, columns):
                yield from scan(segment, wanted, False, tell)
                continue
            span = [iso(wanted.since) if wanted.since else "", iso(wanted.until) if wanted.until else "~"]
            rows = base.execute(f"SELECT {', '.join(names)} FROM thin WHERE time >= ? AND time < ?", span)
            while batch := rows.fetchmany(BATCH):
                yield from (TrailEntry(segment.path, _present(names, row)) for row in batch)


def _load(base: duckdb.DuckDBPyConnection, segment: Segment, columns: str) -> bool:
    try:
        base.execute(
            f"CREATE OR REPLACE TEMP TABLE thin AS SELECT * FROM read_json(?, columns = {{{columns}}}, "
            "format = 'newline_delimited', compression = 'none', ignore_errors = true, "
            f"maximum_object_size = {LONGEST})",
            [_path(segment)],
        )
        found = base.execute("SELECT count(*) FROM thin WHERE time IS NULL OR kind IS NULL").fetchone()
        return found is not None and found[0] == 0
    except duckdb.Error:
        return False


def _present(names: tuple[str, ...], row: tuple[object, ...]) -> dict[str, object]:
    fields = {name: value for name, value in zip(names, row, strict=True) if value is not None}
    if isinstance(inner := fields.get("classifier"), str):
        fields["classifier"] = json.loads(inner)
    return fields
