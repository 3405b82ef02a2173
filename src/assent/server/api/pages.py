"""The files of the page, read once at the start, and the words that it shares with the other surfaces.

Nothing else on the disk can be asked for."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from assent.agents.capabilities import NAMES
from assent.contract import words
from assent.policy.modes import Mode
from assent.server.api.endpoint import HttpReply

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "page")
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


def load(folder: str = FOLDER) -> Mapping[str, HttpReply]:
    """Path → file, for every file of the page that is of a known kind."""
    found: dict[str, HttpReply] = {}
    for where, _, names in os.walk(folder):
        for name in names:
            kind = KINDS.get(os.path.splitext(name)[1])
            if kind is None:
                continue
            path = os.path.join(where, name)
            with open(path, "rb") as file:
                found[f"/page/{os.path.relpath(path, folder)}"] = HttpReply(file.read(), kind=kind)
    found["/page/vocabulary.js"] = HttpReply(_vocabulary(), kind=KINDS[".js"])
    index = found.pop("/page/index.html", None)
    if index is not None:
        found["/"] = index
    return found


def _vocabulary() -> bytes:
    """The module of JavaScript with the words of `contract/words.py`, the names of agent programs and the modes."""
    table = {**words.plain(), "runtimes": NAMES, "modes": [mode.word for mode in Mode]}
    return f"export default {json.dumps(table)};\n".encode("ascii")
