"""`assent run`: passes a command through the gate, asks in this terminal if needed, and runs it if allowed."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress

from assent.approval.channels.callback import HeadlessChannel
from assent.approval.channels.terminal import TerminalChannel, has_terminal, turn
from assent.approval.store import SqliteStore
from assent.cli.command import WHERE, takes, text
from assent.contract import AssentError, Call, Outcome, PayloadError
from assent.contract.approval import Verdict
from assent.engine import configure
from assent.engine.engine import Engine, Request
from assent.engine.memory import Memory
from assent.gate import CallGate, verdict

DESCRIPTION = "Run a shell command if the gate allows it. Questions are asked in this terminal."
EPILOG = "exit status: that of the command; 4 if it was not run"
DENIED = 4


arguments = takes(
    {
        "text": {"metavar": "COMMAND", "help": "the command, as one argument for bash"},
        "--session": text("ID", "the session that session-wide answers apply to"),
        **WHERE,
    }
)


def run(options: argparse.Namespace) -> int:
    cwd = os.path.abspath(options.cwd or os.getcwd())
    if not os.path.isdir(cwd):
        raise PayloadError(f"there is no folder `{cwd}`; check --cwd")
    here = configure.place(cwd, os.environ)
    session = options.session or own_session()

    def opened() -> tuple[Engine, configure.Place]:
        return configure.open_gate(here, os.environ, mode=options.mode, config=options.config, session=session)

    engine, here = opened()
    call = Call(
        "bash",
        {"command": options.text},
        cwd=cwd,
        roots=here.roots,
        home=here.home,
        session=session,
        runtime="assent",
        shell="bash",
        path=os.environ.get("PATH", ""),
    )
    try:
        found = asyncio.run(ask(engine, here, call, lambda: opened()[0]))
    except asyncio.CancelledError:
        return refused("This call was not run: it was ended before an answer came.")
    if not found.allowed:
        return refused(found.message)
    status = subprocess.run(["bash", "-c", "--", found.command or options.text], cwd=cwd).returncode
    if found.command:
        tell(Memory(here.state), call, here.project)
    return status if status >= 0 else 128 - status


def tell(memory: Memory, call: Call, project: str) -> None:
    """Report how a contained run ended, if that needs a report."""
    from assent.engine import containment

    with suppress(AssentError, OSError):
        if told := containment.ended(memory, call, "", project):
            print(f"assent: {told}", file=sys.stderr, flush=True)


def refused(message: str) -> int:
    """Say why nothing was run, unless the terminal is gone."""
    with suppress(OSError):
        print(f"assent: {message}", file=sys.stderr, flush=True)
    return DENIED


async def ask(engine: Engine, here: configure.Place, call: Call, reopen: Callable[[], Engine]) -> Verdict:
    """Whether a call may run; asks in this terminal if needed. `reopen` returns the gate that decides again after the
    answer: rules may have changed meanwhile."""
    store = SqliteStore(os.path.join(here.state, "held.db"))
    gate = CallGate(Memory(here.state), store, lambda _: reopen())
    terminal = TerminalChannel(who=gate.memory.who, reach=gate.reach) if has_terminal() else None
    end_with_signals()
    try:
        request = Request(engine, call, here.project, reopen=reopen, rewrites=True, environ=os.environ)
        settled = await gate.settle(request)
        if settled.outcome is not Outcome.ASK:
            return verdict(settled)
        async with turn():
            gate.broker.attach(terminal or HeadlessChannel())
            try:
                return await gate.ask(request, settled, attended=terminal is not None)
            finally:
                if terminal is not None:
                    await terminal.close()
    finally:
        await gate.broker.close()
        await store.close()


def end_with_signals() -> None:
    """Before a signal ends the process, withdraw the question and restore the terminal."""
    task = asyncio.current_task()
    assert task is not None
    for each in (signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(each, task.cancel)


def own_session() -> str:
    """A unique name for this terminal session: process ids are reused."""
    leader = os.getsid(0)
    try:
        with open(f"/proc/{leader}/stat", encoding="utf-8", errors="replace") as file:
            began = file.read().rpartition(")")[2].split()[19]
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return f"terminal-{leader}-{began}-{file.read().strip()[:8]}"
    except (OSError, IndexError):
        return f"terminal-{leader}-{os.urandom(8).hex()}"  # then a session is this one command
