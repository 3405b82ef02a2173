"""The process and the port of Assent's own server, which calls must not touch. Connects to no server."""

from __future__ import annotations

import posixpath

from assent.contract import Kind, Lowering, Server, re
from assent.state.files import read

FILE = "server.lock"
_PID, _PORT = rb'"pid": *([0-9]+)', rb'"port": *([0-9]+)'
_LIMIT = 4096


def server(state: str, lowering: Lowering) -> Server | None:
    """The server, if the call contains its process id or port; None if not, or if no server runs."""
    if not state or not (any(map(str.isdigit, lowering.text)) if lowering.text else _reaches(lowering)):
        return None
    try:
        text = read(posixpath.join(state, FILE), _LIMIT)[0]
    except OSError:
        return None
    pid, port = (found[1].decode() if (found := re.search(each, text)) else "" for each in (_PID, _PORT))
    if not pid:
        return None
    numbers = re.findall("[0-9]+", lowering.text or " ".join(effect.target.text for effect in lowering.effects))
    return Server(pid, port, named=port in numbers) if pid in numbers or port in numbers else None


def _reaches(lowering: Lowering) -> bool:
    """Whether a tool call fetches something, or inspects processes."""
    return any(
        effect.target.kind is Kind.HOST or effect.target.name.startswith("/proc/") for effect in lowering.effects
    )
