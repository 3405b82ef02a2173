"""`assent grants`: lists saved answers, and revokes them."""

from __future__ import annotations

import argparse
import json
import sys
import time

from assent.cli.command import flag, place, takes
from assent.contract import PayloadError
from assent.contract.approval import Grant
from assent.contract.display import one_line
from assent.contract.words import of_scope
from assent.engine import journal
from assent.engine.memory import Memory

DESCRIPTION = "List saved answers, or revoke them. Only a person can revoke: the floor blocks this command for agents."
EPILOG = "The first few characters of an id are enough."
SHORT_ID = 8
ACTION = {"nargs": "?", "metavar": "ACTION", "choices": ("list", "revoke"), "default": "list"}
arguments = takes(
    {
        "action": {**ACTION, "help": "list (the default) or revoke"},
        "ids": {"nargs": "*", "metavar": "ID", "help": "the grants to revoke"},
        "--all": flag("revoke every grant"),
        "--json": flag("print the grants as JSON, one per line"),
    }
)


def run(options: argparse.Namespace) -> int:
    memory = Memory(place().state)
    if options.action == "list":
        if options.ids or options.all:
            raise PayloadError("ids and --all are for `assent grants revoke`")
        show(memory.grants.all(memory.clock()), memory.clock(), as_json=options.json)
        return 0
    if bool(options.ids) == options.all:
        raise PayloadError("name the grants to revoke, or all of them with --all; `assent grants` lists them")
    return revoke(memory, options.ids)


def revoke(memory: Memory, ids: list[str]) -> int:
    """Revoke the named grants, or all if none is named, even if the trail cannot be written."""
    now, status, found = memory.clock(), 0, False
    for grant in (memory.grants.revoke(id, now) for id in ids) if ids else memory.grants.revoke_all(now):
        found = True
        print(f"revoked: {grant.id[:SHORT_ID]}  {reach(grant)}")
        revoked = journal.of_grant(grant, time=now, kind="revoke", who=memory.who, channel="terminal")
        if problem := memory.record(revoked):
            print(f"assent: it is revoked, but {problem}", file=sys.stderr)
            status = 2
    if not found:
        print("there are no saved answers")
    return status


def show(grants: tuple[Grant, ...], now: float, *, as_json: bool) -> None:
    if not grants and not as_json:
        print("there are no saved answers: every question is asked")
    for grant in grants:
        if as_json:
            row = {name: getattr(grant, name) for name in grant.__slots__}
            print(json.dumps({**row, "scope": grant.scope.value}))
            continue
        print(f"{grant.id[:SHORT_ID]}  {reach(grant)}")
        print(f"{'':{SHORT_ID}}  {scope(grant)}, {ends(grant, now)}; by {given(grant)}")
        if grant.files:
            print(f"{'':{SHORT_ID}}  while unchanged: {one_line(', '.join(path for path, _ in grant.files), 200)}")


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
    return f"for {max(1, round(left / 60))} more minutes" if left < 3600 else f"at most until {moment(grant.until)}"


def given(grant: Grant) -> str:
    who = one_line(grant.who, 60) or "somebody"
    where = f" in {one_line(grant.channel, 40)}" if grant.channel else ""
    return f"{who}{where} on {moment(grant.made)}"


def moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
