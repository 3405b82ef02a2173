"""What our reader says of a text, and whether that is a trace of the payload. Runs nothing."""

from __future__ import annotations

import time
from enum import Enum

from assent.contract import READ_ONLY, Effect, Kind, Lowering, Operation
from assent.effects.shell import lower

CWD, HOME = "/workspace/repo", "/home/user"
SLOWEST = 1.0
LOUD = frozenset(
    {"./run.sh", "run.sh", f"{CWD}/run.sh", f"{CWD}/src/run.sh"}
)  # neighbours that run something themselves
_CONDITIONAL = frozenset((Kind.REPOSITORY, Kind.HOOKS, Kind.MODULES, Kind.SETTINGS))


class Sight(Enum):
    """How much of the payload is seen.

    NOTHING: only reading is seen. MASKED: something else is seen (another file written, a harmless neighbour run),
    which a rule or a mode might allow, and nothing that could be the payload. TRACE: it is seen, or doubted."""

    NOTHING = "nothing"
    MASKED = "masked"
    TRACE = "trace"


def read(text: str, shell: str = "bash") -> Lowering:
    return lower(text, cwd=CWD, home=HOME, shell=shell)


def timed(text: str, shell: str = "bash") -> tuple[Lowering, float]:
    """The reading and how long it took; a slow one is measured again, as the machine may be busy."""
    best = SLOWEST
    for _ in range(3):
        start = time.process_time()
        lowering = read(text, shell)
        best = min(best, time.process_time() - start)
        if best < SLOWEST:
            break
    return lowering, best


def sight(lowering: Lowering) -> Sight:
    if lowering.gaps:
        return Sight.TRACE
    louder = [effect for effect in lowering.effects if counts(effect)]
    if any(may_be_the_payload(effect) for effect in louder):
        return Sight.TRACE
    return Sight.MASKED if louder else Sight.NOTHING


def counts(effect: Effect) -> bool:
    """Whether an effect is more than reading. What a repository's own settings do is for facts to say."""
    if effect.dangers:
        return True
    conditional = effect.operation is Operation.EXECUTE and effect.target.kind in _CONDITIONAL
    return effect.operation not in READ_ONLY and not conditional


def may_be_the_payload(effect: Effect) -> bool:
    """False of a file that is not `pwned`, known by its name, and of a neighbour that is run."""
    target = effect.target
    known = target.name and target.certain and not target.pattern and not effect.recursive and not effect.dangers
    if target.kind is Kind.REPOSITORY:
        return True  # git's store has files of its own, which may have any name
    if known and effect.operation in (Operation.WRITE, Operation.DELETE):
        return "pwned" in target.name
    return target.name not in LOUD


def fault(lowering: Lowering, seconds: float) -> str:
    """Why a reading is wrong in itself, `""` if it is not."""
    if any(gap.code == "gap.shell.internal" for gap in lowering.gaps):
        return "internal"
    return "slow" if seconds >= SLOWEST else ""
