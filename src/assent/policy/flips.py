"""Finds the changes that flip a decision: the one its deciding part names, tried by deciding again.

A call has several parts, and without one rule another may match: every change needed is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from assent.contract import Decision, Layer, Outcome, Part
from assent.policy.modes import Mode

if TYPE_CHECKING:
    from assent.policy.strict import Skips

    # The decision on the same call in another mode, without the skipped rules.
    Again = Callable[[Mode, Skips], Decision]

MOST = 4  # changes tried, one after the other
RULED = frozenset((Layer.DENY, Layer.ASK))
MODES = {mode.word: mode for mode in Mode}


def checked(decision: Decision, mode: Mode, again: Again) -> Decision:
    """The decision with a tested flip: alone if that is enough, otherwise with the other changes needed."""
    part = decision.deciding
    if decision.outcome is Outcome.ALLOW or not part.flip or _is_looser_mode(decision):
        return decision
    flip = _needed(decision, mode, again)
    return decision if flip == part.flip else _with(decision, flip)


def _needed(decision: Decision, mode: Mode, again: Again) -> str:
    """Every change needed for a milder outcome."""
    part, dropped = decision.deciding, set[str]()
    steps: list[str] = []
    for _ in range(MOST):
        steps.append(part.flip)
        if part.layer in RULED and part.rule and part.rule not in dropped:
            dropped.add(part.rule)
        elif part.layer is Layer.MODE and (looser := _mode_in(part)) is not None and looser > mode:
            mode = looser
        else:  # a gap or an unnamed target: only another call would help
            return "; and ".join(dict.fromkeys(steps))
        found = again(mode, _leaving_out(frozenset(dropped)))
        if found.outcome < decision.outcome:
            return "; and ".join(dict.fromkeys(steps))
        part = found.deciding
        if not part.flip:
            return f"nothing alone: {part.reason}"
    return "; and ".join((*dict.fromkeys(steps), "more"))


def _is_looser_mode(decision: Decision) -> bool:
    """Whether the same looser mode settles every part that is not allowed. Nothing is stricter in a looser mode."""
    flip = decision.deciding.flip if _mode_in(decision.deciding) is not None else ""
    return bool(flip) and all(part.outcome is Outcome.ALLOW or part.flip == flip for part in decision.parts)


def _mode_in(part: Part) -> Mode | None:
    word = part.flip.partition("`")[2].partition("`")[0] if part.flip.startswith("mode `") else ""
    return MODES.get(word)


def _leaving_out(dropped: frozenset[str]) -> Skips:
    return lambda rule, outcome, subject, named: rule.text in dropped


def _with(decision: Decision, flip: str) -> Decision:
    part = decision.deciding
    told = part.but(flip=flip)
    return decision.but(decision.outcome, told, tuple(told if each is part else each for each in decision.parts))
