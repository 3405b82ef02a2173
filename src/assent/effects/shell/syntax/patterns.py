"""Regular expressions that are compiled when they are first used.

Compiling all that the reader may need takes longer than many decisions, and most commands need few."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Find = Callable[..., re.Match[str] | None]

_ENDLESS = 1 << 62


class Pattern:
    """`match` and `search` of a regular expression. After the first use they are those of the compiled one."""

    __slots__ = ("text", "flags", "match", "search")

    def __init__(self, text: str, flags: int = 0) -> None:
        self.text = text
        self.flags = flags
        self.match: Find = self._match
        self.search: Find = self._search

    def compiled(self) -> re.Pattern[str]:
        compiled = re.compile(self.text, self.flags)
        self.match = compiled.match
        self.search = compiled.search
        return compiled

    def _match(self, text: str, pos: int = 0, end: int = _ENDLESS) -> re.Match[str] | None:
        return self.compiled().match(text, pos, end)

    def _search(self, text: str, pos: int = 0, end: int = _ENDLESS) -> re.Match[str] | None:
        return self.compiled().search(text, pos, end)
