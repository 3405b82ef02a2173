"""Checks the examples that rules carry, when a policy is loaded. Loads nothing itself."""

from __future__ import annotations

from assent.contract.effect import Effect, Kind, Target
from assent.contract.errors import PolicyError
from assent.policy import match
from assent.policy.document import Example
from assent.policy.rules import About
from assent.policy.ruleset import RuleSet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from assent.contract.effect import Lowering

ROOT, HOME = "/workspace", "/home/user"


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
    rule, text, narrow = example.rule, example.text, example.kind == "allow"
    rules = RuleSet((rule,), (ROOT,), HOME)
    match_of = rule.about
    if match_of is About.COMMAND:
        lowering = lower(text)
        if narrow:
            return bool(lowering.invocations) and all(rules.proving_command(each) for each in lowering.invocations)
        return any(True for each in lowering.invocations for _ in rules.reaching_command(each)) or any(
            True for _ in rules.reaching_text(text, anywhere=False)
        )
    if match_of is About.PATH:
        name = text if text.startswith("/") else f"{HOME}{text[1:]}" if text.startswith("~") else f"{ROOT}/{text}"
        found = (Effect(each, Target(Kind.PATH, name)) for each in rule.operations)
        if narrow:
            return all(rules.proving_effect(effect, (name,)) for effect in found)
        return any(True for effect in found for _ in rules.reaching_effect(effect, (name,)))
    if match_of is About.HOST:
        return match.proves_host(rule, text.lower()) if narrow else match.reaches_host(rule, text.lower())
    if match_of is About.AGENT:
        return match.names_agent(rule, text)
    if match_of is About.DANGER:
        return any(text == rule.spec or rule.spec in effect.dangers for effect in lower(text).effects)
    return match.names_tool(rule, text, aggressive=not narrow)
