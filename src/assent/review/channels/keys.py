"""Bytes from a terminal → keys. Knows nothing of what a key means.

A burst of several characters is a paste: a paste may fill a line of text, but is never a single-key answer."""

from __future__ import annotations

import re

SEQUENCE = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|O[@-~]|[^\x1b])")
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


def keys_in(chunk: bytes) -> list[str]:
    """The keys of one read, arrow keys and other sequences left out."""
    text = SEQUENCE.sub("", chunk.decode("utf-8", "replace"))
    named = [NAMES.get(character, character) for character in text]
    return [key for key in named if len(key) > 1 or key.isprintable()]


def is_paste(keys: list[str]) -> bool:
    return len(keys) > 1 and "ctrl-c" not in keys
