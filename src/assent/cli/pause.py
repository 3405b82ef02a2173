"""`assent pause`: a person lifts the protection of Assent itself for a while, to look after it. Nothing else opens.

Needs a person: with a server a fresh one-time code, else a typed word; and no agent program above this process."""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import time

from assent.cli.person import as_a_person, typed, typed_word
from assent.contract import PayloadError
from assent.engine import configure
from assent.engine.memory import Memory
from assent.server import local
from assent.state import pause

DESCRIPTION = (
    "Lift the protection of Assent itself for a while: its files, its installation, the settings that call it. "
    "Everything else stays closed, and questions are still answered by persons only."
)
EPILOG = "It ends by itself. For a person in a terminal: agents are refused."
TIME = re.compile(r"([1-9][0-9]{0,4})(s|m|h|)")
UNITS = {"s": 1, "": 60, "m": 60, "h": 3600}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("time", nargs="?", metavar="TIME", default="", help="how long: 90s, 10m, at most 1h")
    parser.add_argument("--end", action="store_true", help="end the pause now")


def run(options: argparse.Namespace) -> int:
    state = configure.place(os.getcwd(), os.environ).state
    if options.end:
        if options.time:
            raise PayloadError("choose one of a time and --end")
        return end(state)
    if not options.time:
        return show(state)
    seconds = duration(options.time)
    as_a_person(state, "no pause")
    until = through_server(seconds) if local.server() is not None else alone(state, seconds)
    print(f"paused until {time.strftime('%H:%M:%S', time.localtime(until))}; `assent pause --end` ends it before")
    return 0


def duration(text: str) -> float:
    found = TIME.fullmatch(text)
    seconds = int(found[1]) * UNITS[found[2]] if found else 0
    if not 0 < seconds <= pause.LONGEST:
        raise PayloadError(f"`{text}` is no time; write 90s, 10m or 1h, and one hour at most")
    return float(seconds)


def show(state: str) -> int:
    until = pause.until(state)
    left = f"paused for {max(1, round((until - time.time()) / 60))} more minutes" if until else "nothing is paused"
    print(left)
    return 0


def end(state: str) -> int:
    if not pause.lasts(state):
        print("nothing is paused")
        return 0
    memory = Memory(state)
    memory.pause(0.0, who=memory.who, channel="terminal")
    print("the pause is over")
    return 0


def alone(state: str, seconds: float) -> float:
    """Without a server: a word that is shown now has to be typed."""
    print("While it lasts, an agent may change Assent's files and the settings that call it.")
    typed_word("Type {word} to go on.", "nothing was paused")
    memory = Memory(state)
    return memory.pause(seconds, who=memory.who, channel="terminal")


def through_server(seconds: float) -> float:
    """With a server: a person signs in for this one request."""
    print("A server runs: type a one-time code. Its terminal shows one after Enter, and so does `assent sign-in`.")
    return asyncio.run(_signed_in(typed("code> "), seconds))


async def _signed_in(code: str, seconds: float) -> float:
    from assent.tui.client import Client

    client = Client(local.server)
    await client.sign_in(code)
    try:
        given = await client.ask("POST", "/v1/pause", {"seconds": seconds})
    finally:
        await client.ask("DELETE", "/v1/session")
    return float(given["until"])
