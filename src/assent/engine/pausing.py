"""Beginning and ending a pause, on record. Asks nobody whether they may: that is the caller's to know."""

from __future__ import annotations

from assent.contract import Record, StoreError
from assent.engine import journal
from assent.engine.memory import Memory
from assent.state import pause


def change(memory: Memory, seconds: float, *, who: str, channel: str) -> float:
    """Pause for so many seconds, or end a pause with none; return its end, 0 for none.

    INVARIANT: a pause that cannot be recorded does not begin."""
    now = memory.clock()
    until = now + seconds if seconds else 0.0
    code = "pause.begin" if until else "pause.end"
    reason = f"the protection of Assent itself is lifted for {seconds:.0f} seconds" if until else "a pause was ended"
    record = Record(
        "event", journal.new_id(), now, code=code, reason=reason, who=who, channel=channel, more={"until": until}
    )
    problem = memory.record(record)
    if problem and until:
        raise StoreError(f"the pause did not begin: {problem}")
    if until:
        pause.begin(memory.state, until, who)
    else:
        pause.finish(memory.state)
    return until
