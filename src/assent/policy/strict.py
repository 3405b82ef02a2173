"""Deny and ask rules on the parts of a call, in the mode in force. Knows no floor and no allow rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from assent.contract import READ_ONLY, Effect, Facts, Invocation, Kind, Layer, Lowering, Operation, Outcome, Part, re
from assent.policy import below
from assent.policy.floor import describe
from assent.policy.modes import Mode
from assent.policy.parts import by_rule, place
from assent.policy.policy import Policy
from assent.policy.rules import About, Origin, Rule, RuleShape
from assent.policy.ruleset import RuleSet

# What is judged: a command, an effect, or the tool by its name (`""`: the text of the whole command).
Subject = Invocation | Effect | str

if TYPE_CHECKING:
    # Whether a deny or ask rule is left out for a subject. The flag is false for a file that is not named, judged by
    # the folder that it lies in.
    Skips = Callable[[Rule, Outcome, Subject, bool], bool]

ASK, DENY = Outcome.ASK, Outcome.DENY
INSIDE = "deny.inside"
LONGEST = 100_000  # characters of a call that are searched; of a longer one every rule counts as named
RUNNING = (Kind.PROGRAM, Kind.PATH, Kind.TOOL)
_patterns: dict[str, re.Pattern[str]] = {}


class StrictRules:
    """The deny and ask rules of a policy in a mode. `lost` are those that matched and do not apply."""

    __slots__ = ("policy", "mode", "skips", "lost")

    def __init__(self, policy: Policy, mode: Mode, skips: Skips | None) -> None:
        self.policy = policy
        self.mode = mode
        self.skips = skips
        self.lost: dict[Rule, None] = {}

    def holds(self, rule: Rule) -> bool:
        """Whether a rule applies in this mode: in yolo only managed rules do."""
        return self.mode is not Mode.YOLO or rule.origin is Origin.MANAGED

    def on_tool(self, tool: str) -> Part | None:
        """Rules on the whole tool: they match even a call that does nothing."""
        if tool != "bash":
            return self._first(lambda rules: rules.naming_tool(tool, aggressive=True), tool)
        return self._first(lambda rules: iter(rules.commands.whole), tool)

    def spans(self) -> bool:
        return any(rules.commands.spans for rules, _, _ in self._layers())

    def on_text(self, text: str, *, anywhere: bool) -> Part | None:
        """Rules that span operators, on the whole command; `anywhere`: it was not parsed to the end, so all rules."""
        return self._first(lambda rules: rules.reaching_text(text, anywhere=anywhere), "")

    def on_command(self, invocation: Invocation) -> Part | None:
        return self._first(lambda rules: rules.reaching_command(invocation), invocation)

    def on_effect(self, effect: Effect, names: tuple[str, ...], *, named: bool = True) -> Part | None:
        """Rules on an effect; not `named`: it is any file in a folder."""
        part = self._first(lambda rules: rules.reaching_effect(effect, names), effect, named)
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
        for rules, outcome, layer in self._layers() if self.policy.seeks else ():
            rule = self._holding(below.spoken(rules, self.policy.paths, effect, facts), outcome, effect, True)
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

    def _layers(self) -> Iterator[tuple[RuleSet, Outcome, Layer]]:
        if self.policy.deny.filled:
            yield self.policy.deny, DENY, Layer.DENY
        if self.policy.ask.filled:
            yield self.policy.ask, ASK, Layer.ASK

    def _first(self, find: Callable[[RuleSet], Iterator[Rule]], subject: Subject, named: bool = True) -> Part | None:
        """The part of the first rule that is found and applies, deny before ask."""
        for rules, outcome, layer in self._layers():
            found = find(rules)
            rule = self._holding(found, outcome, subject, named)
            if rule is not None:
                # A person who answers sees and answers all ask rules that match the same part.
                also = tuple(dict.fromkeys(each.text for each in found if self.holds(each))) if outcome is ASK else ()
                return by_rule(rule, outcome, layer, *_described(subject), also=also)
        return None

    def _holding(self, found: Iterator[Rule], outcome: Outcome, subject: Subject, named: bool) -> Rule | None:
        for rule in found:
            skipped = self.skips is not None and self.skips(rule, outcome, subject, named)
            if not skipped and self.holds(rule):
                return rule
            self.lost[rule] = None
        return None


def _asked(rule: Rule, layer: Layer, effect: Effect, code: str) -> Part:
    return by_rule(rule, ASK, layer, describe(effect), effect.where, code=code)


def _described(subject: Subject) -> tuple[str, str]:
    """What is judged, in words, and where it is in the call."""
    if isinstance(subject, Invocation):
        return f"run `{' '.join(subject.words)}`", place(subject)
    if isinstance(subject, Effect):
        return describe(subject), subject.where
    return (f"call {subject}", "tool") if subject else ("the whole command", "command")


# ---------------------------------------------------------------- rules on hosts


def _on_hosts(policy: Policy) -> Iterator[tuple[Rule, Layer]]:
    """The deny and ask rules on hosts that people wrote; in yolo the managed ones.

    INVARIANT: a network effect whose host is unknown counts as every host that a person's rule names."""
    for rules, layer in ((policy.deny, Layer.DENY), (policy.ask, Layer.ASK)):
        for rule in rules.about(About.HOST) if rules.filled else ():
            if rule.origin is Origin.MANAGED or (policy.mode is not Mode.YOLO and rule.origin is not Origin.SHIPPED):
                yield rule, layer


def named_hosts(policy: Policy, lowering: Lowering) -> Iterator[tuple[Rule, Layer]]:
    """The rules whose host is in the words of a command that runs something, fetches or uses a service.

    What only reads may name any host: `grep evil.example access.log` reaches nothing."""
    text = _network_words(lowering)
    for rule, layer in _on_hosts(policy) if text else ():
        if rule.shape is not RuleShape.WHOLE and (len(text) > LONGEST or _pattern(rule.spec).search(text)):
            yield rule, layer


def _network_words(lowering: Lowering) -> str:
    """The words of the commands that may reach the network, and beside one of them of those that change something it
    may use; the whole text where it sets a proxy."""
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
        # also behind a short option's letter (`-hHOST`), and within a key of git's (`url.HOST.insteadOf`)
        name = re.escape(spec.removeprefix("*."))
        found = _patterns[spec] = re.compile(rf"(?<![\w-])(?:-\w)?{name}(?![\w-]|\.(?!(?:push)?insteadof\b)\w)")
    return found
