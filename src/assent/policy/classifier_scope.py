"""Which questions a model may judge: those that no rule, floor, plan or doubt stands behind. Asks no model.

The mode asks about what nothing spoke of; there, and nowhere else, may a second opinion stand in for a person."""

from __future__ import annotations

from assent.contract import Decision, Facts, Layer, Lowering, Outcome, Part, dumps, sha256
from assent.policy.modes import Mode
from assent.policy.policy import Policy

ALLOW, ASK = Outcome.ALLOW, Outcome.ASK
# The questions of the mode that were read whole. What is not listed is a person's: gaps, unnamed targets, deletions,
# and what the host shows to be otherwise than it reads (`mode.repository`, `mode.modules`, `mode.settings`).
OPEN = frozenset(
    "mode.write mode.outside-workspace mode.execute mode.hooks mode.delegate mode.fetch mode.unknown-tool "
    "mode.mcp-tool".split()
)
MODES = frozenset({Mode.DEFAULT, Mode.AUTO, Mode.FULL_AUTO, Mode.YOLO})
CODE = "classifier.safe"


def in_scope(lowering: Lowering, facts: Facts, policy: Policy, decision: Decision) -> bool:
    """Whether a call asks for no other reason than that nothing spoke of it, in every one of its parts.

    INVARIANT: false for whatever a rule, the floor or a person's answer speaks of, in plan mode, where anything could
    not be read, where an environment changes what runs, for all that is of high risk (deletions, known dangers), and
    while a person has lifted what protects Assent itself."""
    if decision.outcome is not ASK or policy.mode not in MODES or decision.risk == "high" or facts.paused:
        return False
    if lowering.gaps or any(invocation.forfeit for invocation in lowering.invocations):
        return False
    return bool(decision.parts) and all(map(_is_open, decision.parts))


def _is_open(part: Part) -> bool:
    if part.outcome is ALLOW:
        return True
    return part.outcome is ASK and part.layer is Layer.MODE and part.code in OPEN and not part.high and not part.rule


def settled(decision: Decision, model: str) -> Decision:
    """The decision after a model called the call safe: every question of it is settled, and says by whom."""
    parts = tuple(_settled(part, model) if part.outcome is ASK else part for part in decision.parts)
    deciding = next(part for part in parts if part.layer is Layer.CLASSIFIER)
    lost, mode, risk, tool = decision.lost, decision.mode, decision.risk, decision.tool
    return Decision(ALLOW, deciding, parts, lost=lost, mode=mode, risk=risk, tool=tool)


def _settled(part: Part, model: str) -> Part:
    reason = f"nothing spoke of it, and the model `{model}` called it safe"
    return Part(ALLOW, Layer.CLASSIFIER, CODE, reason, what=part.what, where=part.where)


def version(policy: Policy) -> str:
    """A word for a policy: another mode or another rule is another word."""
    layers = (policy.floor, policy.deny, policy.ask, policy.allow)
    rules = [[(rule.text, rule.source, rule.origin.value, rule.excepts) for rule in each.rules] for each in layers]
    return sha256(dumps([policy.mode.value, rules]).encode("ascii")).hexdigest()
