"""`assent audit`: reads, searches, verifies, counts and exports the audit trail. Writes nothing to it."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Iterator
from datetime import datetime

from assent.cli import records
from assent.cli.command import Option, Options, Verb, at_least_one, flag, one_of, takes_verb, text
from assent.cli.why import trail_folder
from assent.contract import StoreError
from assent.trail import query, stats, verify
from assent.trail.entries import Malformed, TrailEntry, TrailFilter
from assent.trail.query import follow

DESCRIPTION = "Read the audit trail: every decision and every answer, in order."
EPILOG = "The trail is in ~/.assent/audit, one JSON object per line. `assent why ID` prints one receipt in full."
COLUMNS = (
    "n time kind id runtime session project cwd tool input effects outcome layer code reason rule source mode risk who "
    "channel scope timed_out latency_ms hash".split()
)
FORMATS = ("jsonl", "csv", "openharness")
KINDS = ("decision", "answer", "grant", "revoke", "mode", "offer", "event")


def a_hash(given: str) -> str:
    """The type of `--expect`."""
    found = given.lower()
    if (found and not 8 <= len(found) <= 64) or set(found) - set("0123456789abcdef"):
        raise ValueError
    return found


def _lines(help: str, default: int = 0) -> Option:
    return {"metavar": "N", "type": at_least_one, "default": default, "help": help}


EXPECT = "a hash that an earlier run printed, or its first 8 or more characters: a line must have it"
TIMES: Options = {
    "--since": text("TIME", "from this time on: 2h, 1d, today, 2026-11-01 or 2026-11-01T09:30"),
    "--until": text("TIME", "before this time"),
}
FILTERS: Options = {
    **TIMES,
    "--session": text("ID", "the session, or the first characters of its id"),
    "--tool": text("NAME", "the tool, by the agent program's name for it"),
    "--outcome": one_of(("allow", "ask", "deny"), "the outcome"),
    "--kind": one_of(KINDS, "the kind of record"),
    "--rule": text("TEXT", "a rule, or a part of its text"),
    "--code": text("CODE", "a reason code, or its family (floor)"),
    "--runtime": text("NAME", "the agent program"),
    "--text": text("TEXT", "text anywhere in the record"),
}
JSON_LINES: Options = {"--json": flag("print the records as JSON, one per line")}
VERBS = {
    "tail": Verb(
        "the last records, newest last",
        {
            "-n --lines": _lines("how many (default: 20)", 20),
            "-f --follow": flag("keep printing records as they are written"),
            **JSON_LINES,
            **FILTERS,
        },
        "Print the last records.",
    ),
    "query": Verb(
        "search the records, newest first",
        {
            "-n --lines": _lines("print at most this many (default: all)"),
            "--oldest-first": flag("print the oldest first"),
            **JSON_LINES,
            **FILTERS,
        },
        "Print the records that match all filters, newest first.",
        "for example: assent audit query --since 1d --outcome deny",
    ),
    "verify": Verb(
        "verify that the trail is intact, or name the first bad line",
        {
            "--from": {**_lines("the first line, if older ones were archived", 1), "dest": "start"},
            "--expect": {"metavar": "HASH", "type": a_hash, "default": "", "help": EXPECT},
            "--json": flag("print the result as JSON"),
        },
        "Read the whole trail and name the first line that was changed, dropped, inserted, moved or cut.",
        "exit status: 0 the trail is intact, 1 it is not, 2 it cannot be read",
    ),
    "stats": Verb(
        "count prompts, answers, rules and times",
        {**TIMES, "--json": flag("print the numbers as JSON")},
        "Count what is in the trail.",
    ),
    "export": Verb(
        "write records to a file, or to standard output",
        {
            "--format": one_of(
                FORMATS, "JSON Lines (the default), CSV, or OpenHarness's fields for each settled call", "jsonl"
            ),
            "--output": text("FILE", "the file, which must not exist yet"),
            **FILTERS,
        },
        "Write records, oldest first.",
    ),
}
arguments = takes_verb(VERBS)


def run(options: argparse.Namespace) -> int:
    verbs = {"tail": tail, "query": search, "verify": check, "stats": count, "export": export}
    return verbs[options.verb](trail_folder(), options)


def wanted_by(options: argparse.Namespace) -> TrailFilter:
    names = ("session", "tool", "outcome", "kind", "rule", "code", "runtime", "text")
    since, until = _times(options)
    return TrailFilter(since=since, until=until, **{name: getattr(options, name) for name in names})


def _times(options: argparse.Namespace) -> tuple[float, float]:
    now = datetime.now().astimezone()
    since, until = (records.when(given, now) if given else 0.0 for given in (options.since, options.until))
    return since, until


class UnreadableLines:
    """Collects lines that cannot be read, and reports them once."""

    def __init__(self) -> None:
        self.found: list[Malformed] = []

    def __call__(self, line: Malformed) -> None:
        self.found.append(line)

    def report(self) -> None:
        if self.found:
            first = min(self.found, key=lambda each: (each.file, each.line))
            more = f" and {len(self.found) - 1} more" if len(self.found) > 1 else ""
            where = f"{first.file}:{first.line}{more}"
            print(f"assent: cannot be read and was left out: {where}; see `assent audit verify`", file=sys.stderr)


def report_empty(folder: str, wanted: TrailFilter) -> None:
    """Say why nothing is shown, and what to do."""
    if wanted != TrailFilter() and next(query.read(folder, newest_first=True, limit=1), None) is not None:
        print("no record matches; try fewer filters, or an earlier --since", file=sys.stderr)
    else:
        print(f"the trail in {folder} is empty: records appear when an agent's calls pass the gate", file=sys.stderr)


def show(entry: TrailEntry, as_json: bool) -> None:
    width = shutil.get_terminal_size((0, 0)).columns if sys.stdout.isatty() else 0
    print(json.dumps(entry.fields) if as_json else records.line(entry, width), flush=True)


# ---------------------------------------------------------------- tail and query


def tail(folder: str, options: argparse.Namespace) -> int:
    wanted, unreadable = wanted_by(options), UnreadableLines()
    later = follow(folder, wanted) if options.follow else None
    last = list(query.read(folder, wanted, newest_first=True, limit=options.lines, malformed=unreadable))
    for entry in reversed(last):
        show(entry, options.json)
    unreadable.report()
    if not last and later is None:
        report_empty(folder, wanted)
    for entry in later or ():
        show(entry, options.json)
    return 0


def search(folder: str, options: argparse.Namespace) -> int:
    wanted, unreadable = wanted_by(options), UnreadableLines()
    newest, found = not options.oldest_first, 0
    entries = query.read(folder, wanted, newest_first=newest, limit=options.lines, malformed=unreadable)
    for entry in entries:
        show(entry, options.json)
        found += 1
    unreadable.report()
    if not found:
        report_empty(folder, wanted)
    return 0


# ---------------------------------------------------------------- verify and stats


def check(folder: str, options: argparse.Namespace) -> int:
    verdict = verify.verify(folder, start=options.start, expect=options.expect)
    fault = verdict.fault
    status = 1 if fault else 0
    if options.json:
        shown = {name: getattr(verdict, name) for name in ("lines", "segments", "last", "hash", "notes")}
        bad = None
        if fault is not None:
            bad = {**{name: getattr(fault, name) for name in ("file", "line", "n", "text")}, "what": fault.what.value}
        print(json.dumps({"whole": fault is None, **shown, "fault": bad}))
        return status
    for note in verdict.notes:
        print(f"note: {note}")
    if fault is not None:
        print(f"{fault}\n{verdict.lines} lines before it are as they were written")
    elif not verdict.lines:
        report_empty(folder, TrailFilter())
    else:
        found = f"{verdict.lines} lines in {verdict.segments} files, up to line {verdict.last}, hash {verdict.hash}"
        print(f"whole: {found}")
    return status


def count(folder: str, options: argparse.Namespace) -> int:
    since, until = _times(options)
    unreadable = UnreadableLines()
    found = stats.count(query.thin(folder, stats.FIELDS, since=since, until=until, malformed=unreadable))
    unreadable.report()
    if options.json:
        print(json.dumps(found.as_json(), indent=1))
    elif not found.records:
        report_empty(folder, TrailFilter(since=since, until=until))
    else:
        print(records.numbers(found))
    return 0


# ---------------------------------------------------------------- export


def export(folder: str, options: argparse.Namespace) -> int:
    unreadable = UnreadableLines()
    lines = _exported(query.read(folder, wanted_by(options), malformed=unreadable), options.format)
    if not options.output:
        for each in lines:
            print(each)
        unreadable.report()
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
    unreadable.report()
    print(f"wrote {written - (options.format == 'csv')} records to {options.output}", file=sys.stderr)
    return 0


def _exported(entries: Iterator[TrailEntry], form: str) -> Iterator[str]:
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


def _cell(given: str) -> str:
    shown = f"'{given}" if given.startswith(("=", "+", "-", "@", "\t", "\r")) else given
    return '"' + shown.replace('"', '""') + '"' if any(each in shown for each in '",\n\r') else shown
