"""One shell text through reader and walk. Has no net: a fault comes out of it."""

from __future__ import annotations

from assent.contract import Gap, Lowering
from assent.effects.shell.commands import Tables, shipped
from assent.effects.shell.record import LimitReached
from assent.effects.shell.state import ShellState
from assent.effects.shell.syntax import read
from assent.effects.shell.walk import Walk
from assent.programs.traits import has

LIMIT_ADVICE = "this command is too long to be read as a whole: split it"


def walked(text: str, *, cwd: str, home: str, shell: str, tables: Tables | None) -> Lowering:
    """Everything a shell text does, as far as it can be seen."""
    reading = read(text)
    walk = Walk(text, home, tables or shipped, shell, read)
    gaps = [Gap(code, f"command[{at}:{at + 1}]", advice) for code, at, advice in reading.gaps]
    if has(shell, "posix-shell") or (not shell and "$'" in text):
        from assent.effects.shell import dialects

        differs = dialects.differs if shell else dialects.ends_elsewhere
        if differs(reading.script, text):
            gaps.append(Gap("gap.shell.unmodelled", f"command[0:{len(text)}]", dialects.SH_ADVICE))
    if walk.zsh and "[" in text and "$" in text:
        from assent.effects.shell import dialects

        if dialects.has_odd_subscript(text):
            gaps.append(Gap("gap.shell.zsh", f"command[0:{len(text)}]", dialects.SUBSCRIPT_ADVICE))
    try:
        walk.script(reading.script, ShellState((cwd if cwd.startswith("/") else "",)))
        if walk.traps:
            from assent.effects.shell import calls

            calls.sprung(walk)
    except LimitReached:
        walk.span = None
        gaps.append(Gap("gap.shell.limit", f"command[0:{len(text)}]", LIMIT_ADVICE))
    gaps += walk.gaps.values()
    possible = None
    if walk.unsettled:
        from assent.effects.shell import variants

        possible = variants.lowered(walk, Walk(text, home, tables or shipped, shell, read))
    return Lowering(
        "bash",
        tuple(walk.effects),
        tuple(walk.invocations),
        tuple(gaps),
        inert=not walk.effects and not gaps and bool(reading.script.commands),
        text=text,
        possible=possible,
    )
