"""The offer of `assent install` if bubblewrap is installed: run calls contained instead of asking."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from assent import agents
from assent.agents.adapter import Event, EventKind
from assent.cli import import_
from assent.contain import sandbox
from assent.contract import Call, PolicyError
from assent.engine import configure
from assent.hook import settings_file
from assent.policy import rewrite
from assent.state import files

QUESTION = (
    "unproved code can run contained (no network, no credentials, writes only in the project) instead of "
    "asking you; turn that on?"
)


def offer(options: argparse.Namespace, here: configure.Place, agreed: Callable[[str], bool]) -> None:
    """Turn contained runs on, if the user agrees: by the option, or to a question."""
    if not can_replace(options.runtime) or (options.no_policy and not options.contain):
        if options.contain:
            print("note: this program lets no hook replace a command, so nothing of it runs contained", file=sys.stderr)
        return
    path = files.user_file(here.state)
    before = settings_file.text_of(path)
    try:
        after = rewrite.with_contain(before if before is not None else import_.NEW)
    except PolicyError as error:
        print(f"note: nothing can be added to {path}: {error}", file=sys.stderr)
        return
    if after == before:  # it says so already, one way or the other
        if options.contain and not rewrite.contains(after):
            print(f"note: {path} has `contain.on = false`, which is not changed", file=sys.stderr)
        return
    if why := sandbox.why_not(here.state):
        if options.contain:
            print(f"note: nothing can run contained here: {why}", file=sys.stderr)
        return
    if options.contain or agreed(QUESTION):
        import_.save(here.state, path, before, after)
        print(f"unproved code runs contained: `contain.on = true` is in {path}")


def can_replace(runtime: str) -> bool:
    """Whether a program runs a command that a hook substitutes for the call's own."""
    adapter = agents.load(runtime)
    calls = [Call(tool, {"command": "true"}, cwd="/") for tool in ("Bash", "bash")]
    events = [Event(EventKind.BEFORE_TOOL, "", call, form=form) for call in calls for form in ("", "own")]
    return any(adapter.replaces(event) for event in events)
