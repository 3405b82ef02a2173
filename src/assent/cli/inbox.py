"""`assent inbox`: the questions that wait, in the terminal. Draws nothing itself; `terminal/` does."""

from __future__ import annotations

import argparse
import os
import sys

from assent.contract import AccessError, StoreError
from assent.server import local, peers

DESCRIPTION = "See what waits for you and answer it, in this terminal. Sign in with the server's one-time code."
EPILOG = "It talks to the server that `assent serve` runs. For a person in a terminal: agents are refused."


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--theme", choices=("auto", "dark", "light"), default="auto", help="the colours (default: auto)"
    )
    parser.add_argument("--no-mouse", action="store_true", help="leave the mouse to the terminal, to select and copy")
    parser.add_argument("--quiet", action="store_true", help="do not ring when a question comes")


def run(options: argparse.Namespace) -> int:
    try:
        import textual  # noqa: F401
    except ImportError:
        raise StoreError("the inbox needs textual; install it with `pip install 'assent[inbox]'`") from None
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise AccessError("the inbox needs a terminal; use the page where there is none", code="no-terminal")
    peers.close_to_debuggers()  # the secrets of the session are in the memory of this process
    from assent.tui import looks
    from assent.tui.app import InboxApp
    from assent.tui.client import Client

    theme = looks.guess(os.environ) if options.theme == "auto" else options.theme
    app = InboxApp(Client(local.server), theme=theme, bell=not options.quiet)
    try:
        app.run(mouse=not options.no_mouse)
    finally:
        app.end_now()
    return app.return_code or 0
