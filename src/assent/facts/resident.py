"""The number of the process of Assent's own server, which commands must not end. Talks to no server."""

from __future__ import annotations

import posixpath

from assent.contract.pattern import re
from assent.statefile import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from assent.contract.effect import Lowering

FILE = "server.lock"
ENDS = frozenset({"kill"})
_PID = rb'"pid": *([0-9]+)'
_LIMIT = 4096


def server(state: str, lowering: Lowering) -> str:
    """The number, where the call might end a process by its number; `""` where it does not, or no server runs."""
    if not state or all(invocation.program not in ENDS for invocation in lowering.invocations):
        return ""
    try:
        found = re.search(_PID, read(posixpath.join(state, FILE), _LIMIT)[0])
    except OSError:
        return ""
    return found[1].decode() if found else ""
