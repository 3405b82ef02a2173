"""The readers: functions for what a table cannot say. Imported one by one, when a command needs them.

A reader has the signature `def name(line: Line) -> None` and adds to `line.seen`; a language is read by
`def name(seen: Seen, word: Word) -> None`. `programs/readers.py` says which module holds which reader."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from assent.effects.shell.command import Arg
from assent.effects.shell.commands.command_effects import Seen
from assent.programs.readers import NAMES

if TYPE_CHECKING:
    from assent.effects.shell.commands.line import Line

    Reader = Callable[[Line], None]
    Language = Callable[[Seen, str | Arg], None]

_LANGUAGES = {
    "SQL": ("code.sql", "sql"),
    "SED": ("code.sed", "sed_script"),
    "AWK": ("code.awk", "awk_program"),
    "JQ": ("code.jq", "jq_filter"),
    "CODE:python": ("code.python", "python_code"),
}

_loaded: dict[str, object] = {}


def reader(name: str) -> Reader:
    """The reader of that name; one that does not exist reads nothing, so the line is EXECUTE."""
    if name not in NAMES:
        return _missing
    return _load(name, NAMES[name], name.replace("-", "_"))  # type: ignore[return-value]  # NAMES lists readers only


def language(role: str) -> Language:
    """The reader of code in a role (`SED`, `CODE:python`)."""
    module, function = _LANGUAGES.get(role) or ("code.inline", f"{role[5:]}_code")
    return _load(role, module, function)  # type: ignore[return-value]  # _LANGUAGES lists such functions only


def _load(key: str, module: str, function: str) -> object:
    if key not in _loaded:
        _loaded[key] = getattr(__import__(f"assent.effects.{module}", fromlist=[function]), function)
    return _loaded[key]


def _missing(line: Line) -> None:
    line.standard()
    line.seen.execute()
