"""Small random damage to a text, in the alphabet that shells care for. Knows no grammar."""

from __future__ import annotations

import random

from tests.fuzz.templates import DAMAGE

LETTERS = "'\"\\$`(){}[]<>|&;#!=*?~ \t\n\r-+,./:@%^_0123aEx"


def mutated(chance: random.Random, text: str, other: str = "") -> str:
    """The text with one to four changes; `other` is a text to take a part from."""
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 4))):
        text = _changed(chance, text, other)
    return text


def _changed(chance: random.Random, text: str, other: str) -> str:
    at = chance.randrange(len(text) + 1)
    to = min(len(text), at + chance.choice((1, 1, 1, 1, 2, 3, 5, 8)))
    part = text[at:to]
    match chance.randrange(9):
        case 0:
            return text[:at] + text[to:]
        case 1:
            return text[:to] + part + text[to:]
        case 2 | 3:
            return text[:at] + chance.choice(LETTERS) + text[at:]
        case 4 | 5:
            return text[:at] + chance.choice(DAMAGE) + text[at:]
        case 6:
            return text[:at] + chance.choice(LETTERS) + text[at + 1 :]
        case 7:
            rest = text[:at] + text[to:]
            place = chance.randrange(len(rest) + 1)
            return rest[:place] + part + rest[place:]
        case _:
            start = chance.randrange(len(other) + 1)
            return text[:at] + other[start : start + chance.randrange(1, 12)] + text[at:]
