"""`assent inbox`: starts the terminal inbox of `tui/`."""

from __future__ import annotations

import argparse
import os
import sys

from assent.cli.command import flag, one_of, takes
from assent.contract import AccessError, StoreError
from assent.server import local, peers

DESCRIPTION = "Answer waiting questions in this terminal. Sign in with the server's one-time code."
EPILOG = "It connects to the server that `assent serve` runs. For a person in a terminal: agents are refused."
arguments = takes(
    {
        "--theme": one_of(("auto", "dark", "light"), "the colours (default: auto)", default="auto"),
        "--no-mouse": flag("leave the mouse to the terminal, to select and copy"),
        "--quiet": flag("do not ring the bell for a new question"),
        "--web": flag("run the server with its page instead: `assent serve`, whose options it takes"),
    }
)


def run(options: argparse.Namespace) -> int:
    try:
        import textual  # noqa: F401
    except ImportError:
        raise StoreError("the inbox needs textual; install it with `pip install 'assent[inbox]'`") from None
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise AccessError("the inbox needs a terminal; without one, use the page", code="no-terminal")
    peers.close_to_debuggers()  # the secrets of the session are in the memory of this process
    from assent.tui.app import InboxApp, background
    from assent.tui.client import Client

    theme = background(os.environ) if options.theme == "auto" else options.theme
    app = InboxApp(Client(local.server), theme=theme, bell=not options.quiet)
    try:
        app.run(mouse=not options.no_mouse)
    finally:
        app.end_now()
    return app.return_code or 0
