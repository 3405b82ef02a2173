"""`assent run`: passes a command through the gate, asks in this terminal where it asks, and runs it if it may."""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys

from assent import configure
from assent.contract.call import Call
from assent.contract.review import Verdict
from assent.desk import Desk
from assent.gate import Gate
from assent.memory import Memory
from assent.review.channels.headless import HeadlessChannel
from assent.review.channels.terminal import TerminalChannel
from assent.review.store import SqliteStore
from assent.ui.place import add_place

DESCRIPTION = "Run a shell command if the gate lets it. Where it asks, the question comes up in this terminal."
EPILOG = "exit status: that of the command; 4 where it was not run"
DENIED = 4


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", metavar="COMMAND", help="the command, as one text for bash")
    parser.add_argument("--session", metavar="ID", default="", help="the session that answers for a session are for")
    add_place(parser)


def run(options: argparse.Namespace) -> int:
    cwd = os.path.abspath(options.cwd or os.getcwd())
    here = configure.place(cwd, os.environ)
    session = options.session or f"terminal-{os.getsid(0)}"
    gate, here = configure.open_gate(here, os.environ, mode=options.mode, config=options.config, session=session)
    call = Call(
        "bash",
        {"command": options.text},
        cwd=cwd,
        roots=here.roots,
        home=here.home,
        session=session,
        runtime="assent",
        shell="bash",
    )
    verdict = asyncio.run(ask(gate, here, call))
    if not verdict.allowed:
        print(f"assent: {verdict.message}", file=sys.stderr)
        return DENIED
    return subprocess.run(["bash", "-c", options.text], cwd=cwd).returncode


async def ask(gate: Gate, here: configure.Place, call: Call) -> Verdict:
    """Whether a call may run, asked in this terminal where it must be."""
    store = SqliteStore(os.path.join(here.state, "held.db"))
    desk = Desk(Memory(here.state), store, lambda held: gate)
    terminal = TerminalChannel(reach=desk.reach) if has_terminal() else None
    desk.broker.attach(terminal or HeadlessChannel())
    try:
        return await desk.guard(gate, call, project=here.project, attended=terminal is not None)
    finally:
        if terminal is not None:
            await terminal.close()
        await desk.broker.close()
        await store.close()


def has_terminal() -> bool:
    """Whether there is a terminal to ask in."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True
