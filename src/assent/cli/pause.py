"""`assent pause`: a person lifts the protection of Assent's own files for a while, to maintain them.

Needs a person: a one-time code if a server runs, otherwise a typed word; and no agent program above this process."""

from __future__ import annotations

import argparse
import asyncio
import re
import time

from assent.cli.command import flag, place, require_person, require_word, takes, typed
from assent.contract import PayloadError
from assent.engine.memory import Memory
from assent.server import local
from assent.state import pause

DESCRIPTION = (
    "Lift the protection of Assent itself for a while: its files, its installation, the settings that call it. "
    "Everything else stays protected, and questions are still answered by people only. Without TIME: show whether a "
    "pause lasts."
)
EPILOG = "It ends by itself. For a person in a terminal: agents are refused."
TIME = re.compile(r"([1-9][0-9]{0,4})(s|m|h|)")
UNITS = {"s": 1, "": 60, "m": 60, "h": 3600}
arguments = takes(
    {
        "time": {"nargs": "?", "metavar": "TIME", "default": "", "help": "how long: 90s, 10m, at most 1h"},
        "--end": flag("end the pause now"),
    }
)


def run(options: argparse.Namespace) -> int:
    state = place().state
    if options.end and options.time:
        raise PayloadError("choose one of a time and --end")
    if options.time:
        return start(state, duration(options.time))
    until = pause.until(state)
    if not until:
        print("nothing is paused")
    elif options.end:
        memory = Memory(state)
        memory.pause(0.0, who=memory.who, channel="terminal")
        print("the pause has ended")
    else:
        print(f"paused for {max(1, round((until - time.time()) / 60))} more minutes")
    return 0


def duration(text: str) -> float:
    found = TIME.fullmatch(text)
    seconds = int(found[1]) * UNITS[found[2]] if found else 0
    if not 0 < seconds <= pause.LONGEST:
        raise PayloadError(f"`{text}` is not a time; write 90s, 10m or 1h, and one hour at most")
    return float(seconds)


def start(state: str, seconds: float) -> int:
    require_person(state, "no pause")
    if local.server() is not None:
        print("A server runs: type a one-time code. Press Enter in its terminal, or run `assent sign-in`, to see one.")
        until = asyncio.run(_through_server(typed("code> "), seconds))
    else:
        print("During the pause an agent can change Assent's files and the settings that call it.")
        require_word("Type {word} to confirm.", "nothing was paused")
        memory = Memory(state)
        until = memory.pause(seconds, who=memory.who, channel="terminal")
    print(f"paused until {time.strftime('%H:%M:%S', time.localtime(until))}; `assent pause --end` ends it earlier")
    return 0


async def _through_server(code: str, seconds: float) -> float:
    """Sign in for this one request."""
    from assent.tui.client import Client

    client = Client(local.server)
    await client.sign_in(code)
    try:
        given = await client.ask("POST", "/v1/pause", {"seconds": seconds})
    finally:
        await client.ask("DELETE", "/v1/session")
    return float(given["until"])
