"""Statements for a database client on its command line, input or in a file: what they destroy, and the commands and
files that the client itself runs."""

from __future__ import annotations

from assent.contract import Pattern
from assent.effects.code import sql
from assent.effects.code.escapes import escapes
from assent.effects.shell.commands.command_effects import LONGEST, EffectsBuilder, Word
from assent.programs.traits import has

_MONGO = frozenset(("mongosh", "mongo"))
_REDIS = frozenset(("redis-cli", "valkey-cli", "keydb-cli"))
_EMPTIES = Pattern(r"(?im)^\s*(?:flushall|flushdb)\b")
_LOADS = Pattern(r"\bload\s*\(\s*['\"]([^'\"\n]+)['\"]")


def read_statements(builder: EffectsBuilder, text: str, words: tuple[Word, ...] = ()) -> None:
    """A text that a client runs: EXECUTE, with its visible effects. `words`: those of the client."""
    builder.execute()
    if builder.program in _MONGO:
        from assent.effects.code.inline import visible

        visible(builder, text[:LONGEST], "node")
        builder.danger(*sql.from_input(builder.program, text))
        for name in _LOADS.findall(text):
            builder.script_file(name)
    elif builder.program in _REDIS:
        builder.danger(*(("destroy",) if _EMPTIES.search(text) else ()))
    else:
        local = has(builder.program, "local-database")
        if local and sql.kept_file(words):
            builder.danger(*sql.lost(text))
        elif not local:
            builder.danger(*sql.destroying(text))
        escapes(builder, text)
