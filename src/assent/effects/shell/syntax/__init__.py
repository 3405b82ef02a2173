"""Reads a text as bash 5.2 reads it: `read` gives the tree of what it would run, and what is in doubt.

Judges nothing, expands nothing, knows no command. What is not modelled exactly is a gap, never a guess."""

from __future__ import annotations

import re

from assent.effects.shell.syntax.compounds import Reader
from assent.effects.shell.syntax.source import CONTROL, LIMIT, UNMODELLED
from assent.effects.shell.tree import Reading, Script

LARGEST = 256 * 1024
"""Characters that are read. Linux starts no process with a longer argument than half of this."""

_backslash = re.compile(r"(?<!\\)(?:\\\\)*+\\\Z").search
_control = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]").search


def read(text: str) -> Reading:
    """The tree of `text`, and the gaps. Never raises.

    Bash reads and runs line by line: where it refuses a line, the lines before it are in the tree. Where the reader
    itself gives up, the commands it had read are there too."""
    reader = Reader(text)
    control = _control(text)
    if control is not None:
        reader.gap(CONTROL, control.start(), "a control character may mean something else to the shell; remove it")
        if "\0" in text:
            reader = Reader(text.replace("\0", ""), parent=reader)
            reader.depth = 0
    if len(text) > LARGEST:
        return _beginning(text, reader)
    try:
        script = reader.lines()
    except RecursionError:
        reader.gap(LIMIT, reader.pos, "nested too deeply; split the command")
        script = Script((), ())
    if text.endswith("\\") and not reader.gaps and _backslash(text):
        reader.gap(
            UNMODELLED, len(text) - 1, "a backslash at the end depends on how the shell gets the text; remove it"
        )
    return Reading(script, tuple(reader.gaps))


def _beginning(text: str, reader: Reader) -> Reading:
    """What can be said of a text that is too long: that it is, and nothing else."""
    reader.gap(LIMIT, LARGEST, "too long to be read; split the command")
    return Reading(Script((), ()), tuple(reader.gaps))
