"""`assent grants`: lists what a person allowed for longer than once, and takes it back. Grants nothing."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time

from assent.contract import PayloadError
from assent.contract.approval import Grant
from assent.contract.display import one_line
from assent.contract.words import of_scope
from assent.engine import configure, journal
from assent.engine.memory import Memory

DESCRIPTION = (
    "List the answers that are remembered, or take them back. Only a person may take one back: agents are stopped at "
    "the floor."
)
EPILOG = "The first few characters of an id are enough."
SHOWN_ID = 8


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action",
        nargs="?",
        metavar="ACTION",
        choices=("list", "revoke"),
        default="list",
        help="list (the default) or revoke",
    )
    parser.add_argument("ids", nargs="*", metavar="ID", help="the grants to revoke")
    parser.add_argument("--all", action="store_true", help="revoke every grant")
    parser.add_argument("--json", action="store_true", help="print the grants as JSON, one a line")


def run(options: argparse.Namespace) -> int:
    state = configure.place(os.getcwd(), os.environ).state
    memory = Memory(state)
    if options.action == "list":
        if options.ids or options.all:
            raise PayloadError("ids and --all are for `assent grants revoke`")
        show(memory.grants.all(memory.clock()), memory.clock(), as_json=options.json)
        return 0
    if bool(options.ids) == options.all:
        raise PayloadError("name the grants to revoke, or all of them with --all; `assent grants` lists them")
    return revoke(memory, options.ids)


def revoke(memory: Memory, ids: list[str]) -> int:
    """Take back the named grants, or all where none is named. A trail that cannot be written keeps nobody from it."""
    now = memory.clock()
    gone = (memory.grants.revoke(id, now) for id in ids) if ids else iter(memory.grants.revoke_all(now))
    status, found = 0, False
    for grant in gone:
        found = True
        print(f"revoked: {grant.id[:SHOWN_ID]}  {reach(grant)}")
        problem = memory.record(journal.of_grant(grant, time=now, kind="revoke", who=memory.who, channel="terminal"))
        if problem:
            print(f"assent: it is revoked, but {problem}", file=sys.stderr)
            status = 2
    if not found:
        print("nothing was remembered")
    return status


def show(grants: tuple[Grant, ...], now: float, *, as_json: bool) -> None:
    if as_json:
        for grant in grants:
            print(json.dumps(as_object(grant)))
        return
    if not grants:
        print("nothing is remembered: every question is asked")
    for grant in grants:
        print(f"{grant.id[:SHOWN_ID]}  {reach(grant)}")
        print(f"{'':{SHOWN_ID}}  {scope(grant)}, {ends(grant, now)}; by {given(grant)}")
        if grant.files:
            print(f"{'':{SHOWN_ID}}  while unchanged: {one_line(', '.join(path for path, _ in grant.files), 200)}")


def reach(grant: Grant) -> str:
    """What a grant allows: its rules, or the one call."""
    if grant.rules:
        return one_line(" ; ".join(grant.rules))
    return f"this exact call: {one_line(grant.shown, 100) or 'not kept'}"


def scope(grant: Grant) -> str:
    """Where a grant holds."""
    session = f" {one_line(grant.session, 40)}" if grant.session else ""
    project = f" in {one_line(grant.project)}" if grant.project else ""
    return f"{of_scope(grant.scope).kept}{session}{project}".replace("in its project in ", "in its project ")


def ends(grant: Grant, now: float) -> str:
    if not grant.until:
        return "until it is revoked"
    left = grant.until - now
    return (
        f"for {max(1, round(left / 60))} more minutes" if left < 3600 else f"until {moment(grant.until)} at the latest"
    )


def given(grant: Grant) -> str:
    who = one_line(grant.who, 60) or "somebody"
    where = f" in {one_line(grant.channel, 40)}" if grant.channel else ""
    return f"{who}{where} on {moment(grant.made)}"


def moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def as_object(grant: Grant) -> dict[str, object]:
    row: dict[str, object] = {name: getattr(grant, name) for name in grant.__slots__}
    return {**row, "scope": grant.scope.value}
