"""How a character that is not to be shown is written out: `\\u{202e}`."""

from __future__ import annotations

from assent.contract.lean import Pattern

ESCAPE = Pattern(r"\\u\{[0-9a-f]{0,6}\}?")  # whole, or cut short


def escaped(character: str) -> str:
    """A character written out."""
    return f"\\u{{{ord(character):x}}}"
