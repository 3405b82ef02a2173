"""Serves in this process until it is stopped: opens the sockets, prints where it listens, and stops when idle."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import struct
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Mapping

from assent.approval import secrets
from assent.hook import starting
from assent.policy.remote_channels import secret_names
from assent.server import app, local, peers
from assent.server.listening import Listening, ServeOptions
from assent.server.state import ServerState
from assent.state.files import state_folder

LOOK = 30.0  # seconds between checks whether the server is idle
NUMBERS = {"x86_64": 314, "aarch64": 274}  # of the system call sched_setattr, which libraries do not name yet
SLICE = 100_000  # nanoseconds, the least that the kernel takes
ATTRIBUTES = "=IIQiIQQQII"  # size, policy, flags, nice, priority, slice, deadline, period, least and most use


def keep(options: ServeOptions, *, background: bool = False) -> int:
    """Serve until stopped. A server in the background takes another port if its own is taken."""
    closed = peers.close_to_debuggers()
    wake_early()
    given = secrets.taken(os.environ, secret_names())
    app.many_files()
    state = state_folder(local.state())
    listening = Listening(state, port=options.port, path=options.socket, any_port=background)
    if os.path.exists(os.path.join(state, starting.RECORD_FILE)) and not background:
        starting.note(state, "")  # a person who starts it wants it to run
    written = True
    try:
        with asyncio.Runner(loop_factory=_fast_loop()) as runner:
            written = runner.run(_serve(options, listening, closed, given, background))
    except KeyboardInterrupt:
        return 130
    finally:
        listening.close()
    if not written:  # a terminal that is stopped would block the exit too
        os._exit(0)
    return 0


def wake_early() -> bool:
    """Ask the scheduler for short time slices, which Linux since 6.12 grants sooner: a decision takes less than one,
    and an agent waits for it. The process gets no more than its share, and keeps its niceness. False if that is
    impossible."""
    number = NUMBERS.get(os.uname().machine) if sys.platform == "linux" and struct.calcsize("P") == 8 else None
    try:
        if number is None or os.sched_getscheduler(0) != os.SCHED_OTHER:
            return False
        nice = os.getpriority(os.PRIO_PROCESS, 0)
        wanted = struct.pack(ATTRIBUTES, struct.calcsize(ATTRIBUTES), os.SCHED_OTHER, 0, nice, 0, SLICE, 0, 0, 0, 0)
        return bool(ctypes.CDLL(None, use_errno=True).syscall(number, 0, wanted, 0) == 0)
    except (OSError, AttributeError):
        return False


def _fast_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        from uvloop import new_event_loop
    except ImportError:  # it is faster, and optional
        return None
    return new_event_loop


async def _serve(
    options: ServeOptions, listening: Listening, closed: bool, given: Mapping[str, str], background: bool
) -> bool:
    """Serve until stopped; whether the log was written to its end."""
    server = ServerState(
        os.environ,
        port=listening.port,
        socket=listening.path,
        mode=options.mode,
        config=options.config,
        secrets=given,
    )
    greet(server, closed)
    if options.open:
        threading.Thread(target=webbrowser.open, args=(server.address,), daemon=True).start()
    if sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty():
        threading.Thread(target=_codes_on_enter, args=(server,), daemon=True).start()
    watching = asyncio.create_task(_stop_when_idle(server)) if background else None
    await app.serve(server, listening)
    if watching is not None:
        watching.cancel()
    return server.log.flush()


async def _stop_when_idle(server: ServerState) -> None:
    """Stop a server in the background that had no requests, open pages or questions for as long as the user's file
    says. Hooks start the next one."""
    seen, since = -1, time.monotonic()
    while True:
        idle = server.engines.find("/")[0].settings.idle
        await asyncio.sleep(min(idle / 4, LOOK) if idle else LOOK)
        if server.metrics.requests != seen or server.hub.streams or server.gate.broker.pending():
            seen, since = server.metrics.requests, time.monotonic()
        elif idle and time.monotonic() - since >= idle:
            server.log.say(f"no requests for {idle} seconds: the server stops")
            os.kill(os.getpid(), signal.SIGTERM)
            return


def greet(server: ServerState, closed: bool) -> None:
    """Print where the server listens, its mode, and how to answer."""
    status, show = server.status(), server.log.show
    show(f"assent listens on {server.address} and {server.socket}, mode {status['mode']}")
    if status["mode"] == "yolo":
        show("  WARNING: yolo skips shipped, user and project rules; only managed rules and the floor hold")
    if status["problem"]:
        show(f"  the policy does not load, so every call is denied: {status['problem']}")
    if not closed:
        show("  note: on this system other programs of yours can read the server's memory")
    for line in server.remote.lines():
        show(f"  {line}")
    if sys.stdout.isatty():
        server.show_code()
        show("  Enter shows a new code, Ctrl-C stops the server")
    else:
        show("  answer on the page; `assent sign-in`, run in a terminal, shows the code to sign in with")


def _codes_on_enter(server: ServerState) -> None:
    for _ in sys.stdin:
        server.show_code()
