"""Which calls may run contained, and how that changes a decision.

INVARIANT: containment answers the mode's question about code that is not proved, and no other: floor, deny rules, ask
rules, dangers and gaps are unchanged. A call that a person's own rule or answer allows is not contained."""

from __future__ import annotations

from assent.contract import (
    READ_ONLY,
    Decision,
    Effect,
    Facts,
    Kind,
    Layer,
    Lowering,
    Operation,
    Outcome,
    Part,
)
from assent.policy import concerns, match
from assent.policy.contain_settings import ContainSettings
from assent.policy.floor import describe
from assent.policy.modes import Concern, Mode
from assent.policy.parts import CONTAIN_FAILED
from assent.programs.traits import has

ALLOW, ASK = Outcome.ALLOW, Outcome.ASK
CODE = "contain.allowed"
# The mode's questions about code that is not proved.
UNPROVED = frozenset("mode.execute mode.code mode.modules mode.settings".split())
PACK = "shipped:"  # prefix of the source of an allow by a pack or one of its entries
OUTSIDE = frozenset(f"{PACK}{name}" for name in ("branches", "containers", "plans"))  # packs that need more access
INSTALLS = "install"  # the mark of an effect that installs packages
CHANGING = (Operation.WRITE, Operation.DELETE)
WITHIN = (Concern.WRITE_INSIDE, Concern.DELETE_INSIDE, Concern.EXECUTE)
SHELL = "bash"


def may_contain(decision: Decision, lowering: Lowering, facts: Facts, settings: ContainSettings) -> bool:
    """Whether a call may run contained: it asks only about code that is not proved, or a pack, or in `full_auto` the
    mode, lets its code run. Every other part reads, or changes the workspace."""
    if lowering.tool != SHELL or not lowering.text or not _holds_in(decision.mode, settings):
        return False
    if lowering.job or any(has(command.program, "detaches") for command in lowering.invocations):
        return False
    if lowering.has_own_gaps() or not _is_settled(decision, lowering, facts):
        return False
    if installs(lowering) and not settings.network:
        return False
    return all(_fits(effect, lowering, facts) for effect in lowering.effects)


def _holds_in(mode: str, settings: ContainSettings) -> bool:
    return mode == Mode.AUTO.word or (mode == Mode.FULL_AUTO.word and settings.full_auto)


def holds_for_servers(mode: str, settings: ContainSettings) -> bool:
    """Whether MCP servers start contained. No mode asks about that, so strict modes contain them too."""
    return mode in (Mode.PLAN.word, Mode.DEFAULT.word) or _holds_in(mode, settings)


def is_a_persons(decision: Decision) -> bool:
    """Whether a person's own rule or answer lets a server start outside. Shipped ask rules on the code it runs are then
    ignored: whoever allows a server, allows what it does."""
    left = [part for part in decision.parts if part.outcome is not ALLOW]
    if any(part.layer is not Layer.ASK or not part.source.startswith(PACK) for part in left):
        return False
    said = [part for part in decision.parts if part.layer in (Layer.ALLOW, Layer.GRANT)]
    own = [part for part in said if part.layer is Layer.GRANT or not part.source.startswith(PACK)]
    return bool(own) and own == said


def why_not_a_server(lowering: Lowering, settings: ContainSettings) -> str:
    """Why a contained server could not do its work; `""` if it can."""
    for command in lowering.invocations:
        if _works_outside(command.program):
            return f"`{command.program}` works outside of the run"
        if has(command.program, "detaches"):
            return f"`{command.program}` leaves a process behind"
    if installs(lowering) and not settings.network:
        return "it installs packages, and `network` of `[contain]` opens no host for that"
    return ""


def _is_settled(decision: Decision, lowering: Lowering, facts: Facts) -> bool:
    """Whether the mode's question about code is left, or was not answered by a person."""
    if decision.outcome is ASK:
        asked = [part for part in decision.parts if part.outcome is not ALLOW]
        return all(_is_unproved(part) for part in asked)
    if decision.outcome is not ALLOW:
        return False
    runs = {describe(each) for each in lowering.effects if _runs(each, facts)}
    settled = [part for part in decision.parts if part.what in runs and part.layer is not Layer.INTRINSIC]
    by_pack = any(part.layer is Layer.ALLOW for part in settled)
    return all(map(_is_shipped, settled)) and (by_pack or (bool(settled) and decision.mode == Mode.FULL_AUTO.word))


def _is_unproved(part: Part) -> bool:
    return part.outcome is ASK and part.layer is Layer.MODE and part.code in UNPROVED and not part.also


def _is_shipped(part: Part) -> bool:
    """Whether a pack settled it, or the mode."""
    if part.layer is Layer.MODE:
        return part.code == "mode.allow"
    return part.layer is Layer.ALLOW and part.source.startswith(PACK) and part.source not in OUTSIDE


def _runs(effect: Effect, facts: Facts) -> bool:
    return effect.operation is Operation.EXECUTE and not concerns.has_no_effect_left(effect, facts)


def installs(lowering: Lowering) -> bool:
    """Whether a call installs packages: it needs the network and writable folders of installed code."""
    return any(INSTALLS in effect.dangers for effect in lowering.effects)


def _fits(effect: Effect, lowering: Lowering, facts: Facts) -> bool:
    """Whether the effect is the same in a contained run."""
    operation, target = effect.operation, effect.target
    if operation in READ_ONLY:
        return True
    command = lowering.invocations[effect.invocation] if effect.invocation >= 0 else None
    if operation is Operation.EXECUTE:
        if target.kind is Kind.TOOL or (command is not None and _works_outside(command.program)):
            return False
        return concerns.of(effect, (), facts) in WITHIN
    if operation not in CHANGING or target.kind is Kind.REPOSITORY:
        return False  # git needs the user's settings, perhaps keys
    if command is not None and command.within >= 0 and not target.name:
        return True  # written by code, which is contained
    names = match.names_of(target, facts) if target.kind is Kind.PATH and target.name else ()
    return concerns.of(effect, names, facts) in WITHIN


def _works_outside(program: str) -> bool:
    return program == "git" or (has(program, "outside") and not has(program, "local-database"))


def persists(lowering: Lowering, keeps: str) -> bool:
    """Whether the call would change a shell that outlives it, which a contained run cannot do. `keeps`: `folder`,
    `shell` (the program keeps all of it), or nothing."""
    if keeps and lowering.ends_in:
        return True
    if keeps != SHELL_KEPT:
        return False
    return lowering.sets or any(has(word, "shell-setting") or word in ALTERS for word in _words(lowering.text))


FOLDER_KEPT, SHELL_KEPT = "folder", "shell"
ALTERS = frozenset("trap exec ulimit source . eval cd pushd popd read mapfile readarray printf getopts disown".split())
_BREAKS = str.maketrans(dict.fromkeys(";|&(){}<>\n\t`$\"'", " "))


def _words(text: str) -> list[str]:
    return text.translate(_BREAKS).split()


def contained(decision: Decision, profile: str) -> Decision:
    """The decision to run a call contained. `profile` says in a few words what is blocked."""
    if decision.outcome is ALLOW:
        return _but(decision, ALLOW, decision.deciding, decision.parts, profile)
    reason = f"it runs contained: {profile}"
    parts = tuple(
        Part(ALLOW, Layer.MODE, CODE, reason, what=part.what, where=part.where) if part.outcome is ASK else part
        for part in decision.parts
    )
    return _but(decision, ALLOW, next(part for part in parts if part.code == CODE), parts, profile)


def failed(decision: Decision, why: str) -> Decision:
    """The question whether to run a call outside after it failed contained. `why` says how."""
    first = decision.deciding
    part = Part(
        ASK,
        Layer.MODE,
        CONTAIN_FAILED,
        f"it ran contained, and {why}; outside nothing is closed to it",
        what=first.what,
        where=first.where,
        flip="a yes lets it run outside; another call, or a change of a file first, runs contained again",
    )
    return _but(decision, ASK, part, (part, *decision.parts), "")


def off(decision: Decision, why: str) -> Decision:
    """The same question, with the reason why the call does not run contained. An allow is unchanged."""
    if decision.outcome is not ASK:
        return decision
    first = decision.deciding
    part = first.but(reason=f"{first.reason}; {why}")
    return _but(decision, ASK, part, tuple(part if each is first else each for each in decision.parts), "")


def unprepared(decision: Decision, why: str) -> Decision:
    """A question in place of an allow, if a contained run could not be prepared."""
    first = decision.deciding
    part = Part(
        ASK, Layer.MODE, CONTAIN_FAILED, f"it was to run contained, and {why}", what=first.what, where=first.where
    )
    return _but(decision, ASK, part, (part, *decision.parts), "")


def _but(decision: Decision, outcome: Outcome, deciding: Part, parts: tuple[Part, ...], profile: str) -> Decision:
    return Decision(
        outcome,
        deciding,
        parts,
        lost=decision.lost,
        mode=decision.mode,
        risk="medium" if outcome is ASK and decision.risk == "low" else decision.risk,
        tool=decision.tool,
        contained=profile,
    )
