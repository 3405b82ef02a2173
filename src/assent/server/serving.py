"""Serves in this process until told to stop: opens the sockets, says where it listens, and ends when nobody calls."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Mapping

from assent.approval import secrets
from assent.hook import starting
from assent.server import app, peers, scheduling
from assent.server.listening import Listening
from assent.server.serve_options import ServeOptions
from assent.server.state import ServerState
from assent.state import files
from assent.state.files import state_folder

LOOK = 30.0  # seconds between looks whether anybody calls


def keep(options: ServeOptions, *, background: bool = False) -> int:
    """Serve in this process until told to stop. One in the background takes another port where its own is taken."""
    closed = peers.close_to_debuggers()
    scheduling.wake_early()
    given = secrets.taken(os.environ)
    app.many_files()
    state = state_folder(files.assent_home(os.environ, os.environ.get("HOME", "") or os.path.expanduser("~")))
    listening = Listening(state, port=options.port, path=options.socket, any_port=background)
    if os.path.exists(os.path.join(state, starting.RECORD_FILE)) and not background:
        starting.note(state, "")  # whoever starts it by hand wants it to run
    heard = True
    try:
        with asyncio.Runner(loop_factory=_fast_loop()) as runner:
            heard = runner.run(_serve(options, listening, closed, given, background))
    except KeyboardInterrupt:
        return 130
    finally:
        listening.close()
    if not heard:  # a terminal that was stopped would stop the end as well
        os._exit(0)
    return 0


def _fast_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        from uvloop import new_event_loop
    except ImportError:  # it is faster, and optional
        return None
    return new_event_loop


async def _serve(
    options: ServeOptions, listening: Listening, closed: bool, given: Mapping[str, str], background: bool
) -> bool:
    """Serve until told to stop; whether everything that was said was written."""
    house = ServerState(
        os.environ,
        port=listening.port,
        socket=listening.path,
        mode=options.mode,
        config=options.config,
        secrets=given,
    )
    greet(house, closed)
    if options.open:
        threading.Thread(target=webbrowser.open, args=(house.address,), daemon=True).start()
    if sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty():
        threading.Thread(target=_codes_on_enter, args=(house,), daemon=True).start()
    watching = asyncio.create_task(_end_when_idle(house)) if background else None
    await app.serve(house, listening)
    if watching is not None:
        watching.cancel()
    return house.voice.rest()


async def _end_when_idle(house: ServerState) -> None:
    """End a server in the background that nobody calls, watches or is asked by, where the user's file says after how
    long. Hooks start the next one."""
    seen, since = -1, time.monotonic()
    while True:
        idle = house.gates.find("/")[0].settings.idle
        await asyncio.sleep(min(idle / 4, LOOK) if idle else LOOK)
        busy = house.metrics.requests != seen or house.hub.streams or house.gate.broker.pending()
        if busy:
            seen, since = house.metrics.requests, time.monotonic()
        elif idle and time.monotonic() - since >= idle:
            house.voice.say(f"nobody called for {idle} seconds: the server ends")
            os.kill(os.getpid(), signal.SIGTERM)
            return


def greet(house: ServerState, closed: bool) -> None:
    """Where it listens, the mode, how to answer."""
    status = house.status()
    show = house.voice.show
    show(f"assent listens on {house.address} and {house.socket}, mode {status['mode']}")
    if status["mode"] == "yolo":
        show("  WARNING: yolo skips shipped, user and project rules; only managed rules and the floor hold")
    if status["problem"]:
        show(f"  the policy does not load, so every call is denied: {status['problem']}")
    if not closed:
        show("  note: this system cannot close the server's memory to other programs of yours")
    for line in house.elsewhere.lines():
        show(f"  {line}")
    if sys.stdout.isatty():
        house.show_code()
        show("  Enter shows a new code, Ctrl-C ends the server")
    else:
        show("  answer on the page; `assent sign-in`, run in a terminal, shows the code to sign in with")


def _codes_on_enter(house: ServerState) -> None:
    for _ in sys.stdin:
        house.show_code()
