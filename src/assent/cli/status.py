"""`assent status`: whether a server lives, where, and what waits. Changes nothing."""

from __future__ import annotations

import argparse
import json
import os
import time

from assent.contract import display
from assent.hook import other_settings, starting
from assent.server import detached, local, remote_channels

DESCRIPTION = (
    "Say whether the server runs, where it listens, its mode, and how many questions wait; first of all, in which "
    "folders a project's settings switch the hook of an agent program off."
)
EPILOG = "exit status: 0 it runs, 1 it does not"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def told(state: str) -> str:
    """What became of the last start by a hook, in words."""
    what, count, when = starting.last(state)
    if what == starting.STOPPED:
        return ", as it was stopped"
    if what != starting.FAILED:
        return ""
    left = max(0.0, when + starting.pause(count) - time.time())
    log = os.path.join(state, detached.LOG_FILE)
    failed = "1 start by a hook has" if count == 1 else f"{count} starts by hooks have"
    return f", and {failed} failed (see {log}); the next is tried in {left:.0f} s"


def run(options: argparse.Namespace) -> int:
    if not options.json:
        home = os.environ.get("HOME", "") or os.path.expanduser("~")
        for runtime, path, text in other_settings.switched_off(local.state(), home, (os.getcwd(),)):
            print(
                f"UNGUARDED {runtime} in the folder of {display.one_line(path)}: {text}; see `assent doctor {runtime}`"
            )
    found = local.server()
    if found is None and not options.json and starting.is_starting(local.state()):
        print("a server is being started; ask again in a moment")
        return 1
    if found is None:
        print("{}" if options.json else f"no server runs{told(local.state())}; start one with `assent serve`")
        return 1
    status = local.ask(found, "GET", "/v1/status")
    if options.json:
        print(json.dumps(status, indent=1))
        return 0
    print(f"runs     pid {status['pid']}, for {float(str(status['uptime'])):.0f} s, version {status['version']}")
    print(f"page     {status['address']}")
    print(f"socket   {status['socket']}")
    print(f"mode     {status['mode']}")
    if status["problem"]:
        print(f"policy   does not load, so every call is denied: {display.one_line(str(status['problem']))}")
    print(f"waiting  {status['held']} question{'s' if status['held'] != 1 else ''}")
    for name, state, why in remote_channels.standing(status):
        print(f"{name:8} {state}{f': {why}' if why else ''}")
    return 0
