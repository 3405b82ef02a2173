"""`assent stop`: ends the server of this user; what waits is denied first."""

from __future__ import annotations

import argparse
import os
import signal
import time

from assent.contract import StoreError
from assent.hook import server_script, starting
from assent.server import local

DESCRIPTION = "End the server. Questions that wait are denied, and the trail is on the disk before it ends."
PATIENCE = 30.0  # seconds
STARTING = 25.0  # seconds for a server that is being started


def arguments(parser: argparse.ArgumentParser) -> None:
    return None


def run(options: argparse.Namespace) -> int:
    if os.path.exists(server_script.path(local.state())):
        starting.note(local.state(), starting.STOPPED, patience=STARTING)  # first, so that no hook is quicker
        after = "; hooks start none until `assent serve --background`"
    else:
        after = ""
    found = local.server()
    if found is None:
        print(f"no server runs{after}")
        return 0
    try:
        os.kill(found.pid, signal.SIGTERM)
    except OSError as error:
        raise StoreError(f"the server (pid {found.pid}) cannot be ended: {error.strerror}") from None
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if local.server() is None:
            print(f"stopped{after}")
            return 0
        time.sleep(0.05)
    raise StoreError(f"the server (pid {found.pid}) did not end in {PATIENCE:.0f} seconds; look at its terminal")
