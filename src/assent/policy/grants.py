"""Which grants settle an ASK.

A grant with rules: the call is decided again with those rules among the allow rules. A grant without rules is for the
identical call, and is the only one that settles a gap.

INVARIANT: a decision that is not settled completely is unchanged; a denial, plan mode, the floor and deny rules are
never settled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from assent.contract import (
    Decision,
    Effect,
    Facts,
    Invocation,
    Kind,
    Layer,
    Lowering,
    Operation,
    Outcome,
    Part,
    Pattern,
    PolicyError,
    Via,
)
from assent.contract.approval import Grant
from assent.policy import concerns, match
from assent.policy.decide import Judge
from assent.policy.modes import Mode
from assent.policy.parse import parse_rule
from assent.policy.policy import Policy
from assent.policy.rules import Origin, Rule, base
from assent.policy.ruleset import RuleSet
from assent.policy.steering import is_local_script, steering
from assent.policy.strict import Subject

if TYPE_CHECKING:
    Remembered = tuple[frozenset[str], RuleSet]
    Running = Mapping[int, tuple[tuple[str, str], ...]]  # the files that each command runs, with their digests

ALLOW, ASK = Outcome.ALLOW, Outcome.ASK
SOURCE = "grant "  # before a grant's id as the source of a rule in a receipt
PLAIN_COMMAND = Pattern(r"bash\(([\w@%+=,./-]+)(?::\*\)$|\)$|\s)")
# Codes whose answers are never saved, even for the identical call.
NEVER = frozenset({Layer.FLOOR, Layer.DENY, Layer.HEADLESS, Layer.LOAD})


def settle(
    lowering: Lowering,
    facts: Facts,
    policy: Policy,
    decision: Decision,
    grants: Sequence[Grant],
    *,
    identity: str,
    running: Running,
) -> Decision:
    """ALLOW if grants settle an ASK completely, else the same object, or one that names the grants that would settle it
    if a file had not changed.

    `grants` are those that apply now. `identity` names the call, for grants of the identical call. `running` are the
    current files that its commands run.
    INVARIANT: a grant settles no command that runs another file, or other bytes, than it was given for."""
    if not grants or decision.outcome is not ASK or policy.mode is Mode.PLAN:
        return decision
    files = {pair for pairs in running.values() for pair in pairs}
    stale: dict[tuple[str, str], None] = {}
    for grant in grants:
        if not identity or grant.rules or grant.identity != identity or not _answers(grant, lowering, facts, policy):
            continue
        if files <= set(grant.files):
            return _repeated(decision, grant)
        stale[("this exact call", _changed(grant, files))] = None
    sets = () if lowering.has_own_gaps() else _compiled(grants, lowering, facts)
    if sets:
        known = _Known(lowering, facts, sets, {SOURCE + each.id: each for each in grants}, running)
        found = Judge(lowering, facts, policy, skips=known.answers, allows=known.covering).decision()
        if found.outcome is ALLOW:
            return _receipt(found)
        stale |= known.stale
    return _noted(decision, tuple(stale)) if stale else decision


def allows_all(
    lowering: Lowering, facts: Facts, policy: Policy, grants: Sequence[Grant], *, identity: str, running: Running
) -> bool:
    """Whether grants cover a call that is allowed without them: the identical call, or each of its commands that runs
    something. Arguments as in `settle`."""
    files = {pair for pairs in running.values() for pair in pairs}
    for grant in grants:
        same = identity and not grant.rules and grant.identity == identity and files <= set(grant.files)
        if same and _answers(grant, lowering, facts, policy):
            return True
    sets = () if lowering.has_own_gaps() else _compiled(grants, lowering, facts)
    if not sets:
        return False
    known = _Known(lowering, facts, sets, {SOURCE + each.id: each for each in grants}, running)
    runs = {lowering.runners(each.invocation)[-1] for each in lowering.effects if _runs_command(each, facts)}
    return bool(runs) and all(known.covering(lowering.invocations[index], ()) is not None for index in runs)


def _runs_command(effect: Effect, facts: Facts) -> bool:
    runs = effect.operation is Operation.EXECUTE and effect.invocation >= 0
    return runs and not concerns.has_no_effect_left(effect, facts)


def _changed(grant: Grant, files: Iterable[tuple[str, str]]) -> str:
    paths = ", ".join(sorted({path for path, _ in set(files).difference(grant.files)}))
    return f"{SOURCE}{grant.id}, which was given before {paths or 'a file'} changed"


def _noted(decision: Decision, stale: tuple[tuple[str, str], ...]) -> Decision:
    """The same decision, with the grants that no longer apply added to `lost`."""
    return Decision(
        decision.outcome,
        decision.deciding,
        decision.parts,
        lost=(*stale, *decision.lost),
        mode=decision.mode,
        risk=decision.risk,
        tool=decision.tool,
    )


def answered(decision: Decision) -> tuple[str, ...]:
    """The ask rules that the answer to a decision covers: a grant made from it settles them too."""
    asked = (part for part in decision.parts if part.outcome is ASK and part.layer is Layer.ASK)
    return tuple(dict.fromkeys(text for part in asked for text in (part.rule, *part.also)))


# ---------------------------------------------------------------- the identical call


def _answers(grant: Grant, lowering: Lowering, facts: Facts, policy: Policy) -> bool:
    """Whether an answer to the identical call covers the current question: without the ask rules it answered, no
    question without a saved answer may be left."""
    answers = frozenset(grant.answers)
    found = Judge(
        lowering, facts, policy, skips=lambda rule, outcome, subject, named: outcome is ASK and rule.text in answers
    ).decision()
    asked = [part.layer for part in found.parts if part.outcome is not ALLOW]
    return found.outcome <= ASK and Layer.ASK not in asked and NEVER.isdisjoint(asked)


def _repeated(decision: Decision, grant: Grant) -> Decision:
    reason = "a person allowed this exact call, and the answer still applies"
    parts = tuple(
        _allowed(part, "grant.identical", reason, SOURCE + grant.id) if part.outcome is ASK else part
        for part in decision.parts
    )
    deciding = next(part for part in parts if part.layer is Layer.GRANT)
    asked = {part.rule: part.source for part in decision.parts if part.layer is Layer.ASK}
    lost = dict.fromkeys((*decision.lost, *asked.items()))
    return Decision(
        ALLOW, deciding, parts, lost=tuple(lost), mode=decision.mode, risk=decision.risk, tool=decision.tool
    )


def _allowed(part: Part, code: str, reason: str, source: str, rule: str = "") -> Part:
    return Part(ALLOW, Layer.GRANT, code, reason, what=part.what, where=part.where, rule=rule, source=source)


# ---------------------------------------------------------------- rules


def _compiled(grants: Iterable[Grant], lowering: Lowering, facts: Facts) -> tuple[Remembered, ...]:
    """The rules of all grants, with the ask rules that they answer. A grant that does not parse is ignored.

    Rules on programs that the call does not run are not parsed: grants are many, most of them on other commands."""
    programs = {base(each.words[0]) for each in lowering.invocations if each.words}
    by_answers: dict[frozenset[str], list[Rule]] = {}
    for grant in grants:
        try:
            rules = [_remembered(text, SOURCE + grant.id) for text in grant.rules if _may_match(text, programs)]
        except PolicyError:
            continue
        if rules:
            by_answers.setdefault(frozenset(grant.answers), []).extend(rules)
    fold = bool(facts.folds_case)
    return tuple(
        (answers, RuleSet([rule.numbered(at) for at, rule in enumerate(rules)], facts.roots, facts.home, fold=fold))
        for answers, rules in by_answers.items()
    )


def _remembered(text: str, source: str) -> Rule:
    """A saved rule, with the exceptions of a prefix rule."""
    return parse_rule(text, source=source, origin=Origin.SESSION, excepts=steering(parse_rule(text)))


def _may_match(text: str, programs: set[str]) -> bool:
    """False only if a rule is certainly on another program."""
    found = PLAIN_COMMAND.match(text)
    return found is None or base(found[1]) in programs


class _Known:
    """The effect of saved rules on a call: they allow what they prove, and answer the ask rules they were given for.

    `stale` are the rules that would settle something if a file had not changed."""

    __slots__ = ("lowering", "facts", "sets", "grants", "running", "places", "fed", "stale")

    def __init__(
        self,
        lowering: Lowering,
        facts: Facts,
        sets: tuple[Remembered, ...],
        grants: Mapping[str, Grant],
        running: Running,
    ) -> None:
        self.lowering = lowering
        self.facts = facts
        self.sets = sets
        self.grants = grants
        self.running = running
        self.places = {id(invocation): place for place, invocation in enumerate(lowering.invocations)}
        self.fed: frozenset[int] | None = None
        self.stale: dict[tuple[str, str], None] = {}

    def answers(self, rule: Rule, outcome: Outcome, subject: Subject, named: bool) -> bool:
        """Whether an ask rule was answered for what it matches now."""
        return outcome is ASK and any(
            rule.text in answers and self._proves(rules, subject, named) for answers, rules in self.sets
        )

    def covering(self, subject: Subject, names: tuple[str, ...]) -> Rule | None:
        for _, rules in self.sets:
            if isinstance(subject, Invocation):
                rule = self._of_command(rules, subject)
            elif isinstance(subject, Effect):
                rule = rules.proving_effect(subject, names, self.lowering.given) if _is_named(subject) else None
            else:
                rule = next(rules.naming_tool(subject, self.lowering.given, aggressive=False), None)
            if rule is not None:
                return rule
        return None

    def _proves(self, rules: RuleSet, subject: Subject, named: bool) -> bool:
        """Whether saved rules match exactly what was asked about."""
        if isinstance(subject, Invocation):
            return any(self._by_runners(rules, self.places.get(id(subject), -1)))
        if isinstance(subject, Effect):
            return self._proves_effect(rules, subject, named)
        if subject == "bash":
            commands = [each for each in self.lowering.invocations if each.within < 0]
            return bool(commands) and all(self._of_command(rules, each) is not None for each in commands)
        named_tool = rules.naming_tool(subject, self.lowering.given, aggressive=False) if subject else iter(())
        return next(named_tool, None) is not None

    def _by_runners(self, rules: RuleSet, index: int) -> Iterator[Rule]:
        """The saved rules on a command, and on the commands whose code contains it."""
        for each in self.lowering.runners(index):
            rule = self._of_command(rules, self.lowering.invocations[each])
            if rule is not None:
                yield rule

    def _of_command(self, rules: RuleSet, invocation: Invocation) -> Rule | None:
        """A saved rule on a command. Of several with the same text, an older one may be stale."""
        first = rules.proving_command(invocation) if concerns.in_workspace(invocation, self.facts) else None
        if first is None or self._holds(first, invocation):
            return first
        return next((rule for rule in rules.proving_commands(invocation) if self._holds(rule, invocation)), None)

    def _holds(self, rule: Rule, invocation: Invocation) -> bool:
        """A relative path to a script is relative to the workspace root: in another folder it is another script."""
        if match.is_beginning(rule) and match.leaves(invocation, self.facts, len(rule.words)):
            return False
        elsewhere = is_local_script(rule) and not set(invocation.cwds) <= set(self.facts.roots)
        return not elsewhere and self._unchanged(rule, invocation)

    def _unchanged(self, rule: Rule, invocation: Invocation) -> bool:
        """Whether a command runs the files that a grant was given for, with the same bytes."""
        files = self.running.get(self.places.get(id(invocation), -1), ())
        grant = self.grants.get(rule.source)
        if not files or grant is None:
            return not files
        if set(files) <= set(grant.files):
            return True
        self.stale[(rule.text, _changed(grant, files))] = None
        return False

    def _proves_effect(self, rules: RuleSet, effect: Effect, named: bool) -> bool:
        """Whether they prove an effect, by its command or by itself. No rule on a path proves a file that is not
        named."""
        target, index = effect.target, effect.invocation
        names = match.names_of(target, self.facts) if target.kind is Kind.PATH and target.name else ()
        if self.fed is None:
            self.fed = concerns.fed_from_outside(self.lowering, self.facts)
        if index >= 0 and effect.via is Via.REDIRECT:
            index = self.lowering.invocations[index].within
        if index not in self.fed and any(
            not concerns.exceeds(rule, effect, names, self.facts) for rule in self._by_runners(rules, index)
        ):
            return True
        given = self.lowering.given
        return named and _is_named(effect) and rules.proving_effect(effect, names, given) is not None


def _is_named(effect: Effect) -> bool:
    """Whether a rule can name the effect without its command: among EXECUTE effects, only tools."""
    return effect.operation is not Operation.EXECUTE or effect.target.kind is Kind.TOOL


def _receipt(found: Decision) -> Decision:
    reason = "a person allowed `{}`, and the answer still applies"
    parts = tuple(
        _allowed(part, "grant.rule", reason.format(part.rule), part.source, part.rule)
        if part.source.startswith(SOURCE)
        else part
        for part in found.parts
    )
    deciding = next((part for part in parts if part.layer is Layer.GRANT), None)
    if deciding is None:  # the grant answered an ask rule only, and an allow rule or the mode settles the rest
        deciding = Part(
            ALLOW, Layer.GRANT, "grant.rule", "a person answered this question, and the answer still applies"
        )
        parts = (*parts, deciding)
    return Decision(ALLOW, deciding, parts, lost=found.lost, mode=found.mode, risk=found.risk, tool=found.tool)
