"""Reads a text as bash 5.2 does: `read` returns the tree of what it would run, and the gaps.

Judges nothing, expands nothing, knows no command. A form that is not modelled exactly is a gap, never a guess."""

from __future__ import annotations

from assent.contract import Pattern
from assent.effects.shell.syntax.compounds import ShellReader
from assent.effects.shell.syntax.source import CONTROL, LIMIT, UNMODELLED
from assent.effects.shell.tree import Reading, Script

LARGEST = 128 * 1024  # Characters that are read: the Linux limit of one argument

_backslash = Pattern(r"(?<!\\)(?:\\\\)*+\\\Z")
_control = Pattern(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def read(text: str) -> Reading:
    """The tree of `text`, and the gaps. Never raises.

    Bash reads and runs line by line: if it refuses a line, the lines before it are in the tree. If the reader itself
    gives up, so are the commands it had read."""
    control = None if text.isprintable() else _control.search(text)
    reader = ShellReader(text)
    if control is not None:
        reader.gap(CONTROL, control.start(), "a control character may mean something else to the shell; remove it")
        if "\0" in text:
            text = text.replace("\0", "")
            reader = ShellReader(text, parent=reader)
    if len(text) > LARGEST:
        reader.gap(LIMIT, LARGEST, "too long to be read; split the command")
        reader.end, reader.cut = LARGEST, True
    gaps = len(reader.gaps)
    script = reader.lines()
    if reader.cut and len(reader.gaps) == gaps:  # its last command may have been cut too
        script = Script(script.commands[:-1], script.joins[:-1])
    if text.endswith("\\") and not reader.gaps and _backslash.search(text):
        reader.gap(
            UNMODELLED, len(text) - 1, "a backslash at the end depends on how the shell gets the text; remove it"
        )
    return Reading(script, tuple(reader.gaps))
