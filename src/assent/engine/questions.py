"""Questions about calls: what is shown, which rules may be saved, which past calls they would have matched, the
grant."""

from __future__ import annotations

from collections.abc import Callable

from assent.approval.preview import preview
from assent.approval.warnings import warnings
from assent.contract import AssentError, Call, Facts, Kind, Lowering, PayloadError, StoreError
from assent.contract.approval import Answer, Consequence, Ending, Grant, Held, Reach, Said, Scope, Suggestion
from assent.contract.display import one_line
from assent.engine import journal
from assent.engine.engine import Engine, Judged, Request, Settled
from assent.engine.memory import Memory
from assent.facts import digest
from assent.policy import grants, rule_width, suggest
from assent.policy.parse import parse_rule
from assent.policy.policy import Policy
from assent.policy.rules import Origin, Rule
from assent.policy.ruleset import RuleSet
from assent.trail import query, redact
from assent.trail.entries import TrailEntry

LOOKED_AT = 2000  # newest decisions to try a rule on
LINES = 6000  # records read to find them
SEARCHED = 20_000  # characters of a preview that are searched for secrets before a few are saved

NO = (Ending.ANSWERED, Ending.DISMISSED)  # endings that are a person's no, if the call is not allowed
# Endings that end a call; after any other a program's own dialog, if one is open, may still be answered.
DECIDED = frozenset({Ending.ANSWERED, Ending.SETTLED, Ending.DISMISSED, Ending.OVERRULED, Ending.CHANGED})
UNDECIDED = frozenset(Ending) - DECIDED


def question(
    memory: Memory,
    request: Request,
    settled: Settled,
    caused: tuple[Consequence, ...],
    *,
    attended: bool,
    limit: float,
) -> Held:
    """The question about a call, with its consequences. Raises AssentError if the call could not be read."""
    judged, call, settings = settled.judged, request.call, request.engine.settings
    lowering, facts, policy = _reading(judged)
    return Held(
        settled.id,
        call,
        digest.digest(call, lowering, facts),
        judged.decision,
        preview(call, lowering.tool),
        effects=journal.in_words(judged),
        consequences=caused,
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
    """The digest that binds an approval. Raises AssentError if the call could not be read."""
    lowering, facts, _ = _reading(judged)
    return digest.digest(call, lowering, facts)


def reach(memory: Memory, engine: Engine, held: Held, rules: tuple[str, ...], scope: Scope) -> Reach:
    """Whether these rules may be saved, and which past calls they would have matched."""
    refused = _unsavable(held, rules, scope)
    if refused or not rules:
        return Reach(refusal=refused)
    judged = engine.judge(held.call)
    covers = suggest.covers(rules, *_reading(judged), judged.decision)
    return past_reach(memory.trail.folder, engine, rules, but=held.id, home=held.call.home, covers=covers)


def past_reach(
    folder: str, engine: Engine, rules: tuple[str, ...], *, but: str = "", home: str = "", covers: bool = True
) -> Reach:
    """How many of the last calls these rules match, and how many of those a person denied. `but` is the id of the call
    that is asked about."""
    parsed = [parse_rule(text, origin=Origin.SESSION) for text in rules]
    denied: set[str] = set()
    looked_at = matched = refusals = 0
    for entry in query.read(folder, newest_first=True, limit=LINES):
        kind, id = entry.text("kind"), entry.text("id")
        if kind == "answer" and entry.text("code") == "answer.answered" and entry.text("outcome") == "deny":
            denied.add(id)  # newer than its question, so it comes first
        if kind != "decision" or id == but:
            continue
        looked_at += 1
        if _would_match(engine, parsed, entry, home):
            matched += 1
            refusals += id in denied
        if looked_at == LOOKED_AT:
            break
    return Reach(matched, refusals, looked_at, covers=covers)


def _would_match(engine: Engine, rules: list[Rule], entry: TrailEntry, home: str) -> bool:
    """Whether allow rules match any part of a recorded call."""
    given, project = entry.fields.get("input", {}), entry.text("project")
    call = Call(entry.text("tool"), given if isinstance(given, dict) else {}, cwd=entry.text("cwd"), home=home)
    try:
        lowering = engine.lower(call)
    except PayloadError:
        return False
    found = RuleSet(rules, (project,) if project else (), home)
    if any(found.proving_command(invocation) is not None for invocation in lowering.invocations):
        return True
    for effect in lowering.effects:
        names = (effect.target.name,) if effect.target.kind is Kind.PATH and effect.target.name else ()
        if found.proving_effect(effect, names, lowering.given) is not None:
            return True
    return next(found.naming_tool(lowering.tool, lowering.given, aggressive=False), None) is not None


def remember(memory: Memory, engine_of: Callable[[Held], Engine], held: Held, answer: Answer) -> Grant | None:
    """Save an answer as a grant. Raises StoreError if a rule may not be saved."""
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
        shown=one_line(redact.text(held.preview.text[:SEARCHED]), 120),
        files=_runs(engine_of(held), held),
    )
    memory.trail.append(journal.of_grant(grant, time=now))
    memory.grants.add(grant)
    return grant


def _runs(engine: Engine, held: Held) -> tuple[tuple[str, str], ...]:
    """The files that a grant is bound to, as shown; none if they have changed since, which the second look finds
    too."""
    lowering, facts, _ = _reading(engine.judge(held.call))
    running = digest.running(lowering, facts)
    if digest.digest(held.call, lowering, facts) != held.digest:
        return ()
    return tuple(dict.fromkeys(pair for pairs in running.values() for pair in pairs))


def _unsavable(held: Held, rules: tuple[str, ...], scope: Scope) -> str:
    """Why an answer may not be saved. Without suggestions, no grant could settle the call."""
    if not held.suggestions:
        return "no answer to this is saved; allow it once"
    if any(map(_holds_secret, rules)):
        return "the rule contains a secret; rules are shown and logged, so allow it once"
    return rule_width.unsavable(rules, scope, held.decision)


def _savable(suggestions: tuple[Suggestion, ...]) -> tuple[Suggestion, ...]:
    """Suggestions without a secret; else only the one for the identical call."""
    found = tuple(each for each in suggestions if not any(map(_holds_secret, each.rules)))
    return found or ((suggest.IDENTICAL,) if suggestions else ())


def _holds_secret(rule: str) -> bool:
    return redact.text(rule) != rule


def _reading(judged: Judged) -> tuple[Lowering, Facts, Policy]:
    """The basis of a decision. If the gate refused to decide, there is nothing to ask about."""
    if judged.lowering is None or judged.facts is None or judged.policy is None:
        raise AssentError("the call could not be read")
    return judged.lowering, judged.facts, judged.policy
