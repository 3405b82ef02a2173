"""All word lists of a command whose words have known values: in a loop over names, a glob, or the files that `find`
prints. For allow rules of packs, which have to hold for each of them."""

from __future__ import annotations

from collections.abc import Sequence

from assent.contract import Pattern
from assent.effects.shell.command import Arg

MOST = 32
_PLAIN = Pattern(r"[\w./@:=+,-]+")  # which no shell splits or expands
_FIRST = Pattern(r"[A-Za-z0-9_./]")  # of a glob whose matches are no options


def of(argv: Sequence[str | Arg]) -> tuple[tuple[str, ...], ...]:
    """Every word list, with globs as they are written; none if a word may be something else, or for too many."""
    found: list[tuple[str, ...]] = [()]
    for word in argv:
        texts = (word,) if isinstance(word, str) else _texts(word)
        found = [(*words, text) for words in found for text in texts]
        if not found or len(found) > MOST:
            return ()
    return tuple(found)


def _texts(word: Arg) -> tuple[str, ...]:
    values = word.values
    if values is None:
        if word.kind == "number" and not word.pattern:
            return (word.prefix + "1",)
        folder = word.under[0] if word.under else ""
        named = word.kind in ("paths", "files") and not word.splits and folder.startswith("/")
        return (f"{folder.rstrip('/')}/*",) if named else ()
    if word.pattern:
        return values if not word.splits and all(map(_FIRST.match, values)) else ()
    return values if not word.splits or all(map(_PLAIN.fullmatch, values)) else ()
