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
    loses,
)
from assent.policy import match, modes
from assent.policy.modes import Concern
from assent.policy.rules import Origin, Rule, RuleKind, RuleShape, base

LOOKING = frozenset(modes.LOOKING)


def of(effect: Effect, names: tuple[str, ...], facts: Facts) -> Concern:
    """The concern of the mode for an effect that no rule covers."""
    target = effect.target
    match effect.operation:
        case Operation.READ | Operation.LIST | Operation.SEARCH:
            known = target.kind is not Kind.PATH or target.name or target.under  # already judged by `_by_folders`
            led = effect.operation is Operation.LIST or "" not in names or not target.name  # else it may be any file
            return Concern.LOOK if known and led else Concern.GAP
        case Operation.EXECUTE:
            return _of_execute(effect, facts)
        case Operation.DESTROY:
            return Concern.DESTROY
        case Operation.FETCH:
            return Concern.LOOPBACK if effect.via is Via.LOOPBACK else Concern.FETCH
        case Operation.DELEGATE:
            return Concern.DELEGATE
        case Operation.WRITE | Operation.DELETE:
            return _of_change(effect, names, facts)
        case operation:
            return assert_never(operation)


def _of_execute(effect: Effect, facts: Facts) -> Concern:
    target = effect.target
    if target.kind is Kind.MODULES and harmless(effect, facts):
        return Concern.WRITE_INSIDE  # code that does no more than its effects say counts as an edit
    if target.kind is Kind.TREE and target.name in facts.trees:
        return Concern.DELETE_INSIDE if loses(target) else Concern.WRITE_INSIDE
    if target.kind is Kind.SETTINGS and OR_ANOTHER in target.name:
        return Concern.GAP  # the written file is unknown
    if target.kind is not Kind.TOOL:
        return Concern.EXECUTE
    return Concern.DESTROY if "irreversible" in effect.dangers else Concern.TOOL


def _of_change(effect: Effect, names: tuple[str, ...], facts: Facts) -> Concern:
    target, deletes = effect.target, effect.operation is Operation.DELETE
    if target.kind is Kind.REPOSITORY:
        return Concern.WRITE_INSIDE if harmless(effect, facts) else Concern.EXECUTE
    if target.kind is Kind.PATH and not target.name:
        if not inside(target.under, facts):
            return Concern.GAP
        if deletes:
            return Concern.DELETE_INSIDE  # any of the files there
    if not target.certain or not inside(names, facts):
        return Concern.CHANGE_OUTSIDE
    loses = deletes and not effect.lossless and target.name not in facts.fresh
    return Concern.DELETE_INSIDE if loses else Concern.WRITE_INSIDE


def harmless(effect: Effect, facts: Facts) -> bool:
    """Whether the target is the session's own repository and runs nothing by itself, another one that git only reads,
    or hooks or modules that do not exist."""
    target = effect.target
    known = settling(target, facts)
    if known is None or known.get(target.name) == "":
        return known is not None
    looks = target.kind is Kind.REPOSITORY and effect.operation is Operation.EXECUTE
    return looks and target.name in facts.elsewhere


def inside(names: tuple[str, ...], facts: Facts) -> bool:
    """Whether every name is in the workspace."""
    roots = facts.roots
    return bool(names) and all(any(name == root or name.startswith(root + "/") for root in roots) for name in names)


def settling(target: Target, facts: Facts) -> Mapping[str, str] | None:
    """The facts that can prove an EXECUTE on such a target harmless."""
    match target.kind:
        case Kind.REPOSITORY:
            return facts.repositories
        case Kind.SETTINGS:
            return facts.settings
        case Kind.HOOKS:
            return facts.hooks
        case Kind.MODULES:
            return facts.modules
        case Kind.CODE:
            return facts.code
        case _:
            return None


def has_no_effect_left(effect: Effect, facts: Facts) -> bool:
    """Whether facts prove a run harmless and no effect is left to judge. Code that writes files has one."""
    target = effect.target
    return harmless(effect, facts) and (target.kind is not Kind.MODULES or target.name.startswith("pure:"))


CHANGING = frozenset((Operation.WRITE, Operation.DELETE))


def in_workspace(invocation: Invocation, facts: Facts) -> bool:
    """Whether a command runs in the workspace; in a missing folder nothing can run."""
    return all(
        folder in facts.missing or (folder and inside((folder, facts.canonical.get(folder, folder)), facts))
        for folder in invocation.cwds
    )


def exceeds(rule: Rule, effect: Effect, names: tuple[str, ...], facts: Facts) -> bool:
    """Whether an effect of a command exceeds the prefix of a shipped or saved rule: a change outside the workspace, or
    a host that the rule does not name."""
    if rule.origin is Origin.PACK and effect.target.kind is Kind.HOOKS and effect.target.name.startswith("remote="):
        return True  # packs fetch from the repository's remotes, not from a server on this machine
    if not match.is_beginning(rule):
        return False
    if effect.operation is Operation.FETCH:
        return not effect.target.name or not any(effect.target.name in word for word in rule.words)
    if effect.target.kind is not Kind.PATH or effect.operation not in CHANGING:
        return False
    return not inside(names, facts) and not all(name.startswith(match.SCRATCH) for name in names)


def names_destroyed(rule: Rule, effect: Effect) -> bool:
    """Whether an allow rule names the destructive action: the exact command, its program, or the tool. Packs, rules on
    a whole tool (`bash`) and rules on any program do not."""
    if rule.origin is Origin.PACK:
        return False
    if rule.about is RuleKind.TOOL:
        return not rule.tool.startswith(("*", "mcp__*"))
    if rule.about is not RuleKind.COMMAND or rule.shape is RuleShape.WHOLE:
        return False
    return rule.shape is RuleShape.EXACT or base(rule.words[0]) == effect.target.name


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
