"""Shell text → what it does: read (`syntax`), visited (`walk`), judged by the tables (`commands`). Runs nothing."""

from __future__ import annotations

from assent.contract.effect import Effect, Gap, Kind, Lowering, Operation, Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from assent.effects.shell.commands import Tables

__all__ = ["lower"]


def lower(text: str, *, cwd: str, home: str, shell: str = "", tables: Tables | None = None) -> Lowering:
    """Everything a shell text does, as far as it can be seen. Never raises: a fault of ours is a gap."""
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
    from assent.effects.shell.lowering import walked

    _read = walked
    return walked(text, cwd=cwd, home=home, shell=shell, tables=tables)


_read = _load
