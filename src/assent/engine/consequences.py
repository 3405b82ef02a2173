"""The consequences shown with a question: measured when it is asked, never for a call that runs or is denied."""

from __future__ import annotations

from assent.contract import Call
from assent.contract.approval import Consequence
from assent.engine.engine import Judged
from assent.facts.consequences import measure
from assent.facts.consequences.words import LONGEST, say
from assent.policy import undoable
from assent.trail import redact

KEPT = "kept"
SECONDS = 0.3  # for all measurements of one question
SHORT, FEW = 400, 3  # characters and lines in the dialog of another program
UNDO = "undo"


def measured(call: Call, judged: Judged, copy: str, *, undo: bool) -> tuple[Consequence, ...]:
    """The consequences of a call that asks. `copy` is the trail's note on the copy of the destroyed files; `undo`:
    copies are on. Never raises: a question without them is better than none."""
    try:
        lowering, facts = judged.lowering, judged.facts
        if lowering is None or facts is None:
            return ()
        planned = measure.plan(call, lowering, facts)
        found = measure.measure(planned, SECONDS) if planned else ()
        return tuple(map(_redacted, (*found, *_undone(judged, copy, undo))))
    except Exception as error:
        return (say("failed", "failed", what="would cause", why=type(error).__name__),)


def any_of(call: Call, judged: Judged, copy: str) -> bool:
    """Whether there is something to measure. Uses the call alone."""
    if judged.lowering is None or judged.facts is None:
        return False
    try:
        return bool(copy) or bool(measure.plan(call, judged.lowering, judged.facts))
    except Exception:
        return True  # `measured` says what failed


def _undone(judged: Judged, copy: str, undo: bool) -> tuple[Consequence, ...]:
    """Whether `assent undo` restores what the call destroys."""
    loss = undoable.loss_of(judged.lowering, judged.facts, judged.policy) if judged.policy is not None else None
    if loss is None or not loss.destroys():
        return ()
    if not undo:
        return (say(UNDO, "copy.off"),)
    if copy == KEPT:
        return (say(UNDO, "copy.kept"),)
    return (say(UNDO, "copy.none", why=copy),) if copy else ()


def _redacted(found: Consequence) -> Consequence:
    """A name may contain a secret, like an address with a password."""
    text = redact.text(found.text)
    return found if text == found.text else Consequence(found.kind, text[: LONGEST * 2], cut=found.cut)


def in_short(found: tuple[Consequence, ...]) -> str:
    """The consequences for a program's own dialog, if they are few and short; else the first of them."""
    shown: list[str] = []
    for each in found:
        if len(shown) == FEW or sum(map(len, shown)) + len(each.text) > SHORT:
            break
        shown.append(each.text)
    return "; ".join(shown)
