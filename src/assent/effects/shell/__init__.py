"""Shell text → its effects: read (`syntax`), visited (`walk`), judged by the tables (`commands`). Runs nothing."""

from __future__ import annotations

from collections.abc import Mapping

from assent.contract import Code, Effect, Gap, Kind, Lowering, Operation, PayloadError, Target
from assent.effects.shell.commands import Tables

__all__ = ["lower"]

LONGEST = 1024 * 1024  # characters of a command; Linux passes at most 128 KiB in one argument


def lower(
    text: str,
    *,
    cwd: str,
    home: str,
    shell: str = "",
    tables: Tables | None = None,
    code: Mapping[str, Code] | None = None,
) -> Lowering:
    """The visible effects of a shell text. `code` are the files of code read so far. An internal fault is a gap.
    Raises PayloadError if the text is too long to show to a person: reading megabytes would delay every other call."""
    if len(text) > LONGEST:
        raise PayloadError(f"a command of {len(text):,} characters is too long; put it into a file and run that")
    try:
        return _read(text, cwd=cwd, home=home, shell=shell, tables=tables, code=code)
    except Exception:
        # INVARIANT: a fault costs a prompt, never an unapproved run.
        where = f"command[0:{len(text)}]"
        gap = Gap("gap.shell.internal", where, "this command could not be read: split it, or say it more simply")
        effect = Effect(Operation.EXECUTE, Target(Kind.PROGRAM, "", text[:200], certain=False), where)
        return Lowering("bash", (effect,), (), (gap,), text=text)


def _load(
    text: str, *, cwd: str, home: str, shell: str, tables: Tables | None, code: Mapping[str, Code] | None
) -> Lowering:
    """The first shell text loads the reader, the walk and the tables: other tools need none of them."""
    global _read
    from assent.effects.shell.walk import lower_text

    _read = lower_text
    return lower_text(text, cwd=cwd, home=home, shell=shell, tables=tables, code=code)


_read = _load
