"""Escapes characters that must not be shown: `\\u{202e}`."""

from __future__ import annotations

from assent.contract.lean import Pattern

ESCAPE = Pattern(r"\\u\{[0-9a-f]{0,6}\}?")  # whole, or cut short


def escaped(character: str) -> str:
    """An escaped character."""
    return f"\\u{{{ord(character):x}}}"
