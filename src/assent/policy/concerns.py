"""Which concern of a mode an effect is, and how far an allow rule on a command covers its effects."""

from __future__ import annotations

from collections.abc import Mapping

from assent.contract import (
    OR_ANOTHER,
    Effect,
    Facts,
    Invocation,
    Kind,
    Lowering,
    Operation,
    Target,
    Via,
    assert_never,
)
from assent.policy import match, modes
from assent.policy.modes import Concern
from assent.policy.rules import Origin, Rule

LOOKING = frozenset(modes.LOOKING)


def of(effect: Effect, names: tuple[str, ...], facts: Facts) -> Concern:
    """What the mode has to decide about an effect that no rule covers."""
    target = effect.target
    match effect.operation:
        case Operation.READ | Operation.LIST | Operation.SEARCH:
            known = target.kind is not Kind.PATH or target.name or target.under  # which `_by_folders` has judged
            led = effect.operation is Operation.LIST or "" not in names or not target.name  # else it may be any file
            return Concern.LOOK if known and led else Concern.GAP
        case Operation.EXECUTE:
            return _of_run(effect, facts)
        case Operation.FETCH:
            return Concern.FETCH
        case Operation.DELEGATE:
            return Concern.DELEGATE
        case Operation.WRITE | Operation.DELETE:
            return _of_change(effect, names, facts)
        case operation:
            return assert_never(operation)


def _of_run(effect: Effect, facts: Facts) -> Concern:
    target = effect.target
    if target.kind is Kind.MODULES and harmless(effect, facts):
        return Concern.WRITE_INSIDE  # code that does no more than its effects say counts as an edit
    if target.kind is Kind.TREE and target.name in facts.trees:
        return Concern.WRITE_INSIDE
    if target.kind is Kind.SETTINGS and OR_ANOTHER in target.name:
        return Concern.GAP  # which file it writes is not known
    return Concern.TOOL if target.kind is Kind.TOOL else Concern.EXECUTE


def _of_change(effect: Effect, names: tuple[str, ...], facts: Facts) -> Concern:
    target, deletes = effect.target, effect.operation is Operation.DELETE
    if target.kind is Kind.REPOSITORY:
        return Concern.WRITE_INSIDE if harmless(effect, facts) else Concern.EXECUTE
    if target.kind is Kind.PATH and not target.name:
        if not inside(target.under, facts):
            return Concern.GAP
        if deletes:
            return Concern.DELETE_INSIDE  # which of the files there is not known
    if not target.certain or not inside(names, facts):
        return Concern.CHANGE_OUTSIDE
    loses = deletes and not effect.lossless and target.name not in facts.fresh
    return Concern.DELETE_INSIDE if loses else Concern.WRITE_INSIDE


def harmless(effect: Effect, facts: Facts) -> bool:
    """Whether the target is a repository that is the session's own and runs nothing by itself, or hooks or modules
    that are not there."""
    known = settling(effect.target, facts)
    return known is not None and known.get(effect.target.name) == ""


def inside(names: tuple[str, ...], facts: Facts) -> bool:
    """Whether every name lies in the workspace."""
    roots = facts.roots
    return bool(names) and all(any(name == root or name.startswith(root + "/") for root in roots) for name in names)


def settling(target: Target, facts: Facts) -> Mapping[str, str] | None:
    """The facts that can make an EXECUTE on such a target fall away."""
    return {
        Kind.REPOSITORY: facts.repositories,
        Kind.SETTINGS: facts.settings,
        Kind.HOOKS: facts.hooks,
        Kind.MODULES: facts.modules,
    }.get(target.kind)


def falls_away(effect: Effect, facts: Facts) -> bool:
    """Whether facts prove a run harmless and nothing of it is left: code that writes files is still to be judged."""
    target = effect.target
    return harmless(effect, facts) and (target.kind is not Kind.MODULES or target.name.startswith("pure:"))


CHANGING = frozenset((Operation.WRITE, Operation.DELETE))


def in_workspace(invocation: Invocation, facts: Facts) -> bool:
    """Whether a command runs in the workspace; in a folder that is missing nothing can run."""
    return all(
        folder in facts.missing or (folder and inside((folder, facts.canonical.get(folder, folder)), facts))
        for folder in invocation.cwds
    )


def exceeds(rule: Rule, effect: Effect, names: tuple[str, ...], facts: Facts) -> bool:
    """Whether an effect of a command exceeds the prefix of a shipped or saved rule: a change outside the workspace, or
    a host that the rule does not name."""
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
    """The commands that no allow rule covers because of an input redirect from outside the workspace. For all commands
    at once: going through all effects for each of thousands would take too long."""
    return frozenset(
        effect.invocation
        for effect in lowering.effects
        if effect.via is Via.REDIRECT
        and effect.operation is Operation.READ
        and not (effect.target.name and inside(match.names_of(effect.target, facts), facts))
    )
