"""Checks the examples that rules carry, when a policy is loaded. Loads nothing itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from assent.contract import Kind, Lowering, PolicyError
from assent.policy import parse
from assent.policy.document import Example
from assent.policy.parse import HOME, ROOT
from assent.policy.rules import About, Rule
from assent.policy.ruleset import RuleSet


def check_example(example: Example, lower: Callable[[str], Lowering]) -> None:
    """Raise PolicyError where an example shows that its rule does not mean what its author thinks.

    `lower` reads a shell command in the folder ROOT."""
    if holds(example, lower) == example.wanted:
        return
    file, _, line = example.rule.source.rpartition(":")
    verb = "does not match" if example.wanted else "matches"
    raise PolicyError(
        f"the rule `{example.rule.text}` {verb} its own example `{example.text}`",
        file=file,
        line=int(line) if line.isdigit() else 0,
        suggestion="correct the rule or the example",
    )


def holds(example: Example, lower: Callable[[str], Lowering]) -> bool:
    """Whether the rule speaks of the example: a command, a path, a host, a tool or an agent."""
    rule, text = example.rule, example.text
    narrow = example.kind == "allow" and rule.about is not About.DANGER
    rules = RuleSet((rule,), (ROOT,), HOME)
    if rule.about is About.COMMAND:
        commands = lower(text).invocations
        if narrow:
            return bool(commands) and all(map(rules.proving_command, commands))
        return _any(*map(rules.reaching_command, commands), rules.reaching_text(text, anywhere=False))
    effects = parse.example(rule, text, lower)
    names = [(each.target.name,) if each.target.kind is Kind.PATH else () for each in effects]
    if narrow:
        return all(map(rules.proving_effect, effects, names))
    return _any(*map(rules.reaching_effect, effects, names))


def _any(*found: Iterator[Rule]) -> bool:
    return any(True for each in found for _ in each)
