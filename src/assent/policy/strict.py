"""Deny and ask rules on the parts of a call, in the mode in force. Knows no floor and no allow rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from assent.contract import (
    READ_ONLY,
    Arguments,
    Effect,
    Facts,
    Invocation,
    Kind,
    Layer,
    Lowering,
    Operation,
    Outcome,
    Part,
    re,
)
from assent.policy import below
from assent.policy.floor import describe
from assent.policy.modes import Mode
from assent.policy.parts import by_rule, place
from assent.policy.policy import Policy
from assent.policy.rules import Origin, Rule, RuleKind, RuleShape
from assent.policy.ruleset import RuleSet

# The subject: a command, an effect, or the tool by its name (`""`: the text of the whole command).
Subject = Invocation | Effect | str

if TYPE_CHECKING:
    # Whether a deny or ask rule is left out for a subject. The flag is false for an unnamed file, judged by its folder.
    Skips = Callable[[Rule, Outcome, Subject, bool], bool]

ASK, DENY = Outcome.ASK, Outcome.DENY
INSIDE = "deny.inside"
LONGEST = 100_000  # characters of a call to search; in a longer one every rule counts as named
RUNNING = (Kind.PROGRAM, Kind.PATH, Kind.TOOL)
_patterns: dict[str, re.Pattern[str]] = {}


class StrictRules:
    """The deny and ask rules of a policy in a mode. `lost` are those that matched and do not apply."""

    __slots__ = ("policy", "mode", "skips", "linked", "given", "layers", "lost")

    def __init__(
        self,
        policy: Policy,
        mode: Mode,
        skips: Skips | None,
        linked: tuple[str, ...] = (),
        given: Arguments | None = None,
    ) -> None:
        self.policy = policy
        self.mode = mode
        self.skips = skips
        self.linked = linked  # worktrees, whose `.git` is a file
        self.given = given
        layers = ((policy.deny, DENY, Layer.DENY), (policy.ask, ASK, Layer.ASK))
        self.layers = [each for each in layers if each[0].filled]
        self.lost: dict[Rule, None] = {}

    def holds(self, rule: Rule) -> bool:
        """Whether a rule applies in this mode: in yolo only managed rules do."""
        return self.mode is not Mode.YOLO or rule.origin is Origin.MANAGED

    def on_tool(self, tool: str) -> Part | None:
        """Rules on the whole tool: they match even a call that does nothing."""
        if tool != "bash":
            return self._first(lambda rules: rules.naming_tool(tool, self.given, aggressive=True), tool)
        if not any(rules.commands.whole for rules, _, _ in self.layers):
            return None
        return self._first(lambda rules: rules.commands.whole, tool)

    def spans(self) -> bool:
        return any(rules.commands.spans for rules, _, _ in self.layers)

    def on_text(self, text: str, *, anywhere: bool) -> Part | None:
        """Rules that span operators, on the whole command; `anywhere`: all rules, because it was not parsed to the
        end."""
        return self._first(lambda rules: rules.reaching_text(text, anywhere=anywhere), "")

    def on_command(self, invocation: Invocation) -> Part | None:
        return self._first(lambda rules: rules.reaching_command(invocation), invocation)

    def on_effect(
        self, effect: Effect, names: tuple[str, ...], *, named: bool = True, settled: tuple[str, ...] = ()
    ) -> Part | None:
        """Rules on an effect; not `named`: it is any file in a folder. `settled`: ids of shipped ask rules that a
        pack answers."""
        part = self._first(lambda rules: rules.reaching_effect(effect, names, self.given), effect, named, settled)
        if part is not None and part.outcome is DENY and _is_any_name(effect):
            found = self.policy.deny.reaching_effect(effect, names, self.given)
            if all(rule.origin is Origin.SHIPPED for rule in found):
                return _asked(found[0], Layer.DENY, effect, INSIDE)
        if part is not None:
            return part
        if effect.operation is Operation.FETCH and effect.target.kind is Kind.HOST and not effect.target.name:
            for rule, layer in _on_hosts(self.policy):
                return _asked(rule, layer, effect, "deny.host-unknown")
        if effect.recursive and effect.operation is not Operation.LIST and names and self.mode is not Mode.YOLO:
            inside = self.policy.deny.inside(effect, names)
            if inside is not None:
                return _asked(inside, Layer.DENY, effect, INSIDE)
        if effect.recursive and effect.operation is Operation.WRITE and names:
            return self._on_filled(effect, names)
        return None

    def _on_filled(self, effect: Effect, names: tuple[str, ...]) -> Part | None:
        """Rules on files in a folder that is written as a whole: `mv x .github`."""
        for rules, layer in ((self.policy.deny, Layer.DENY), (self.policy.ask, Layer.ASK)):
            rule = rules.in_folder(names)
            if rule is not None and self.holds(rule):
                return _asked(rule, layer, effect, INSIDE)
        return None

    def on_files_below(self, effect: Effect, facts: Facts) -> Part | None:
        """Rules on single files below a folder that an effect reaches: a question at most."""
        for rules, outcome, layer in self.layers if self.policy.seeks else ():
            rule = self._holding(below.rules_on(rules, self.policy.paths, effect, facts), outcome, effect, True)
            if rule is not None:
                return _asked(rule, layer, effect, INSIDE if outcome is DENY else "")
        return None

    def on_unnamed(self, whole: Effect, names: tuple[str, ...], effect: Effect) -> Part | None:
        """Rules on an unnamed file by its folder, and deny rules that a person wrote on something in it."""
        part = self.on_effect(whole, names, named=False)
        if part is not None or self.mode is Mode.YOLO:
            return part
        found = self.policy.deny.below(whole, names)
        return next(
            (_asked(each, Layer.DENY, effect, INSIDE) for each in found if each.origin is not Origin.SHIPPED), None
        )

    # -------------------------------------------------------- finding one

    def _first(
        self,
        find: Callable[[RuleSet], Iterable[Rule]],
        subject: Subject,
        named: bool = True,
        settled: tuple[str, ...] = (),
    ) -> Part | None:
        """The part of the first rule that is found and applies, deny before ask."""
        for rules, outcome, layer in self.layers:
            found = iter(find(rules))
            if settled and outcome is ASK:
                found = (each for each in found if each.origin is not Origin.SHIPPED or each.id not in settled)
            rule = self._holding(found, outcome, subject, named)
            if rule is not None:
                # The person sees and answers all ask rules that match the same part.
                also = tuple(dict.fromkeys(each.text for each in found if self.holds(each))) if outcome is ASK else ()
                return by_rule(rule, outcome, layer, *_described(subject), also=also)
        return None

    def _holding(self, found: Iterator[Rule], outcome: Outcome, subject: Subject, named: bool) -> Rule | None:
        for rule in found:
            skipped = self.skips is not None and self.skips(rule, outcome, subject, named)
            if self.linked and isinstance(subject, Effect) and subject.target.name in self.linked:
                skipped = skipped or rule.id == "git-metadata"
            if not skipped and self.holds(rule):
                return rule
            self.lost[rule] = None
        return None


def _is_any_name(effect: Effect) -> bool:
    """Whether a hidden file of any name is written (`cp x/.* .`): shipped rules on one name ask."""
    target = effect.target
    folder, _, last = target.name.rpartition("/")
    any_name = target.pattern and last.startswith(".") and last.strip(".*?") == "" and "/." not in folder
    return any_name and effect.operation is Operation.WRITE and not effect.dangers


def _asked(rule: Rule, layer: Layer, effect: Effect, code: str) -> Part:
    return by_rule(rule, ASK, layer, describe(effect), effect.where, code=code)


def _described(subject: Subject) -> tuple[str, str]:
    """The subject in words, and its position in the call."""
    if isinstance(subject, Invocation):
        return f"run `{' '.join(subject.words)}`", place(subject)
    if isinstance(subject, Effect):
        return describe(subject), subject.where
    return (f"call {subject}", "tool") if subject else ("the whole command", "command")


# ---------------------------------------------------------------- rules on hosts


def _on_hosts(policy: Policy) -> list[tuple[Rule, Layer]]:
    """The deny and ask rules on hosts that people wrote; in yolo the managed ones.

    INVARIANT: a network effect whose host is unknown counts as every host that a person's rule names."""
    if policy.hosts is None:
        policy.hosts = [
            (rule, layer)
            for rules, layer in ((policy.deny, Layer.DENY), (policy.ask, Layer.ASK))
            for rule in (rules.about(RuleKind.HOST) if rules.filled else ())
            if rule.origin is Origin.MANAGED or (policy.mode is not Mode.YOLO and rule.origin is not Origin.SHIPPED)
        ]
    return policy.hosts


def named_hosts(policy: Policy, lowering: Lowering) -> list[tuple[Rule, Layer]]:
    """The rules whose host is in the words of a command that runs something, fetches or uses a service.

    A command that only reads may name any host: `grep evil.example access.log` reaches nothing."""
    hosts = _on_hosts(policy)
    if not hosts:
        return []
    found = [(rule, layer) for rule, layer in hosts if rule.shape is not RuleShape.WHOLE]
    text = _network_words(lowering) if found else ""
    return [each for each in found if text and (len(text) > LONGEST or _pattern(each[0].spec).search(text))]


def _network_words(lowering: Lowering) -> str:
    """The words of the commands that may reach the network, and with them of those that change something they may use;
    the whole text if it sets a proxy."""
    if not any(map(_reaches_out, lowering.effects)):
        return ""
    busy = {
        effect.invocation for effect in lowering.effects if _reaches_out(effect) or effect.operation not in READ_ONLY
    }
    texts = [
        text for place, each in enumerate(lowering.invocations) if place in busy for text in (*each.words, each.source)
    ]
    whole = lowering.text.lower()
    if "proxy" in whole:
        texts.append(whole)
    return "\n".join(texts).lower()


def _reaches_out(effect: Effect) -> bool:
    runs = effect.operation is Operation.EXECUTE and effect.target.kind in RUNNING
    return runs or effect.operation is Operation.FETCH or effect.target.kind is Kind.SERVICE


def _pattern(spec: str) -> re.Pattern[str]:
    found = _patterns.get(spec)
    if found is None:
        # also after a short option's letter (`-hHOST`), and within a key of git's (`url.HOST.insteadOf`)
        name = re.escape(spec.removeprefix("*."))
        found = _patterns[spec] = re.compile(rf"(?<![\w-])(?:-\w)?{name}(?![\w-]|\.(?!(?:push)?insteadof\b)\w)")
    return found
