"""Shell text → what it does: read (`syntax`), visited (`walk`), judged by the tables (`commands`). Runs nothing."""

from __future__ import annotations

from assent.contract import Effect, Gap, Kind, Lowering, Operation, PayloadError, Target
from assent.effects.shell.commands import Tables

__all__ = ["lower"]

LONGEST = 1024 * 1024  # characters of a command; a kernel hands a shell no more than 128 KiB in one word


def lower(text: str, *, cwd: str, home: str, shell: str = "", tables: Tables | None = None) -> Lowering:
    """Everything a shell text does, as far as it can be seen. A fault of ours is a gap; PayloadError where the text is
    longer than anybody could be shown, as reading megabytes would hold every other call up."""
    if len(text) > LONGEST:
        raise PayloadError(f"a command of {len(text):,} characters is too long; put it into a file and run that")
    try:
        return _read(text, cwd=cwd, home=home, shell=shell, tables=tables)
    except Exception:
        # INVARIANT: a fault costs a question, never an unapproved run.
        where = f"command[0:{len(text)}]"
        gap = Gap("gap.shell.internal", where, "this command could not be read: split it, or say it more simply")
        effect = Effect(Operation.EXECUTE, Target(Kind.PROGRAM, "", text[:200], certain=False), where)
        return Lowering("bash", (effect,), (), (gap,), text=text)


def _load(text: str, *, cwd: str, home: str, shell: str, tables: Tables | None) -> Lowering:
    """The first shell text brings in the reader, the walk and the tables: a call of another tool needs none of them."""
    global _read
    from assent.effects.shell.walk import lower_text

    _read = lower_text
    return lower_text(text, cwd=cwd, home=home, shell=shell, tables=tables)


_read = _load
