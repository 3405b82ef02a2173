"""The settings of copies: how much is kept, and for how long."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from assent.contract import Pattern

if TYPE_CHECKING:
    from assent.policy.document import Document

SECTION = "undo"
DEFAULTS: Mapping[str, bool | int] = {
    "on": True,
    "max_size": 500_000_000,
    "max_files": 50_000,
    "keep": 14 * 86_400,
    "required": False,
}
UNITS = {"": 1, "kB": 1000, "KB": 1000, "MB": 10**6, "GB": 10**9, "TB": 10**12}
TIMES = {"hour": 3600, "day": 86_400, "week": 7 * 86_400}
_SIZE = Pattern(r"([1-9][0-9]{0,9})\s*(|kB|KB|MB|GB|TB)")
_TIME = Pattern(r"([1-9][0-9]{0,3})\s*(hour|day|week)s?")


def value(name: str, given: object) -> bool | int:
    """One setting of the section, checked. Raises ValueError with what is wrong and what to write."""
    match name:
        case "max_size":
            found = _SIZE.fullmatch(given) if isinstance(given, str) else None
            if found is None:
                raise ValueError("must be a size", 'write `max_size = "500 MB"`')
            return int(found[1]) * UNITS[found[2]]
        case "keep":
            found = _TIME.fullmatch(given) if isinstance(given, str) else None
            if found is None:
                raise ValueError("must be a time", 'write `keep = "14 days"`')
            return int(found[1]) * TIMES[found[2]]
        case "max_files":
            if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= 10**7:
                raise ValueError("must be a number of files", "write `max_files = 50000`")
            return given
        case _:
            if not isinstance(given, bool):
                raise ValueError("must be true or false", f"write `{name} = true`")
            return given


def combined(documents: Sequence[Document]) -> dict[str, bool | int]:
    """The settings in force: the last file that sets a value decides. No file can switch off copies that another
    requires."""
    found = dict(DEFAULTS)
    for document in documents:
        found.update(document.undo)
    found["required"] = any(document.undo.get("required") for document in documents)
    found["on"] = bool(found["on"]) or bool(found["required"])
    return found
