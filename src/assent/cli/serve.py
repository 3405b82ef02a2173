"""`assent serve`: the gate as a resident server, with a page to answer on. Serves nothing itself."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Mapping

from assent.approval import secrets
from assent.cli.place import MODES
from assent.contract.errors import StoreError
from assent.hook import starting
from assent.server import local, peers, scheduling
from assent.server.listening import Listening
from assent.state import folders
from assent.state.files import state_folder

PORT = 8765
LOOK = 30.0  # seconds between looks whether anybody calls
DESCRIPTION = "Keep the gate ready, hold questions, and show them on a page where a person answers."
EPILOG = "Sign in on the page with the one-time code shown here. End it with Ctrl-C or `assent stop`."


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=int, default=PORT, metavar="N", help=f"on 127.0.0.1 (default: {PORT}; 0: any)")
    parser.add_argument("--socket", default="", metavar="PATH", help="the socket for agents (default: in ~/.assent)")
    parser.add_argument("--open", action="store_true", help="open the page in the browser; the address holds no secret")
    parser.add_argument("--background", action="store_true", help="go on without this terminal; return once it listens")
    parser.add_argument("--mode", choices=MODES, default="", help="the mode to decide in")
    parser.add_argument("--config", metavar="FILE", default="", help="stands in for the user's ~/.assent/config.toml")


def run(options: argparse.Namespace) -> int:
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise StoreError(
            "the server needs starlette and uvicorn; install them with `pip install 'assent[server]'`"
        ) from None
    if not 0 <= options.port <= 65535:
        raise StoreError(f"`{options.port}` is no port; give one from 0 to 65535")
    if options.background:
        from assent.server import detached

        options.config, options.socket = (
            os.path.abspath(each) if each else "" for each in (options.config, options.socket)
        )
        port = detached.start(local.state(), options)
        print(f"assent listens on http://127.0.0.1:{port}/ in the background")
        print("answer on the page; `assent sign-in` shows the code to sign in with, `assent stop` ends the server")
        return 0
    return keep(options)


def defaults() -> argparse.Namespace:
    """The options of a server that was told nothing."""
    parser = argparse.ArgumentParser()
    arguments(parser)
    return parser.parse_args([])


def keep(options: argparse.Namespace, *, background: bool = False) -> int:
    """Serve in this process until told to stop. One in the background takes another port where its own is taken."""
    from assent.server import app

    closed = peers.close_to_debuggers()
    scheduling.wake_early()
    given = secrets.taken(os.environ)
    app.many_files()
    state = state_folder(folders.assent_home(os.environ, os.environ.get("HOME", "") or os.path.expanduser("~")))
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
    options: argparse.Namespace, listening: Listening, closed: bool, given: Mapping[str, str], background: bool
) -> bool:
    """Serve until told to stop; whether everything that was said was written."""
    from assent.server import app
    from assent.server.state import ServerState

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


async def _end_when_idle(house: object) -> None:
    """End a server in the background that nobody calls, watches or is asked by, where the user's file says after how
    long. Hooks start the next one."""
    from assent.server.state import ServerState

    assert isinstance(house, ServerState)
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


def greet(house: object, closed: bool) -> None:
    """Where it listens, the mode, how to answer."""
    from assent.server.state import ServerState

    assert isinstance(house, ServerState)
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


def _codes_on_enter(house: object) -> None:
    from assent.server.state import ServerState

    assert isinstance(house, ServerState)
    for _ in sys.stdin:
        house.show_code()
