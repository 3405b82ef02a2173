"""What deny and ask rules say of the parts of a call, in the mode that holds. Knows no floor and no allow rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from assent.contract import Effect, Facts, Invocation, Kind, Layer, Operation, Outcome, Part
from assent.policy import below, hosts
from assent.policy.floor import describe
from assent.policy.modes import Mode
from assent.policy.parts import by_rule, place
from assent.policy.policy import Policy
from assent.policy.rules import Origin, Rule
from assent.policy.ruleset import RuleSet

if TYPE_CHECKING:
    # What is judged: a command, an effect, or the tool by its name (`""`: the text of the whole command).
    Subject = Invocation | Effect | str
    # Whether a deny or ask rule is left out for a subject. The flag is false for a file that is not named, judged by
    # the folder that it lies in.
    Skips = Callable[[Rule, Outcome, Subject, bool], bool]

ASK, DENY = Outcome.ASK, Outcome.DENY
INSIDE = "deny.inside"


class StrictRules:
    """The deny and ask rules of a policy in a mode. `lost` are those that matched and do not hold."""

    __slots__ = ("policy", "mode", "skips", "lost")

    def __init__(self, policy: Policy, mode: Mode, skips: Skips | None) -> None:
        self.policy = policy
        self.mode = mode
        self.skips = skips
        self.lost: dict[Rule, None] = {}

    def holds(self, rule: Rule) -> bool:
        """Whether a rule holds in this mode: yolo keeps the managed ones only."""
        return self.mode is not Mode.YOLO or rule.origin is Origin.MANAGED

    def on_tool(self, tool: str) -> Part | None:
        """Rules on the whole tool: they speak even of a call that does nothing."""
        if tool != "bash":
            return self._first(lambda rules: rules.naming_tool(tool, aggressive=True), tool)
        return self._first(lambda rules: iter(rules.commands.whole), tool)

    def spans(self) -> bool:
        """Whether a rule spans operators."""
        return any(rules.commands.spans for rules, _, _ in self._layers())

    def on_text(self, text: str, *, anywhere: bool) -> Part | None:
        """Rules that span operators, on the whole command; where its reading was cut short, all of them."""
        return self._first(lambda rules: rules.reaching_text(text, anywhere=anywhere), "")

    def on_command(self, invocation: Invocation) -> Part | None:
        return self._first(lambda rules: rules.reaching_command(invocation), invocation)

    def on_effect(self, effect: Effect, names: tuple[str, ...], *, named: bool = True) -> Part | None:
        """What they say of an effect; not `named` where it stands for any file in a folder."""
        part = self._first(lambda rules: rules.reaching_effect(effect, names), effect, named)
        if part is not None:
            return part
        host = hosts.unknown(self.policy, effect) if effect.target.kind is Kind.HOST else None
        if host is not None:
            return _asked(*host, effect, "deny.host-unknown")
        if effect.recursive and effect.operation is not Operation.LIST and names and self.mode is not Mode.YOLO:
            rule = self.policy.deny.inside(effect, names)
            if rule is not None:
                return _asked(rule, Layer.DENY, effect, INSIDE)
        if effect.recursive and effect.operation is Operation.WRITE and names:
            return self._on_filled(effect, names)
        return None

    def _on_filled(self, effect: Effect, names: tuple[str, ...]) -> Part | None:
        """A folder that is written as a whole, `mv x .github`, with it what rules on files in it speak of."""
        for rules, layer in ((self.policy.deny, Layer.DENY), (self.policy.ask, Layer.ASK)):
            rule = rules.in_folder(names)
            if rule is not None and self.holds(rule):
                return _asked(rule, layer, effect, INSIDE)
        return None

    def on_files_below(self, effect: Effect, facts: Facts) -> Part | None:
        """What they say of single files below a folder that an effect reaches: a question at most."""
        for rules, outcome, layer in self._layers() if self.policy.seeks else ():
            rule = self._holding(below.spoken(rules, self.policy.paths, effect, facts), outcome, effect, True)
            if rule is not None:
                return _asked(rule, layer, effect, INSIDE if outcome is DENY else "")
        return None

    def on_unnamed(self, whole: Effect, names: tuple[str, ...], effect: Effect) -> Part | None:
        """What they say of an unnamed file by its folder, and a deny rule that a person wrote on something in there."""
        part = self.on_effect(whole, names, named=False)
        if part is not None or self.mode is Mode.YOLO:
            return part
        written = (rule for rule in self.policy.deny.below(whole, names) if rule.origin is not Origin.SHIPPED)
        rule = next(written, None)
        return _asked(rule, Layer.DENY, effect, INSIDE) if rule is not None else None

    # -------------------------------------------------------- finding one

    def _layers(self) -> Iterator[tuple[RuleSet, Outcome, Layer]]:
        if self.policy.deny.filled:
            yield self.policy.deny, DENY, Layer.DENY
        if self.policy.ask.filled:
            yield self.policy.ask, ASK, Layer.ASK

    def _first(self, find: Callable[[RuleSet], Iterator[Rule]], subject: Subject, named: bool = True) -> Part | None:
        """The part of the first rule that is found and holds, deny before ask."""
        for rules, outcome, layer in self._layers():
            found = find(rules)
            rule = self._holding(found, outcome, subject, named)
            if rule is not None:
                # A person who answers sees and answers all ask rules that hold for the same part.
                also = tuple(dict.fromkeys(each.text for each in found if self.holds(each))) if outcome is ASK else ()
                what, where = _described(subject)
                return by_rule(rule, outcome, layer, what, where, also=also)
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
    """What is judged, in words, and where in the call it stands."""
    if isinstance(subject, Invocation):
        return f"run `{' '.join(subject.words)}`", place(subject)
    if isinstance(subject, Effect):
        return describe(subject), subject.where
    return (f"call {subject}", "tool") if subject else ("the whole command", "command")
