"""Regular expressions that are compiled when they are first used.

Compiling all that the reader may need takes longer than many decisions, and most commands need few."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Find = Callable[..., re.Match[str] | None]

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
        findall: Callable[..., list[str]]
        finditer: Callable[..., Iterator[re.Match[str]]]

    def __init__(self, text: str, flags: int = 0) -> None:
        self.text = text
        self.flags = flags

    def __getattr__(self, name: str) -> object:
        """A method that is asked for before there is one."""
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(self.text, self.flags)
        for each in _METHODS:
            setattr(self, each, getattr(compiled, each))
        return getattr(compiled, name)
