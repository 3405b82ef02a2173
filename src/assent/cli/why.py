"""`assent why`: the receipt of a past decision, from the trail."""

from __future__ import annotations

import argparse
import json
import os

from assent.cli import records
from assent.cli.command import flag, place, takes
from assent.contract import PayloadError
from assent.contract.display import one_line
from assent.trail import query
from assent.trail.entries import TrailEntry, TrailFilter

DESCRIPTION = "Print the receipt of a past decision: the call, the outcome and its reason, and who answered."
EPILOG = "Ids are at the end of each line of `assent audit tail`; the first few characters are enough."
MOST = 10  # ids that are listed if several match
arguments = takes(
    {
        "id": {"metavar": "ID", "help": "the decision's id, or enough of its first characters to be unique"},
        "--json": flag("print the records as JSON, one per line"),
    }
)


def run(options: argparse.Namespace) -> int:
    id = options.id.strip()
    if not id:
        raise PayloadError("no id given; `assent audit tail` shows them")
    found: dict[str, list[TrailEntry]] = {}
    for entry in query.read(trail_folder(), TrailFilter(id=id)):
        if len(found) <= MOST or entry.text("id") in found:
            found.setdefault(entry.text("id"), []).append(entry)
    if not found:
        raise PayloadError(f"no record has an id that begins with `{one_line(id, 80)}`; see `assent audit tail`")
    if len(found) > 1 and id not in found:
        listed = "".join(f"\n  {records.line(each[0])}" for each in list(found.values())[:MOST])
        raise PayloadError(f"several ids begin with `{one_line(id, 80)}`; give more of it{listed}")
    entries = found[id] if id in found else next(iter(found.values()))
    print("\n".join(json.dumps(each.fields) for each in entries) if options.json else records.receipt(entries))
    return 0


def trail_folder() -> str:
    """The folder of this user's trail."""
    return os.path.join(place().state, "audit")
