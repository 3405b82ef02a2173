"""Commands that something may run which nobody knows: a program without a row, or one that says nothing of its words.

Only those that carry a danger are of interest. So a word that is the name of a program, with those behind it, and a
text that begins with one, count as commands where they would be dangerous; all else stays words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from assent.contract import Pattern
from assent.effects.shell.command import Arg, CommandEffects
from assent.effects.shell.commands.command_effects import Seen, literal, shown
from assent.programs.table import Tables
from assent.programs.traits import has

if TYPE_CHECKING:
    Word = str | Arg
    Interpret = Callable[..., CommandEffects]

_MOST_WORDS, _DEEPEST, _LONGEST = 32, 4, 4096
_NAME = Pattern(r"(?:[\w./~-]*/)?[A-Za-z][\w.+-]*")
_TEXT = Pattern(r"(?:--?[\w-]+=)?([A-Za-z./~][^\n]*\s[^\n]*)")
_SPAWN = Pattern(r"^(?:spawn|exec|!|shell)\s+")


def add(seen: Seen, words: list[Word], tables: Tables, interpret: Interpret, *, texts: bool) -> None:
    """Add what may be run, as `interpret` reads it. `texts`: texts in the words may be commands too."""
    found = list(seen.maybe)
    for place, word in enumerate(words[:_MOST_WORDS]):
        text = literal(word)
        if text is None or len(text) > _LONGEST:
            continue
        if texts and (match := _TEXT.fullmatch(text)):
            found.append(match[1])
        elif place + 1 < len(words) and _NAME.fullmatch(text) and _endangers(seen, words[place:], tables, interpret, 0):
            seen.run(words[place:])
            break
    for text in found:
        text = _SPAWN.sub("", text)
        if _endangers(seen, list(text.split()), tables, interpret, 0):
            seen.shell(text)


def _endangers(seen: Seen, words: list[Word], tables: Tables, interpret: Interpret, depth: int) -> bool:
    """Whether words are a command that is known, and dangerous."""
    if (
        not words
        or depth > _DEEPEST
        or has(shown(words[0]), "common-subcommand")
        or tables.program(shown(words[0]).rpartition("/")[2]) is None
    ):
        return False
    found = interpret(tuple(words), cwd=seen.cwd, home=seen.home, tables=tables)
    if any(effect.dangers for effect in found.effects):
        return True
    for run in found.runs:
        inner: list[Word] = list(run.argv) if run.argv is not None else [*(run.script or "").split()]
        if _endangers(seen, inner, tables, interpret, depth + 1):
            return True
    return False
