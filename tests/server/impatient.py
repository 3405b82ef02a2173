"""`assent` whose server waits two seconds where it waits tens of them. Starts it, tests nothing."""

from __future__ import annotations

import sys

from assent.cli.main import main
from assent.server import held_calls, protocol
from assent.server.api import hooks

BRIEF = 2.0  # seconds

if __name__ == "__main__":
    hooks.WAIT = protocol.TAKING = held_calls.GRACE = BRIEF
    sys.exit(main())
