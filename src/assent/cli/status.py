"""`assent status`: whether the server runs, where it listens, and what waits."""

from __future__ import annotations

import argparse
import json
import os
import time

from assent.cli.command import flag, takes
from assent.contract.display import one_line
from assent.hook import other_settings, starting
from assent.server import detached, local, remote_channels

DESCRIPTION = (
    "Show whether the server runs, where it listens, its mode, and how many questions wait. Folders whose settings "
    "switch an agent program's hook off are listed first."
)
EPILOG = "exit status: 0 the server runs, 1 it does not"
arguments = takes({"--json": flag("print the status as JSON")})


def last_start(state: str) -> str:
    """How the last start by a hook ended, as the rest of a sentence; `""` if there is nothing to tell."""
    what, count, when = starting.last(state)
    if what == starting.STOPPED:
        return ": it was stopped"
    if what != starting.FAILED:
        return ""
    left = max(0.0, when + starting.pause(count) - time.time())
    failed = "1 start by a hook failed" if count == 1 else f"{count} starts by hooks failed"
    return f", and {failed} (see {os.path.join(state, detached.LOG_FILE)}); the next is tried in {left:.0f} s"


def run(options: argparse.Namespace) -> int:
    state, found = local.state(), local.server()
    if options.json:
        print(json.dumps(local.ask(found, "GET", "/v1/status"), indent=1) if found else "{}")
        return 0 if found else 1
    home = os.environ.get("HOME", "") or os.path.expanduser("~")
    for runtime, path, text in other_settings.switched_off(state, home, (os.getcwd(),)):
        print(f"UNGUARDED {runtime} in the folder of {one_line(path)}: {text}; see `assent doctor {runtime}`")
    if found is None and starting.is_starting(state):
        print("a server is starting; ask again in a moment")
    elif found is None:
        print(f"no server runs{last_start(state)}; start one with `assent serve`")
    if found is None:
        return 1
    status = local.ask(found, "GET", "/v1/status")
    rows = {
        "runs": f"pid {status['pid']}, for {float(str(status['uptime'])):.0f} s, version {status['version']}",
        "page": status["address"],
        "socket": status["socket"],
        "mode": status["mode"],
        "waiting": f"{status['held']} question{'s' if status['held'] != 1 else ''}",
    }
    if status["problem"]:
        rows["policy"] = f"does not load, so every call is denied: {one_line(str(status['problem']))}"
    for name, channel, why in remote_channels.channel_states(status):
        rows[name] = f"{channel}{f': {why}' if why else ''}"
    for name, words in rows.items():
        print(f"{name:8} {words}")
    return 0
