"""The readers: functions for commands that a table cannot describe. Imported one by one, when a command needs them.

A reader has the signature `def name(line: CommandLine) -> None` and adds to `line.builder`; a language is read by
`def name(builder: EffectsBuilder, word: Word) -> None`. `programs/table.py` lists the module of each reader."""

from __future__ import annotations

_loaded: dict[str, object] = {}


def load(module: str, function: str) -> object:
    if function not in _loaded:
        _loaded[function] = getattr(__import__(f"assent.effects.{module}", fromlist=[function]), function)
    return _loaded[function]
