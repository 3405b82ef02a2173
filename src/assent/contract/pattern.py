"""Regular expressions that are compiled when they are first used, and the module `re` when it is. Holds none itself.

Compiling all that a decision may need takes longer than the decision, and a process that answers one call needs few;
for everyday calls it needs none, nor the module."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator
    from typing import Any

    Find = Callable[..., re.Match[str] | None]

__all__ = ["ASCII", "DOTALL", "IGNORECASE", "Pattern", "re"]

IGNORECASE, DOTALL, ASCII = 2, 16, 256  # as in `re`
# Has compiled ones by their text and flags, where the process was started with them in one file.
KEPT: list[Callable[[str, int], re.Pattern[str] | None]] = []
_METHODS = ("match", "search", "fullmatch", "sub", "split", "findall", "finditer")


class Pattern:
    """A regular expression with its usual methods. After the first use they are those of the compiled one."""

    __slots__ = ("text", "flags", *_METHODS)

    if TYPE_CHECKING:
        match: Find
        search: Find
        fullmatch: Find
        sub: Callable[..., str]
        split: Callable[..., list[str]]
        findall: Callable[..., list[Any]]
        finditer: Callable[..., Iterator[re.Match[str]]]

    def __init__(self, text: str, flags: int = 0) -> None:
        self.text = text
        self.flags = flags

    def __getattr__(self, name: str) -> object:
        """A method that is asked for before there is one."""
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = next(filter(None, (kept(self.text, self.flags) for kept in KEPT)), None)
        if compiled is None:
            from re import compile

            compiled = compile(self.text, self.flags)
        for each in _METHODS:
            setattr(self, each, getattr(compiled, each))
        return getattr(compiled, name)


if not TYPE_CHECKING:

    class _Module:
        """`re`, loaded with the first of its names that is used."""

        def __getattr__(self, name: str) -> object:
            import re

            found = getattr(re, name)
            setattr(self, name, found)
            return found

    re = _Module()
