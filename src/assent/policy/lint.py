"""Finds rules that do not work as they seem to: shadowed, dead, too broad, or with a secret in them."""

from __future__ import annotations

from collections.abc import Callable

from assent.contract import Value
from assent.policy.rule_width import secret_in, too_broad
from assent.policy.rules import Origin, Rule, RuleKind, RuleShape
from assent.policy.settings import Settings

LetIn = Callable[[tuple[str, ...]], tuple[str, ...]]
NAMED = 6  # options that a finding names


class LintFinding(Value):
    """`kind` is shadowed, dead, broad, secret or wide."""

    __slots__ = ("kind", "rule", "source", "text")

    def __init__(self, kind: str, rule: str, source: str, text: str) -> None:
        self.kind = kind
        self.rule = rule
        self.source = source
        self.text = text


def lint(settings: Settings, roots: tuple[str, ...], let_in: LetIn | None = None) -> list[LintFinding]:
    """Every finding on the rules that people wrote; shipped rules are checked by our own tests. `let_in` returns the
    options by which a command with these first words runs, loads or reaches something else."""
    written = {
        name: [rule for rule in rules if rule.origin not in (Origin.SHIPPED, Origin.PACK)]
        for name, rules in (("deny", settings.deny), ("ask", settings.ask), ("allow", settings.allow))
    }
    out: list[LintFinding] = []
    for name, rules in written.items():
        allows = name == "allow"
        stricter = {"deny": (), "ask": ("deny",), "allow": ("deny", "ask")}[name]
        for at, rule in enumerate(rules):
            first = [
                *((each, layer) for layer in stricter for each in written[layer]),
                *((each, name) for each in rules[:at]),
            ]
            secret = secret_in(rule.text) or secret_in(rule.message) or secret_in(rule.reason)
            texts = {
                "secret": f"it contains {secret}; rules are shown and logged" if secret else "",
                "dead": _dead(rule, roots),
                # Reading is allowed nearly everywhere.
                "broad": too_broad(rule) if allows and rule.tool not in ("read", "list", "search") else "",
                "shadowed": _shadowed(rule, first),
            }
            if (
                allows
                and let_in is not None
                and not any(texts.values())
                and rule.text not in {each.rule for each in out}
            ):
                texts["wide"] = _wide(rule, let_in)
            out += [LintFinding(kind, rule.text, rule.source, text) for kind, text in texts.items() if text]
    return out


def _dead(rule: Rule, roots: tuple[str, ...]) -> str:
    is_path, whole = rule.about is RuleKind.PATH, rule.shape is RuleShape.WHOLE
    if is_path and not whole and not roots and rule.spec[0] not in "/~*":
        return "it is relative to the workspace, and there is none here"
    if rule.about is RuleKind.COMMAND and not whole and rule.words[0].endswith(":*"):
        return "`:*` is a prefix only at the end of a rule"
    if is_path and rule.spec.endswith("/") and rule.spec != "/":
        return f"it ends in a slash; write `{rule.tool}({rule.spec}**)`"
    return ""


def _wide(rule: Rule, let_in: LetIn) -> str:
    """A prefix that a person wrote covers whatever follows it: name the options that it lets in."""
    if rule.about is not RuleKind.COMMAND or rule.shape is not RuleShape.PREFIX:
        return ""
    options = [each for each in let_in(rule.words) if each not in rule.words]
    named = [f"`{each}`" for each in options if each != "*"]
    shown = ", ".join(named[:NAMED]) + (f" and {len(named) - NAMED} more" if len(named) > NAMED else "")
    what = f"by {shown} it can also run, load or reach something else" if named else "its options are not all known"
    return f"{what}; write the arguments out if that is not intended" if options else ""


def _shadowed(rule: Rule, first: list[tuple[Rule, str]]) -> str:
    return next(
        (f"`{other.text}` ({layer}, {other.source}) matches first" for other, layer in first if covers(other, rule)), ""
    )


def covers(wide: Rule, narrow: Rule) -> bool:
    """Whether one rule certainly matches everything another matches."""
    if wide.about is not narrow.about or wide.excepts:
        return False
    whole = wide.shape is RuleShape.WHOLE
    if wide.about is RuleKind.PATH:
        below = wide.spec.endswith("/**") and narrow.spec.startswith(wide.spec[:-2])
        return narrow.operations <= wide.operations and (whole or wide.spec == narrow.spec or below)
    same = whole or (wide.spec == narrow.spec and wide.shape is narrow.shape)
    prefixes = wide.shape is RuleShape.PREFIX and narrow.shape in (RuleShape.PREFIX, RuleShape.EXACT)
    begins = wide.about is RuleKind.COMMAND and prefixes and narrow.words[: len(wide.words)] == wide.words
    return wide.tool == narrow.tool and (same or begins)
