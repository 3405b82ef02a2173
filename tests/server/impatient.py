"""`assent` with waits of two seconds instead of tens of seconds. Starts it, tests nothing.

`python -m tests.server.impatient COMMAND …` is `assent COMMAND …`, from the root of the sources or with `PATHS`."""

from __future__ import annotations

import sys
from pathlib import Path

from assent.cli.main import main
from assent.mcp import listen
from assent.server import held_calls, protocol
from assent.server.api import hooks

BRIEF = 2.0  # seconds
PATHS = {"PYTHONPATH": str(Path(__file__).parents[2])}

if __name__ == "__main__":
    hooks.WAIT = held_calls.GRACE = protocol.PACE = protocol.TAKING = listen.SIGN = BRIEF
    sys.exit(main())
