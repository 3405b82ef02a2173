"""`assent undo`: lists copies, shows what putting one back would change, and puts it back."""

from __future__ import annotations

import argparse
import json
import os
import sys

from assent.cli.command import flag, place, require_person, takes, typed
from assent.cli.grants import moment
from assent.contract import PayloadError
from assent.contract.display import one_line
from assent.engine import configure
from assent.engine.copies import limits_of, undo
from assent.engine.memory import Memory
from assent.undo.copy import Copy
from assent.undo.restore import differences
from assent.undo.store import CopyStore, Limits

DESCRIPTION = (
    "List what calls deleted or changed and can be put back, or put one copy back. What that replaces is kept too, so "
    "it can be undone itself. Only a person can: the floor blocks this command for agents."
)
EPILOG = "The first few characters of an id are enough. Exit status: 0 done, 1 the person said no, 2 error."
SHORT_ID = 8
MOST_LINES = 400
arguments = takes(
    {
        "id": {"nargs": "?", "metavar": "ID", "default": "", "help": "the copy to put back (default: list all)"},
        "--dry-run": flag("show what would change, and change nothing"),
        "--yes": flag("put it back without asking"),
        "--json": flag("print the list as JSON, one copy per line"),
    }
)


def run(options: argparse.Namespace) -> int:
    memory = Memory(place().state)
    store = CopyStore(memory.state)
    if not options.id:
        if options.dry_run:
            raise PayloadError("name the copy: `assent undo ID --dry-run`")
        show(store.copies(), as_json=options.json)
        return 0
    copy = store.named(options.id)
    if not show_differences(store, copy):
        print("nothing to put back: the files are unchanged")
        return 0
    if options.dry_run:
        return 0
    require_person(memory.state, "nothing was put back")
    if not options.yes and typed("Put this back? [y/N] ").strip().lower() not in ("y", "yes"):
        print("nothing was put back")
        return 1
    kept, problem = undo(memory, copy, limits())
    if problem:
        print(f"assent: it is put back, but {problem}", file=sys.stderr)
    print(f"put back; `assent undo {kept.id[:SHORT_ID]}` takes that back")
    return 0


def limits() -> Limits:
    """The limits on copies, by the settings in force."""
    engine, _ = configure.open_gate(place(), os.environ)
    return limits_of(engine.settings)


def show(copies: list[Copy], *, as_json: bool) -> None:
    if not copies and not as_json:
        print("there is nothing to put back")
    for copy in copies:
        if as_json:
            about = {name: getattr(copy.about, name) for name in copy.about.__slots__}
            print(json.dumps({"id": copy.id, "time": copy.time, "size": copy.size, "count": copy.count, **about}))
            continue
        where = f" in {one_line(copy.about.folder, 60)}" if copy.about.folder else ""
        session = f", session {one_line(copy.about.session, 40)}" if copy.about.session else ""
        print(f"{copy.id[:SHORT_ID]}  {one_line(copy.about.call, 100)}")
        print(f"{'':{SHORT_ID}}  {moment(copy.time)}{where}{session}; {paths(copy.count)}, {readable(copy.size)}")


def show_differences(store: CopyStore, copy: Copy) -> bool:
    """Print what would change; return whether anything would."""
    lines = 0
    for line in differences(store, copy):
        lines += 1
        if lines > MOST_LINES:
            print("… and more")
            return True
        print(one_line(line, 300))
    return lines > 0


def paths(count: int) -> str:
    return "1 path" if count == 1 else f"{count:,} paths"


def readable(size: int) -> str:
    """A number of bytes for people."""
    if size < 1000:
        return "1 byte" if size == 1 else f"{size} bytes"
    number, units = size / 1000, ["kB", "MB", "GB"]
    while number >= 1000 and len(units) > 1:
        number /= 1000
        del units[0]
    return f"{number:.1f} {units[0]}"
