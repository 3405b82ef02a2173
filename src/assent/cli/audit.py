"""`assent audit`: looks at the trail, proves it, counts it, takes it elsewhere. Writes nothing to it."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Iterator
from datetime import datetime

from assent.cli import audit_chart, records
from assent.cli.why import trail_folder
from assent.contract import StoreError
from assent.trail import query, stats, verify
from assent.trail.entries import Malformed, TrailEntry, TrailFilter
from assent.trail.query import follow

DESCRIPTION = "Look at the audit trail: every decision, every answer, in order."
EPILOG = "The trail is in ~/.assent/audit, one JSON object a line. `assent why ID` prints one receipt whole."
TIMES = "2h, 1d, today, 2026-11-01 or 2026-11-01T09:30"
COLUMNS = (
    "n time kind id runtime session project cwd tool input effects outcome layer code reason rule source mode risk who "
    "channel scope timed_out latency_ms hash".split()
)
FORMATS = ("jsonl", "csv", "openharness")
KINDS = ("decision", "answer", "grant", "revoke", "mode", "offer", "event")


def arguments(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    tail = verbs.add_parser("tail", help="the last records, newest last", description="Print the last records.")
    tail.add_argument("-n", "--lines", metavar="N", type=positive, default=20, help="how many (default: 20)")
    tail.add_argument("-f", "--follow", action="store_true", help="go on printing records as they are written")
    tail.add_argument("--json", action="store_true", help="print the records as JSON, one a line")
    _add_filters(tail)
    find = verbs.add_parser(
        "query",
        help="search the records, newest first",
        description="Print the records that fit all filters, newest first.",
        epilog="for example: assent audit query --since 1d --outcome deny",
    )
    find.add_argument("-n", "--lines", metavar="N", type=positive, default=0, help="at most so many (default: all)")
    find.add_argument("--oldest-first", action="store_true", help="print the oldest first")
    find.add_argument("--json", action="store_true", help="print the records as JSON, one a line")
    _add_filters(find)
    prove = verbs.add_parser(
        "verify",
        help="prove that the trail is whole, or name the first bad line",
        description="Walk the whole trail and name the first line that was changed, dropped, inserted, moved or cut.",
        epilog="exit status: 0 the trail is whole, 1 it is not, 2 it cannot be read",
    )
    prove.add_argument(
        "--from",
        dest="start",
        metavar="N",
        type=positive,
        default=1,
        help="the first line, where older ones were archived",
    )
    prove.add_argument(
        "--expect",
        metavar="HASH",
        type=a_hash,
        default="",
        help="a hash that an earlier run printed, or its first 8 characters or more: a line must have it",
    )
    prove.add_argument("--json", action="store_true", help="print the verdict as JSON")
    numbers = verbs.add_parser(
        "stats", help="prompts, answers, rules and times in numbers", description="Count what the trail tells."
    )
    numbers.add_argument("--since", metavar="TIME", default="", help=f"from then on: {TIMES}")
    numbers.add_argument("--until", metavar="TIME", default="", help="before then")
    numbers.add_argument("--json", action="store_true", help="print the numbers as JSON")
    out = verbs.add_parser(
        "export", help="write records to a file, or to standard output", description="Write records out, oldest first."
    )
    out.add_argument(
        "--format",
        choices=FORMATS,
        default="jsonl",
        help="JSON Lines, CSV, or one line with OpenHarness's fields for each call that was settled (default: jsonl)",
    )
    out.add_argument("--output", metavar="FILE", default="", help="the file, which must not exist yet")
    _add_filters(out)


def _add_filters(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--since", metavar="TIME", default="", help=f"from then on: {TIMES}")
    parser.add_argument("--until", metavar="TIME", default="", help="before then")
    parser.add_argument("--session", metavar="ID", default="", help="the session, or the beginning of its id")
    parser.add_argument("--tool", metavar="NAME", default="", help="the tool, as the runtime calls it")
    parser.add_argument("--outcome", choices=("allow", "ask", "deny"), default="", help="what came of it")
    parser.add_argument("--kind", choices=KINDS, default="", help="the kind of record")
    parser.add_argument("--rule", metavar="TEXT", default="", help="a rule, or a part of its text")
    parser.add_argument("--code", metavar="CODE", default="", help="a reason code, or its family (floor)")
    parser.add_argument("--runtime", metavar="NAME", default="", help="the runtime")
    parser.add_argument("--text", metavar="TEXT", default="", help="a text anywhere in the record")


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def a_hash(text: str) -> str:
    found = text.lower()
    if (found and not 8 <= len(found) <= 64) or set(found) - set("0123456789abcdef"):
        raise ValueError
    return found


def run(options: argparse.Namespace) -> int:
    folder = trail_folder()
    match options.verb:
        case "tail":
            return tail(folder, options)
        case "query":
            return search(folder, options)
        case "verify":
            return prove(folder, options)
        case "stats":
            return count(folder, options)
        case _:
            return export(folder, options)


def wanted_by(options: argparse.Namespace) -> TrailFilter:
    now = datetime.now().astimezone()
    names = ("session", "tool", "outcome", "kind", "rule", "code", "runtime", "text")
    return TrailFilter(
        since=records.when(options.since, now) if options.since else 0.0,
        until=records.when(options.until, now) if options.until else 0.0,
        **{name: getattr(options, name) for name in names},
    )


class Unreadable:
    """Counts lines that cannot be read, and says so once."""

    def __init__(self) -> None:
        self.found: list[Malformed] = []

    def __call__(self, line: Malformed) -> None:
        self.found.append(line)

    def tell(self) -> None:
        if self.found:
            first = min(self.found, key=lambda each: (each.file, each.line))
            more = f" and {len(self.found) - 1} more" if len(self.found) > 1 else ""
            print(
                f"assent: cannot be read and was left out: {first.file}:{first.line}{more}; see `assent audit verify`",
                file=sys.stderr,
            )


def tell_empty(folder: str, wanted: TrailFilter) -> None:
    """What to do where there is nothing to show."""
    if wanted != TrailFilter() and next(query.read(folder, newest_first=True, limit=1), None) is not None:
        print("no record fits; try fewer filters, or an earlier --since", file=sys.stderr)
    else:
        print(f"the trail in {folder} is empty: records appear when an agent's calls pass the gate", file=sys.stderr)


def show(entry: TrailEntry, as_json: bool) -> None:
    if as_json:
        print(json.dumps(entry.fields), flush=True)
    else:
        width = shutil.get_terminal_size((0, 0)).columns if sys.stdout.isatty() else 0
        print(records.line(entry, width), flush=True)


# ---------------------------------------------------------------- tail and query


def tail(folder: str, options: argparse.Namespace) -> int:
    wanted = wanted_by(options)
    unreadable = Unreadable()
    later = follow(folder, wanted) if options.follow else None
    last = list(query.read(folder, wanted, newest_first=True, limit=options.lines, malformed=unreadable))
    for entry in reversed(last):
        show(entry, options.json)
    unreadable.tell()
    if not last and later is None:
        tell_empty(folder, wanted)
    for entry in later or ():
        show(entry, options.json)
    return 0


def search(folder: str, options: argparse.Namespace) -> int:
    wanted = wanted_by(options)
    unreadable = Unreadable()
    found = 0
    newest = not options.oldest_first
    for entry in query.read(folder, wanted, newest_first=newest, limit=options.lines, malformed=unreadable):
        show(entry, options.json)
        found += 1
    unreadable.tell()
    if not found:
        tell_empty(folder, wanted)
    return 0


# ---------------------------------------------------------------- verify and stats


def prove(folder: str, options: argparse.Namespace) -> int:
    verdict = verify.verify(folder, start=options.start, expect=options.expect)
    fault = verdict.fault
    if options.json:
        shown = {name: getattr(verdict, name) for name in ("lines", "segments", "last", "hash", "notes")}
        bad = {name: getattr(fault, name) for name in ("file", "line", "n", "text")} if fault else None
        print(
            json.dumps(
                {"whole": fault is None, **shown, "fault": {**bad, "what": fault.what.value} if fault and bad else None}
            )
        )
        return 1 if fault else 0
    for note in verdict.notes:
        print(f"note: {note}")
    if fault is not None:
        print(f"{fault}\n{verdict.lines} lines before it are as they were written")
        return 1
    if not verdict.lines:
        tell_empty(folder, TrailFilter())
        return 0
    print(f"whole: {verdict.lines} lines in {verdict.segments} files, up to line {verdict.last}, hash {verdict.hash}")
    return 0


def count(folder: str, options: argparse.Namespace) -> int:
    now = datetime.now().astimezone()
    since = records.when(options.since, now) if options.since else 0.0
    until = records.when(options.until, now) if options.until else 0.0
    unreadable = Unreadable()
    found = stats.count(query.thin(folder, stats.FIELDS, since=since, until=until, malformed=unreadable))
    unreadable.tell()
    if options.json:
        print(json.dumps(found.as_json(), indent=1))
    elif not found.records:
        tell_empty(folder, TrailFilter(since=since, until=until))
    else:
        print(audit_chart.numbers(found))
    return 0


# ---------------------------------------------------------------- export


def export(folder: str, options: argparse.Namespace) -> int:
    wanted = wanted_by(options)
    unreadable = Unreadable()
    entries = query.read(folder, wanted, malformed=unreadable)
    lines = _lines(entries, options.format)
    if not options.output:
        for each in lines:
            print(each)
        unreadable.tell()
        return 0
    written = 0
    try:
        handle = os.open(options.output, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            for each in lines:
                file.write(f"{each}\n")
                written += 1
    except FileExistsError:
        raise StoreError(f"`{options.output}` exists already and was left as it is; name another file") from None
    except OSError as error:
        raise StoreError(f"`{options.output}` cannot be written: {error.strerror}") from None
    unreadable.tell()
    print(f"wrote {written - (options.format == 'csv')} records to {options.output}", file=sys.stderr)
    return 0


def _lines(entries: Iterator[TrailEntry], form: str) -> Iterator[str]:
    if form == "csv":
        return _csv(entries)
    if form == "openharness":
        return (json.dumps(_settled(each), ensure_ascii=False) for each in entries if _is_settled(each))
    return (json.dumps(each.fields, ensure_ascii=False) for each in entries)


def _is_settled(entry: TrailEntry) -> bool:
    """Whether a record says how a call ended: a decision that asks is followed by the answer to it."""
    return entry.text("kind") in ("decision", "answer") and entry.text("outcome") in ("allow", "deny")


def _settled(entry: TrailEntry) -> dict[str, object]:
    """The end of a call in the fields of OpenHarness's own log."""
    return {
        "request_id": entry.text("id"),
        "timestamp": entry.text("time"),
        "tool_name": entry.text("tool"),
        "approved": entry.text("outcome") == "allow",
        "reason": entry.text("reason"),
        "timeout": entry.fields.get("timed_out") is True,
    }


def _csv(entries: Iterator[TrailEntry]) -> Iterator[str]:
    """A row for each record. A cell that a spreadsheet would take for a formula begins with an apostrophe."""
    yield ",".join(COLUMNS)
    for entry in entries:
        yield ",".join(_cell(entry.text(name)) for name in COLUMNS)


def _cell(text: str) -> str:
    if text[:1] in ("=", "+", "-", "@", "\t", "\r"):
        text = f"'{text}"
    if any(each in text for each in '",\n\r'):
        return '"' + text.replace('"', '""') + '"'
    return text
