"""What would flip a decision: the change that its deciding part names, tried by deciding again.

A call has several parts, and without one rule another may match: then every change that is needed is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from assent.contract import Decision, Layer, Outcome, Part
from assent.policy.modes import Mode

if TYPE_CHECKING:
    from assent.policy.strict import Skips

    # The decision on the same call in another mode, without the rules that are skipped.
    Again = Callable[[Mode, Skips], Decision]

MOST = 4  # changes that are tried, one after the other
RULED = frozenset((Layer.DENY, Layer.ASK))


def checked(decision: Decision, mode: Mode, again: Again) -> Decision:
    """The decision with a flip that was tried: alone where it is enough, else with what else is needed."""
    part = decision.deciding
    if decision.outcome is Outcome.ALLOW or not part.flip:
        return decision
    flip = _needed(decision, mode, again)
    return decision if flip == part.flip else _with(decision, flip)


def _needed(decision: Decision, mode: Mode, again: Again) -> str:
    """Every change that it takes to get a milder outcome."""
    part, dropped = decision.deciding, set[str]()
    steps: list[str] = []
    for _ in range(MOST):
        steps.append(part.flip)
        if part.layer in RULED and part.rule and part.rule not in dropped:
            dropped.add(part.rule)
        elif part.layer is Layer.MODE and (looser := _mode_in(part)) is not None and looser > mode:
            mode = looser
        else:  # a gap, or what could not be named: the call itself has to be written otherwise
            return "; and ".join(dict.fromkeys(steps))
        found = again(mode, _leaving_out(frozenset(dropped)))
        if found.outcome < decision.outcome:
            return "; and ".join(dict.fromkeys(steps))
        part = found.deciding
        if not part.flip:
            return f"nothing alone: {part.reason}"
    return "; and ".join((*dict.fromkeys(steps), "more"))


def _mode_in(part: Part) -> Mode | None:
    word = part.flip.partition("`")[2].partition("`")[0] if part.flip.startswith("mode `") else ""
    return next((mode for mode in Mode if mode.word == word), None)


def _leaving_out(dropped: frozenset[str]) -> Skips:
    return lambda rule, outcome, subject, named: rule.text in dropped


def _with(decision: Decision, flip: str) -> Decision:
    part = decision.deciding
    told = Part(
        part.outcome,
        part.layer,
        part.code,
        part.reason,
        what=part.what,
        where=part.where,
        rule=part.rule,
        source=part.source,
        flip=flip,
        message=part.message,
        high=part.high,
        also=part.also,
    )
    return Decision(
        decision.outcome,
        told,
        tuple(told if each is part else each for each in decision.parts),
        lost=decision.lost,
        mode=decision.mode,
        risk=decision.risk,
        tool=decision.tool,
    )
