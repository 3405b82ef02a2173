"""What a rule would have matched in the past: the calls of the trail, read again. Decides and saves nothing."""

from __future__ import annotations

from assent.contract import Call, Kind, Lowering, PayloadError
from assent.contract.approval import Reach
from assent.engine.engine import Engine
from assent.policy.parse import parse_rule
from assent.policy.rules import Origin, Rule
from assent.policy.ruleset import RuleSet
from assent.trail import query
from assent.trail.entries import TrailEntry

LOOKED_AT = 2000  # decisions, the newest ones
LINES = 6000  # records read to find them, answers and other records among them


def reach(
    folder: str, gate: Engine, rules: tuple[str, ...], *, but: str = "", home: str = "", covers: bool = True
) -> Reach:
    """How many of the last calls these rules speak of, and how many of those a person denied. `but` is the id of the
    call that is asked about."""
    parsed = [parse_rule(text, origin=Origin.SESSION) for text in rules]
    denied: set[str] = set()
    looked_at = matched = refused = 0
    for entry in query.read(folder, newest_first=True, limit=LINES):
        kind, id = entry.text("kind"), entry.text("id")
        if kind == "answer" and entry.text("code") == "answer.answered" and entry.text("outcome") == "deny":
            denied.add(id)  # newer than its question, so it comes first
        if kind != "decision" or id == but:
            continue
        looked_at += 1
        if _speaks(gate, parsed, entry, home):
            matched += 1
            refused += id in denied
        if looked_at == LOOKED_AT:
            break
    return Reach(matched, refused, looked_at, covers=covers)


def _speaks(gate: Engine, rules: list[Rule], entry: TrailEntry, home: str) -> bool:
    given = entry.fields.get("input", {})
    project = entry.text("project")
    call = Call(entry.text("tool"), given if isinstance(given, dict) else {}, cwd=entry.text("cwd"), home=home)
    try:
        lowering = gate.lower(call)
    except PayloadError:
        return False
    return matches(RuleSet(rules, (project,) if project else (), home), lowering)


def matches(rules: RuleSet, lowering: Lowering) -> bool:
    """Whether any part of a call is one that the rules speak of, as allow rules."""
    if any(rules.proving_command(invocation) is not None for invocation in lowering.invocations):
        return True
    for effect in lowering.effects:
        names = (effect.target.name,) if effect.target.kind is Kind.PATH and effect.target.name else ()
        if rules.proving_effect(effect, names) is not None:
            return True
    return next(rules.naming_tool(lowering.tool, aggressive=False), None) is not None
