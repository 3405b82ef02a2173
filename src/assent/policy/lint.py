"""Settings → findings on rules that do not do what they seem to: shadowed, dead, over-broad, secret-bearing.

Changes nothing."""

from __future__ import annotations

import re

from assent.contract.value import Value
from assent.policy.rules import About, Origin, Rule, Shape
from assent.policy.settings import Settings

SECRETS = (
    (re.compile(r"AKIA[0-9A-Z]{16}"), "an AWS access key"),
    (re.compile(r"gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}"), "a GitHub token"),
    (re.compile(r"glpat-[\w-]{16,}"), "a GitLab token"),
    (re.compile(r"\bsk-[A-Za-z0-9_-]{16,}"), "an API key"),
    (re.compile(r"xox[abprs]-[\w-]{10,}"), "a Slack token"),
    (re.compile(r"npm_[A-Za-z0-9]{30,}"), "an npm token"),
    (re.compile(r"eyJ[\w-]{10,}\.[\w-]{10,}"), "a signed token"),
    (re.compile(r"(?i)\b(?:bearer|basic)\s+[\w.+/=-]{12,}"), "an authorization header"),
    (re.compile(r"(?i)(?:password|passwd|secret|token|api_?key)\s*[=:]\s*[^\s*:)]{6,}"), "a secret"),
    (re.compile(r"://[^/\s:@]+:[^/\s:@*]{3,}@"), "a password in an address"),
)
INTERPRETERS = frozenset(
    "bash sh zsh dash ksh fish python python2 python3 node deno bun ruby perl php lua osascript pwsh powershell "
    "sudo doas su env xargs eval exec ssh docker kubectl npx uvx pipx nohup timeout time nice watch find make".split()
)


class Finding(Value):
    """One thing worth a look. `kind` is shadowed, dead, broad or secret."""

    __slots__ = ("kind", "rule", "source", "text")

    def __init__(self, kind: str, rule: str, source: str, text: str) -> None:
        self.kind = kind
        self.rule = rule
        self.source = source
        self.text = text


def lint(settings: Settings, roots: tuple[str, ...]) -> list[Finding]:
    """Every finding on the rules that people wrote; shipped ones are held by our own tests."""
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
    return out


def secrets(rule: Rule) -> list[Finding]:
    for pattern, name in SECRETS:
        if pattern.search(rule.text) or pattern.search(rule.message) or pattern.search(rule.reason):
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
    """An allow rule that covers far more than it shows."""
    if why := too_broad(rule):
        return [Finding("broad", rule.text, rule.source, why)]
    return []


def too_broad(rule: Rule) -> str:
    """Why an allow rule should not be saved; `""` where it may."""
    if rule.about is About.COMMAND:
        if rule.shape is Shape.WHOLE:
            return "it lets every shell command run"
        first = rule.words[0].rsplit("/", 1)[-1]
        if "*" in first:
            return "it does not even name a program"
        if first in INTERPRETERS and rule.shape is not Shape.EXACT and len(rule.words) - rule.words.count("*") <= 1:
            return f"`{first}` can run anything"
    if rule.about is About.PATH and rule.tool in ("write", "delete", "path"):
        if rule.shape is Shape.WHOLE:
            return "it covers every file on the machine"
        if rule.spec in ("/**", "/*", "**", "**/*", "~/**", "~/*", "~", "/"):
            return "it covers a whole root"
    if rule.about is About.HOST and (
        rule.shape is Shape.WHOLE or rule.spec in ("*", "*.com", "*.org", "*.net", "*.io")
    ):
        return "it lets data go anywhere"
    if rule.about is About.TOOL and rule.tool in ("*", "mcp__*"):
        return "it lets every tool run"
    return ""


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
