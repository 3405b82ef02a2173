"""`assent why`: the receipt of a past decision, from the trail. Decides nothing anew."""

from __future__ import annotations

import argparse
import json
import os

from assent.cli import records
from assent.contract import PayloadError
from assent.contract.display import one_line
from assent.engine import configure
from assent.trail import query
from assent.trail.entries import TrailEntry, TrailFilter

DESCRIPTION = "Print the receipt of a past decision: what was asked, what came of it and why, and who answered."
EPILOG = "The ids stand at the end of the lines of `assent audit tail`; the first few characters are enough."
MANY = 10


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="the decision's id, or as much of its beginning as is unique")
    parser.add_argument("--json", action="store_true", help="print the records as JSON, one a line")


def run(options: argparse.Namespace) -> int:
    wanted = options.id.strip()
    if not wanted:
        raise PayloadError("no id given; `assent audit tail` shows them")
    found: dict[str, list[TrailEntry]] = {}
    for entry in query.read(trail_folder(), TrailFilter(id=wanted)):
        if len(found) <= MANY or entry.text("id") in found:
            found.setdefault(entry.text("id"), []).append(entry)
    if wanted in found:
        found = {wanted: found[wanted]}
    if not found:
        raise PayloadError(f"no record has an id that begins with `{one_line(wanted, 80)}`; see `assent audit tail`")
    if len(found) > 1:
        listed = "".join(f"\n  {records.line(each[0])}" for each in list(found.values())[:MANY])
        raise PayloadError(f"several ids begin with `{one_line(wanted, 80)}`; give more of it{listed}")
    (entries,) = found.values()
    if options.json:
        for entry in entries:
            print(json.dumps(entry.fields))
    else:
        print(records.receipt(entries))
    return 0


def trail_folder() -> str:
    """Where this user's trail is."""
    state = configure.place(os.getcwd(), os.environ).state
    return os.path.join(state, "audit")
