"""How far an allow rule that matches a command covers it: its folder, its input, its effects. Matches no rules."""

from __future__ import annotations

from assent.contract import Effect, Facts, Invocation, Kind, Lowering, Operation, Via
from assent.policy import match
from assent.policy.concerns import inside
from assent.policy.rules import Origin, Rule

CHANGING = frozenset((Operation.WRITE, Operation.DELETE))


def in_workspace(invocation: Invocation, facts: Facts) -> bool:
    """Whether a command runs in the workspace; in a folder that is missing nothing can run."""
    for folder in invocation.cwds:
        if folder in facts.missing:
            continue
        if not folder or not inside((folder, facts.canonical.get(folder, folder)), facts):
            return False
    return True


def exceeds(rule: Rule, effect: Effect, names: tuple[str, ...], facts: Facts) -> bool:
    """Whether an effect of a command goes beyond the beginning that a shipped or remembered rule spells: a change
    outside the workspace, or a host that it does not name."""
    if rule.origin is Origin.PACK and effect.target.kind is Kind.HOOKS and effect.target.name.startswith("remote="):
        return True  # packs fetch from the repository's remotes, not from what was put on this machine
    if not match.is_beginning(rule):
        return False
    if effect.operation is Operation.FETCH:
        return not effect.target.name or not any(effect.target.name in word for word in rule.words)
    if effect.target.kind is not Kind.PATH or effect.operation not in CHANGING:
        return False
    return not inside(names, facts) and not all(name.startswith(match.SCRATCH) for name in names)


def fed_from_outside(lowering: Lowering, facts: Facts) -> frozenset[int]:
    """The commands that an input redirect from outside the workspace takes their allow rules from. For all commands at
    once: looking at all effects for each of thousands would take too long."""
    return frozenset(effect.invocation for effect in lowering.effects if _comes_from_outside(effect, facts))


def _comes_from_outside(effect: Effect, facts: Facts) -> bool:
    if effect.via is not Via.REDIRECT or effect.operation is not Operation.READ:
        return False
    return not effect.target.name or not inside(match.names_of(effect.target, facts), facts)
