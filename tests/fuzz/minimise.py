"""Cuts a text down to the least one that still has a property. Knows nothing of shells."""

from __future__ import annotations

from collections.abc import Callable


def minimised(text: str, holds: Callable[[str], bool], most: int = 600) -> str:
    """The text without every part that can go while `holds` stays true; asks at most `most` times."""
    asked = 0
    size = max(1, len(text) // 2)
    while asked < most:
        at, shorter = 0, False
        while at < len(text) and asked < most:
            tried = text[:at] + text[at + size :]
            asked += 1
            if tried and holds(tried):
                text, shorter = tried, True
            else:
                at += size
        if size == 1 and not shorter:
            break
        size = size if shorter and size == 1 else max(1, size // 2)
    return text
