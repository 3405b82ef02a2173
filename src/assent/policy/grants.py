"""Remembered answers consulted after an ASK: which grants settle it. Keeps no grants and never loosens a denial.

A grant with rules is a second look at the call with those rules among the allow rules, under all their conditions. A
grant without rules stands for the identical call alone, and only so settles what could not be read.

INVARIANT: whatever is not settled whole is the decision that was there before; a denial, plan mode, the floor and deny
rules are never settled."""

from __future__ import annotations

from assent.contract.decision import Decision, Layer, Outcome, Part
from assent.contract.effect import Effect, Invocation, Kind, Operation, Via
from assent.contract.errors import PolicyError
from assent.contract.pattern import Pattern
from assent.policy import match
from assent.policy.decide import Judge
from assent.policy.index import base
from assent.policy.modes import Mode
from assent.policy.parse import parse_rule
from assent.policy.rules import Origin, Rule
from assent.policy.ruleset import RuleSet
from assent.policy.steering import is_local_script, steering

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from assent.contract.effect import Lowering
    from assent.contract.facts import Facts
    from assent.contract.review import Grant
    from assent.policy.policy import Policy

    Remembered = tuple[frozenset[str], RuleSet]
    Running = Mapping[int, tuple[tuple[str, str], ...]]  # the files that each command runs, with their digests

ALLOW, ASK = Outcome.ALLOW, Outcome.ASK
SOURCE = "grant "  # before a grant's id, where a receipt names the source of a rule
PLAIN_COMMAND = Pattern(r"bash\(([\w@%+=,./-]+)(?::\*\)$|\)$|\s)")
# What an answer is never remembered for, even for the identical call.
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
    """The decision as remembered answers leave it: ALLOW where they settle an ASK whole, else the very same object, or
    one that names the grants which would settle it but for a file that has changed.

    `grants` are those that hold now. `identity` names the call, for grants of the identical call. `running` are the
    files that its commands run, as they are now.
    INVARIANT: a grant settles no command that runs another file, or other bytes, than those it was given for."""
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
    sets = () if lowering.gaps else _compiled(grants, lowering, facts)
    if sets:
        second = _Second(lowering, facts, policy, sets, {SOURCE + each.id: each for each in grants}, running)
        found = second.decision()
        if found.outcome is ALLOW:
            return _receipt(found)
        stale |= second.stale
    return _noted(decision, tuple(stale)) if stale else decision


def _changed(grant: Grant, files: Iterable[tuple[str, str]]) -> str:
    """The source of a grant that was given for other bytes, in words."""
    paths = ", ".join(sorted({path for path, _ in set(files).difference(grant.files)}))
    return f"{SOURCE}{grant.id}, which was given for another content of {paths or 'a file'}"


def _noted(decision: Decision, stale: tuple[tuple[str, str], ...]) -> Decision:
    """The same decision, with the grants that do not hold any more among what lost."""
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
    """The ask rules that a person sees and answers with a decision: what a grant made from it settles too."""
    asked = (part for part in decision.parts if part.outcome is ASK and part.layer is Layer.ASK)
    return tuple(dict.fromkeys(text for part in asked for text in (part.rule, *part.also)))


# ---------------------------------------------------------------- the identical call


def _answers(grant: Grant, lowering: Lowering, facts: Facts, policy: Policy) -> bool:
    """Whether an answer to the identical call answers all that is asked now: with the ask rules of then left out,
    nothing may be left that no answer is remembered for."""
    found = _Without(lowering, facts, policy, grant.answers).decision()
    asked = [part.layer for part in found.parts if part.outcome is not ALLOW]
    return found.outcome <= ASK and Layer.ASK not in asked and NEVER.isdisjoint(asked)


class _Without(Judge):
    """The judge again, without ask rules that were answered: they may stand before something stricter."""

    __slots__ = ("answers",)

    def __init__(self, lowering: Lowering, facts: Facts, policy: Policy, answers: tuple[str, ...]) -> None:
        super().__init__(lowering, facts, policy)
        self.answers = frozenset(answers)

    def _first(self, found: Iterable[Rule], outcome: Outcome, subject: Invocation | Effect | str) -> Rule | None:
        if outcome is ASK:
            found = (rule for rule in found if rule.text not in self.answers)
        return super()._first(found, outcome, subject)


def _repeated(decision: Decision, grant: Grant) -> Decision:
    """Every question of the call answered by the one grant."""
    parts = tuple(_allowed(part, grant) if part.outcome is ASK else part for part in decision.parts)
    deciding = next(part for part in parts if part.layer is Layer.GRANT)
    asked = {part.rule: part.source for part in decision.parts if part.layer is Layer.ASK}
    lost = dict.fromkeys((*decision.lost, *asked.items()))
    return Decision(
        ALLOW, deciding, parts, lost=tuple(lost), mode=decision.mode, risk=decision.risk, tool=decision.tool
    )


def _allowed(part: Part, grant: Grant) -> Part:
    return Part(
        ALLOW,
        Layer.GRANT,
        "grant.identical",
        "a person allowed this very call, and the answer still holds",
        what=part.what,
        where=part.where,
        source=SOURCE + grant.id,
    )


# ---------------------------------------------------------------- rules


def _compiled(grants: Iterable[Grant], lowering: Lowering, facts: Facts) -> tuple[Remembered, ...]:
    """The rules of all grants, together with the ask rules that they answer. A grant that does not parse is none.

    Rules on programs that the call does not run are left unread: grants are many, and most are of other commands."""
    programs = {base(each.words[0]) for each in lowering.invocations if each.words}
    by_answers: dict[frozenset[str], list[Rule]] = {}
    for grant in grants:
        texts = [text for text in grant.rules if _may_speak(text, programs)]
        try:
            rules = [_remembered(text, SOURCE + grant.id) for text in texts]
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
    """A rule as it was saved, without what a beginning does not cover."""
    excepts = steering(parse_rule(text))
    return parse_rule(text, source=source, origin=Origin.SESSION, excepts=excepts)


def _may_speak(text: str, programs: set[str]) -> bool:
    """False only where a rule is plainly on another program."""
    found = PLAIN_COMMAND.match(text)
    return found is None or base(found[1]) in programs


class _Second(Judge):
    """The judge again, with remembered rules behind the allow rules, and the ask rules that they answer left out
    where the remembered rule itself proves the part."""

    __slots__ = ("grants", "places", "running", "sets", "stale", "unnamed")

    def __init__(
        self,
        lowering: Lowering,
        facts: Facts,
        policy: Policy,
        sets: tuple[Remembered, ...],
        grants: Mapping[str, Grant],
        running: Running,
    ) -> None:
        super().__init__(lowering, facts, policy)
        self.sets = sets
        self.grants = grants
        self.running = running
        self.places = {id(invocation): place for place, invocation in enumerate(lowering.invocations)}
        self.stale: dict[tuple[str, str], None] = {}
        self.unnamed = False

    # ------------------------------------------------------------ ask rules

    def _first(self, found: Iterable[Rule], outcome: Outcome, subject: Invocation | Effect | str) -> Rule | None:
        if outcome is ASK:
            found = self._unanswered(found, subject)
        return super()._first(found, outcome, subject)

    def _unanswered(self, found: Iterable[Rule], subject: Invocation | Effect | str) -> Iterator[Rule]:
        for rule in found:
            if any(rule.text in answers and self._proves(rules, subject) for answers, rules in self.sets):
                self.lost[rule] = None
            else:
                yield rule

    def _proves(self, rules: RuleSet, subject: Invocation | Effect | str) -> bool:
        """Whether remembered rules speak of the very thing that was asked about."""
        if isinstance(subject, Invocation):
            return self._proves_command(rules, subject)
        if isinstance(subject, Effect):
            return self._proves_effect(rules, subject)
        if subject == "bash":
            commands = self.lowering.invocations
            return bool(commands) and all(self._proves_command(rules, each) for each in commands)
        return bool(subject) and next(rules.naming_tool(subject, aggressive=False), None) is not None

    def _proves_command(self, rules: RuleSet, invocation: Invocation) -> bool:
        return self._at_home(invocation) and self._remembers(rules, invocation) is not None

    def _remembers(self, rules: RuleSet, invocation: Invocation) -> Rule | None:
        """A remembered rule on a command. A script by a relative name is meant where the workspace begins: the same
        name in another folder is another script."""
        rule = rules.proving_command(invocation)
        if rule is None or (match.is_beginning(rule) and match.leaves(invocation, self.facts, len(rule.words))):
            return None
        if is_local_script(rule) and not set(invocation.cwds) <= set(self.facts.roots):
            return None
        return rule if self._unchanged(rule, invocation) else None

    def _unchanged(self, rule: Rule, invocation: Invocation) -> bool:
        """Whether a command runs the very files that a grant was given for."""
        files = self.running.get(self.places.get(id(invocation), -1), ())
        grant = self.grants.get(rule.source)
        if not files or grant is None:
            return not files
        if set(files) <= set(grant.files):
            return True
        self.stale[(rule.text, _changed(grant, files))] = None
        return False

    def _proves_effect(self, rules: RuleSet, effect: Effect) -> bool:
        index = effect.invocation
        own = index >= 0 and effect.via is not Via.REDIRECT and not self._voided(index)
        if own and self._at_home(self.lowering.invocations[index]):
            rule = self._remembers(rules, self.lowering.invocations[index])
            if rule is not None and not self._beyond(rule, effect, self._names(effect)):
                return True
        if self.unnamed or (effect.operation is Operation.EXECUTE and effect.target.kind is not Kind.TOOL):
            return False
        return rules.proving_effect(effect, self._names(effect)) is not None

    def _names(self, effect: Effect) -> tuple[str, ...]:
        target = effect.target
        return match.names_of(target, self.facts) if target.kind is Kind.PATH and target.name else ()

    def _by_folders(self, effect: Effect) -> Part | None:
        """What lies somewhere in a folder is not the folder: no rule on a path proves it."""
        self.unnamed = True
        try:
            return super()._by_folders(effect)
        finally:
            self.unnamed = False

    # ------------------------------------------------------------ allowing

    def _tool(self) -> None:
        super()._tool()
        tool = self.lowering.tool
        if self.whole is None and tool != "bash":
            found = (rule for _, rules in self.sets for rule in rules.naming_tool(tool, aggressive=False))
            self.whole = next(found, None)

    def command(self, invocation: Invocation) -> Rule | None:
        judged = len(self.parts)
        rule = super().command(invocation)
        if rule is not None or len(self.parts) > judged or not self._at_home(invocation):
            return rule
        found = (self._remembers(rules, invocation) for _, rules in self.sets)
        return next((each for each in found if each is not None), None)

    def _allowing(self, effect: Effect, names: tuple[str, ...]) -> Rule | None:
        rule = super()._allowing(effect, names)
        if rule is not None or (effect.operation is Operation.EXECUTE and effect.target.kind is not Kind.TOOL):
            return rule
        found = (rules.proving_effect(effect, names) for _, rules in self.sets)
        return next((each for each in found if each is not None), None)


def _receipt(found: Decision) -> Decision:
    """The decision with the parts that a grant settled marked as such, one of them as the deciding one."""
    parts = tuple(_marked(part) if part.source.startswith(SOURCE) else part for part in found.parts)
    deciding = next((part for part in parts if part.layer is Layer.GRANT), None)
    if deciding is None:  # the grant answered an ask rule only, and an allow rule or the mode settles the rest
        deciding = Part(ALLOW, Layer.GRANT, "grant.rule", "a person answered this question, and the answer still holds")
        parts = (*parts, deciding)
    return Decision(ALLOW, deciding, parts, lost=found.lost, mode=found.mode, risk=found.risk, tool=found.tool)


def _marked(part: Part) -> Part:
    return Part(
        ALLOW,
        Layer.GRANT,
        "grant.rule",
        f"a person allowed `{part.rule}`, and the answer still holds",
        what=part.what,
        where=part.where,
        rule=part.rule,
        source=part.source,
    )
