"""Suggests what a misspelt word may have meant. Knows no words itself."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A suggestion in words: the nearest known word, or all of them."""
    words = list(known)
    near = min(words, key=lambda other: distance(word.lower(), other.lower()), default="")
    if near and distance(word.lower(), near.lower()) <= (1 if len(word) < 4 else max(2, len(word) // 3)):
        return f"did you mean `{near}`?"
    return "use one of " + ", ".join(f"`{each}`" for each in words)


def distance(a: str, b: str) -> int:
    """How many insertions, deletions and replacements turn one word into the other."""
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, right in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (left != right))
    return row[-1]
