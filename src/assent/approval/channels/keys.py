"""Bytes from a terminal → keys. Knows nothing of what a key means.

A burst of several characters is a paste: a paste may fill a line of text, but is never a single-key answer."""

from __future__ import annotations

import codecs
import re

# Arrow keys, reports of the mouse, replies of the terminal to somebody's questions. Control characters end each.
SEQUENCE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O[@-~]|[\]PX^_][^\x00-\x1f]*(?:\x07|\x1b\\)|[^\x00-\x1f\[\]OPX^_]|[\[\]OPX^_])"
)
UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|O|[\]PX^_][^\x00-\x1f]*\x1b?)\Z")
NAMES = {
    "\r": "enter",
    "\n": "enter",
    "\x1b": "esc",
    "\x7f": "backspace",
    "\x08": "backspace",
    "\x03": "ctrl-c",
    "\x04": "ctrl-c",
    "\x15": "ctrl-u",
}


class Keys:
    """The keys of one terminal, read piece by piece: a character or a sequence may come in two."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""

    def of(self, chunk: bytes) -> list[str]:
        """The keys of one read, arrow keys and other sequences left out."""
        text = self._rest + self._decoder.decode(chunk)
        unfinished = UNFINISHED.search(text)
        # INVARIANT: the end of a sequence that came in two pieces is not a key.
        self._rest = unfinished[0] if unfinished else ""
        text = SEQUENCE.sub("", text[: unfinished.start()] if unfinished else text)
        named = [NAMES.get(character, character) for character in text]
        return [key for key in named if len(key) > 1 or key.isprintable()]


def is_paste(keys: list[str]) -> bool:
    return len(keys) > 1 and "ctrl-c" not in keys
