"""`assent serve`: the gate as a resident server, with a page to answer on."""

from __future__ import annotations

import argparse
import os

from assent.cli.command import CONFIG, MODE, flag, takes, text
from assent.contract import StoreError
from assent.server import detached, local
from assent.server.listening import PORT, ServeOptions

DESCRIPTION = "Run the gate server. It holds questions and shows them on a web page, where a person answers them."
EPILOG = "Sign in on the page with the one-time code shown here. Stop it with Ctrl-C or `assent stop`."
arguments = takes(
    {
        "--port": {"type": int, "default": PORT, "metavar": "N", "help": f"on 127.0.0.1 (default: {PORT}; 0: any)"},
        "--socket": text("PATH", "the socket for agents (default: in ~/.assent)"),
        "--open": flag("open the page in the browser; the address contains no secret"),
        "--background": flag("run without this terminal; return once the server listens"),
        "--mode": MODE,
        "--config": CONFIG,
    }
)


def run(options: argparse.Namespace) -> int:
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise StoreError(
            "the server needs starlette and uvicorn; install them with `pip install 'assent[server]'`"
        ) from None
    if not 0 <= options.port <= 65535:
        raise StoreError(f"`{options.port}` is not a port; give one from 0 to 65535")
    given = ServeOptions(
        port=options.port,
        socket=os.path.abspath(options.socket) if options.socket else "",
        mode=options.mode,
        config=os.path.abspath(options.config) if options.config else "",
        open=options.open,
    )
    if options.background:
        port = detached.start(local.state(), given)
        print(f"assent listens on http://127.0.0.1:{port}/ in the background")
        print("answer on the page; `assent sign-in` shows the code to sign in with, `assent stop` stops the server")
        return 0
    from assent.server import serving  # with starlette and uvicorn

    return serving.keep(given)
