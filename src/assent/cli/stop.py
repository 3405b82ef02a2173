"""`assent stop`: ends the server of this user."""

from __future__ import annotations

import argparse
import os
import signal
import time

from assent.cli.command import takes
from assent.contract import StoreError
from assent.hook import server_script, starting
from assent.server import local

DESCRIPTION = "Stop the server. Waiting questions are denied, and the trail is written to disk first."
TIMEOUT = 30.0  # seconds for the server to end
START_TIMEOUT = 25.0  # seconds for a server that a hook is starting
arguments = takes({})


def run(options: argparse.Namespace) -> int:
    after = ""
    if os.path.exists(server_script.path(local.state())):
        starting.note(local.state(), starting.STOPPED, patience=START_TIMEOUT)  # first, so that no hook starts another
        after = "; hooks start none until you run `assent serve --background`"
    found = local.server()
    if found is None:
        print(f"no server runs{after}")
        return 0
    try:
        os.kill(found.pid, signal.SIGTERM)
    except OSError as error:
        raise StoreError(f"the server (pid {found.pid}) cannot be stopped: {error.strerror}") from None
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        if local.server() is None:
            print(f"stopped{after}")
            return 0
        time.sleep(0.05)
    raise StoreError(f"the server (pid {found.pid}) did not stop in {TIMEOUT:.0f} seconds; see its terminal")
