"""Questions about calls: what a person is shown, which rules may be saved with an answer, and the grant made of it."""

from __future__ import annotations

from collections.abc import Callable

from assent.approval.preview import preview
from assent.approval.warnings import warnings
from assent.contract import AssentError, Call, Facts, Lowering, StoreError
from assent.contract.approval import Answer, Ending, Grant, Held, Reach, Said, Scope, Suggestion
from assent.engine import history, journal
from assent.engine.engine import Engine, Judged
from assent.engine.memory import Memory
from assent.engine.request import Request, Settled
from assent.facts import digest
from assent.policy import explain, grants, rule_width, suggest
from assent.policy.policy import Policy
from assent.trail import redact

QUARTER = 15 * 60.0  # seconds
SEARCHED = 20_000  # characters of a preview that are searched for secrets, to keep the first few

NO = (Ending.ANSWERED, Ending.DISMISSED)  # endings by which a person says no, where they do not allow
# Endings that end a call for good; after any other a program's own dialog that is open beside may still be answered.
DECIDED = frozenset({Ending.ANSWERED, Ending.SETTLED, Ending.DISMISSED, Ending.OVERRULED, Ending.CHANGED})
UNDECIDED = frozenset(Ending) - DECIDED


def question(memory: Memory, request: Request, settled: Settled, *, attended: bool, limit: float) -> Held:
    """The question about a call, with all that a person should see. Raises AssentError where it cannot be read."""
    judged, call, settings = settled.judged, request.call, request.engine.settings
    lowering, facts, policy = _reading(judged)
    return Held(
        settled.id,
        call,
        digest.digest(call, lowering, facts),
        judged.decision,
        preview(call, lowering.tool),
        effects=journal.in_words(judged),
        suggestions=_savable(suggest.suggest_rules(lowering, facts, policy, judged.decision)),
        warnings=warnings(call, lowering),
        project=request.project,
        made=memory.clock(),
        timeout=float(settings.timeout),
        unseen=float(settings.unseen),
        limit=limit,
        attended=attended,
    )


def digest_of(call: Call, judged: Judged) -> str:
    """What an approval is bound to. Raises AssentError where the call cannot be read."""
    lowering, facts, _ = _reading(judged)
    return digest.digest(call, lowering, facts)


def reach(memory: Memory, engine: Engine, held: Held, rules: tuple[str, ...], scope: Scope) -> Reach:
    """What saving these rules would mean, judged by the calls of the past."""
    refused = _unsavable(held, rules, scope)
    if refused or not rules:
        return Reach(refusal=refused)
    judged = engine.judge(held.call)
    covers = suggest.covers(rules, *_reading(judged), judged.decision)
    return history.reach(memory.trail.folder, engine, rules, but=held.id, home=held.call.home, covers=covers)


def remember(memory: Memory, engine_of: Callable[[Held], Engine], held: Held, answer: Answer) -> Grant | None:
    """Save an answer as a grant. Raises StoreError with the reason where a rule may not be saved."""
    if answer.said is not Said.ALLOW or answer.scope is Scope.ONCE:
        return None
    if reason := _unsavable(held, answer.rules, answer.scope):
        raise StoreError(reason)
    now, bounds = memory.clock(), answer.scope.bounds
    grant = Grant(
        journal.new_id(),
        answer.scope,
        rules=answer.rules,
        identity="" if answer.rules else digest.identity(held.call),
        answers=grants.answered(held.decision),
        session=memory.known_as(held.call.session) if bounds.session else "",
        project=held.project if bounds.project else "",
        made=now,
        until=now + bounds.seconds if bounds.seconds else 0.0,
        who=answer.who,
        channel=answer.channel,
        shown=explain.short(redact.text(held.preview.text[:SEARCHED]), 120),
        files=_runs(engine_of(held), held),
    )
    memory.trail.append(journal.of_grant(grant, time=now))
    memory.grants.add(grant)
    return grant


def _runs(engine: Engine, held: Held) -> tuple[tuple[str, str], ...]:
    """The files that a grant is bound to, as they were shown; none where they have changed since, which the second
    look finds too."""
    lowering, facts, _ = _reading(engine.judge(held.call))
    running = digest.running(lowering, facts)
    if digest.digest(held.call, lowering, facts) != held.digest:
        return ()
    return tuple(dict.fromkeys(pair for pairs in running.values() for pair in pairs))


def _unsavable(held: Held, rules: tuple[str, ...], scope: Scope) -> str:
    """Why an answer may not be remembered; what nothing is suggested for could be settled by no grant."""
    if not held.suggestions:
        return "no answer to this is remembered; allow it once"
    if any(map(_holds_secret, rules)):
        return "it holds a secret; rules are shown and logged, so allow it once"
    return rule_width.unsavable(rules, scope, held.decision)


def _savable(suggestions: tuple[Suggestion, ...]) -> tuple[Suggestion, ...]:
    """Suggestions without those that would write a secret down; of the call itself only its identity is kept."""
    found = tuple(each for each in suggestions if not any(map(_holds_secret, each.rules)))
    return found or ((suggest.IDENTICAL,) if suggestions else ())


def _holds_secret(rule: str) -> bool:
    return redact.text(rule) != rule


def _reading(judged: Judged) -> tuple[Lowering, Facts, Policy]:
    """What a decision rests on. A gate that refused to decide has nothing to ask about."""
    if judged.lowering is None or judged.facts is None or judged.policy is None:
        raise AssentError("the call could not be read")
    return judged.lowering, judged.facts, judged.policy
