"""Settings → findings on rules that do not do what they seem to: shadowed, dead, over-broad, secret-bearing.

Changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from assent.contract import Value
from assent.policy.rule_width import secret_in, too_broad
from assent.policy.rules import About, Origin, Rule, Shape
from assent.policy.settings import Settings

if TYPE_CHECKING:
    LetIn = Callable[[tuple[str, ...]], tuple[str, ...]]

NAMED = 6  # options that a finding names


class Finding(Value):
    """One thing worth a look. `kind` is shadowed, dead, broad, secret or wide."""

    __slots__ = ("kind", "rule", "source", "text")

    def __init__(self, kind: str, rule: str, source: str, text: str) -> None:
        self.kind = kind
        self.rule = rule
        self.source = source
        self.text = text


def lint(settings: Settings, roots: tuple[str, ...], let_in: LetIn | None = None) -> list[Finding]:
    """Every finding on the rules that people wrote; shipped ones are held by our own tests. `let_in` tells the options
    by which a command with these first words runs, loads or reaches something else."""
    written = {
        name: [rule for rule in rules if rule.origin not in (Origin.SHIPPED, Origin.PACK)]
        for name, rules in (("deny", settings.deny), ("ask", settings.ask), ("allow", settings.allow))
    }
    out: list[Finding] = []
    for name, rules in written.items():
        for at, rule in enumerate(rules):
            out += secrets(rule)
            out += dead(rule, roots)
            if name == "allow":
                out += broad(rule)
            stricter = {"deny": (), "ask": ("deny",), "allow": ("deny", "ask")}[name]
            others = [(each, layer) for layer in stricter for each in written[layer]]
            earlier = [(each, name) for each in rules[:at]]
            out += shadowed(rule, [*others, *earlier])
            if name == "allow" and let_in is not None and not any(each.rule == rule.text for each in out):
                out += wide(rule, let_in)
    return out


def secrets(rule: Rule) -> list[Finding]:
    name = secret_in(rule.text) or secret_in(rule.message) or secret_in(rule.reason)
    if name:
        return [Finding("secret", rule.text, rule.source, f"it holds {name}; rules are shown and logged")]
    return []


def dead(rule: Rule, roots: tuple[str, ...]) -> list[Finding]:
    if rule.about is About.PATH and rule.shape is not Shape.WHOLE and not roots and rule.spec[0] not in "/~*":
        return [Finding("dead", rule.text, rule.source, "it is relative to the workspace, and there is none here")]
    if rule.about is About.COMMAND and rule.shape is not Shape.WHOLE and rule.words[0].endswith(":*"):
        return [Finding("dead", rule.text, rule.source, "`:*` stands at the end of a prefix only")]
    if rule.about is About.PATH and rule.spec.endswith("/") and rule.spec != "/":
        return [Finding("dead", rule.text, rule.source, f"it ends in a slash; write `{rule.tool}({rule.spec}**)`")]
    return []


def broad(rule: Rule) -> list[Finding]:
    """An allow rule that covers far more than it shows. Looking is free nearly everywhere as it is."""
    if rule.tool not in ("read", "list", "search") and (why := too_broad(rule)):
        return [Finding("broad", rule.text, rule.source, why)]
    return []


def wide(rule: Rule, let_in: LetIn) -> list[Finding]:
    """A beginning that a person wrote covers whatever follows it: say which options that lets in."""
    if rule.about is not About.COMMAND or rule.shape is not Shape.PREFIX:
        return []
    options = [each for each in let_in(rule.words) if each not in rule.words]
    named = [f"`{each}`" for each in options if each != "*"]
    if not options:
        return []
    shown = ", ".join(named[:NAMED]) + (f" and {len(named) - NAMED} more" if len(named) > NAMED else "")
    what = f"it also lets run, load or reach something else by {shown}" if named else "its options are not all known"
    return [Finding("wide", rule.text, rule.source, f"{what}; write the arguments out where that is not meant")]


def shadowed(rule: Rule, others: list[tuple[Rule, str]]) -> list[Finding]:
    for other, layer in others:
        if covers(other, rule):
            return [
                Finding("shadowed", rule.text, rule.source, f"`{other.text}` ({layer}, {other.source}) speaks first")
            ]
    return []


def covers(wide: Rule, narrow: Rule) -> bool:
    """Whether one rule certainly speaks of all that another speaks of."""
    if wide.about is not narrow.about or wide.excepts:
        return False
    if wide.about is About.PATH:
        if not narrow.operations <= wide.operations:
            return False
        if wide.shape is Shape.WHOLE or wide.spec == narrow.spec:
            return True
        return wide.spec.endswith("/**") and narrow.spec.startswith(wide.spec[:-2])
    if wide.tool != narrow.tool:
        return False
    if wide.shape is Shape.WHOLE or (wide.spec == narrow.spec and wide.shape is narrow.shape):
        return True
    if wide.about is About.COMMAND and wide.shape is Shape.PREFIX and narrow.shape in (Shape.PREFIX, Shape.EXACT):
        return narrow.words[: len(wide.words)] == wide.words
    return False
