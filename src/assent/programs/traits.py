"""The traits of programs (interpreter, wrapper, suite…), from `traits.toml`."""

from __future__ import annotations

from assent.contract import keep
from assent.programs.catalog import catalog

TRAITS = "_traits"  # the row with the traits
REMEMBERED = 256  # programs


class Trait:
    """The programs that have a trait: by name, by name and version, and by prefix. `known` caches the last results."""

    __slots__ = ("names", "prefixes", "versioned", "known")

    def __init__(self, words: list[str]) -> None:
        self.names = frozenset([word for word in words if word[-1] not in "#*"])
        self.versioned = frozenset([word[:-1] for word in words if word[-1] == "#"])
        self.prefixes = tuple([word[:-1] for word in words if word[-1] == "*"])
        self.known: dict[str, bool] = {}

    def holds(self, program: str) -> bool:
        if program in self.names or (self.prefixes and program.startswith(self.prefixes)):
            return True
        return bool(self.versioned) and program.rstrip("0123456789.") in self.versioned


_known: dict[str, Trait] = {}


def has(program: str, trait: str) -> bool:
    """Whether a program has a trait. An unknown trait raises KeyError."""
    found = _known.get(trait)
    if found is None:
        found = _known[trait] = Trait(_words(trait))
    answer = found.known.get(program)
    if answer is None:
        answer = found.holds(program)
        keep(found.known, program, answer, REMEMBERED)
    return answer


def _words(trait: str) -> list[str]:
    found: list[str] = []
    for word in str(catalog.rows(TRAITS)[TRAITS][trait]).split():
        found += _words(word[1:]) if word[0] == "@" else [word]
    return found
