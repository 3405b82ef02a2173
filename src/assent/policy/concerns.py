"""Which concern of a mode an effect is: a look, a change in the workspace or outside, something that runs. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from assent.contract import OR_ANOTHER, Effect, Facts, Kind, Operation, Outcome, Target, assert_never
from assent.policy import modes
from assent.policy.modes import Concern, Mode

LOOKING = frozenset(modes.LOOKING)


def of(effect: Effect, names: tuple[str, ...], facts: Facts) -> Concern:
    """What the mode has to decide about an effect that no rule covers."""
    target = effect.target
    match effect.operation:
        case Operation.READ | Operation.LIST | Operation.SEARCH:
            known = target.kind is not Kind.PATH or target.name or target.under  # of which `_by_folders` has spoken
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
        return Concern.WRITE_INSIDE  # code that does no more than its effects say is as welcome as an edit
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
        if not _lies_inside(target.under, facts):
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
    target = effect.target
    known = settling(target, facts)
    return known is not None and known.get(target.name) == ""


def _lies_inside(folders: tuple[str, ...], facts: Facts) -> bool:
    return bool(folders) and inside(folders, facts)


def inside(names: tuple[str, ...], facts: Facts) -> bool:
    """Whether every name lies in the workspace."""
    roots = facts.roots
    return bool(names) and all(any(name == root or name.startswith(root + "/") for root in roots) for name in names)


def settling(target: Target, facts: Facts) -> Mapping[str, str] | None:
    """The facts that can make an EXECUTE on such a target fall away."""
    kind = target.kind
    if kind is Kind.REPOSITORY:
        return facts.repositories
    if kind is Kind.SETTINGS:
        return facts.settings
    return facts.hooks if kind is Kind.HOOKS else facts.modules if kind is Kind.MODULES else None


def falls_away(effect: Effect, facts: Facts) -> bool:
    """Whether facts prove a run harmless and nothing of it is left: code that writes files is still to be judged."""
    target = effect.target
    return harmless(effect, facts) and (target.kind is not Kind.MODULES or target.name.startswith("pure:"))


def clamped(concern: Concern) -> bool:
    """What plan mode denies even where an allow rule matches."""
    return modes.settle(concern, Mode.PLAN) is Outcome.DENY
