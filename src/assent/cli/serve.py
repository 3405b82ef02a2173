"""`assent serve`: the gate as a resident server, with a page to answer on. Serves nothing itself."""

from __future__ import annotations

import argparse
import os

from assent.cli.place import MODES
from assent.contract import StoreError
from assent.server import detached, local
from assent.server.listening import PORT, ServeOptions

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
    told = ServeOptions(
        port=options.port,
        socket=os.path.abspath(options.socket) if options.socket else "",
        mode=options.mode,
        config=os.path.abspath(options.config) if options.config else "",
        open=options.open,
    )
    if options.background:
        port = detached.start(local.state(), told)
        print(f"assent listens on http://127.0.0.1:{port}/ in the background")
        print("answer on the page; `assent sign-in` shows the code to sign in with, `assent stop` ends the server")
        return 0
    from assent.server import serving  # with starlette and uvicorn

    return serving.keep(told)
