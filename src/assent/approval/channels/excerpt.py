"""Foreign text in a bounded space: escaped, its beginning and its end, with its true length between them.

Only the shown part is processed, however long the text is: a question must not delay others."""

from __future__ import annotations

from collections.abc import Callable

from assent.contract import display
from assent.contract.escapes import ESCAPE

SHORT = 120  # characters up to which a text is a name, and only its beginning is shown


def code(raw: str, limit: int) -> str:
    """Text as `display.code` shows it, in at most `limit` characters."""
    return _bounded(raw, limit, display.code)


def prose(raw: str, limit: int) -> str:
    """As `display.visible` shows it, for sentences."""
    return _bounded(raw, limit, display.visible)


def flat(raw: str, limit: int) -> str:
    """As `code`, on one line."""
    return code(raw, limit).replace("\n", "⏎").replace("\t", " ")


def fits(raw: str, limit: int) -> bool:
    """Whether `code` shows all of it."""
    return len(raw) <= limit and len(display.code(raw)) <= limit


def _bounded(raw: str, limit: int, shown: Callable[[str], str]) -> str:
    whole = shown(raw[: limit + 1])
    if len(raw) <= limit and len(whole) <= limit:
        return whole
    if limit <= SHORT:
        return f"{_start(whole, limit - 1)}…"
    note = f" … [cut: {len(raw):,} characters in all] … "
    head = (limit - len(note) + 1) // 2
    tail = limit - len(note) - head
    return f"{_start(whole, head)}{note}{_end(shown(raw[-tail:]), tail)}"


def _start(text: str, limit: int) -> str:
    """The beginning; an escaped character is not split."""
    return text if len(text) <= limit else text[: _around(text, limit)[0]]


def _end(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[_around(text, len(text) - limit)[1] :]


def _around(text: str, at: int) -> tuple[int, int]:
    """Where an escaped character across this position begins and ends; the position itself if there is none."""
    for found in ESCAPE.finditer(text, max(0, at - 12), min(len(text), at + 12)):
        if found.start() < at < found.end():
            return found.start(), found.end()
    return at, at
