"""Deny and ask rules on commands with unknown words, which count as every possible word.

A rule that matches only with some value of such a word asks, and never denies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assent.contract import Effect, Invocation, Kind, Layer, Lowering, Outcome, Part
from assent.policy import concerns, dangers, floor, match
from assent.policy.modes import Concern
from assent.policy.parts import by_mode
from assent.policy.rules import Rule, RuleShape

if TYPE_CHECKING:
    from assent.policy.decide import Judge

CODE = "deny.possible"


def parts(judge: Judge, possible: Lowering) -> list[Part]:
    """Questions about possible effects of a call."""
    inner = judge.another(possible)
    for invocation in possible.invocations:
        inner.command(invocation)
    found = [asked(part) for part in inner.parts]
    found += [asked(part) for effect in possible.effects if (part := _judged(inner, effect)) is not None]
    return list(dict.fromkeys(found))


def _judged(judge: Judge, effect: Effect) -> Part | None:
    names: tuple[str, ...] = ()
    if effect.target.kind is Kind.PATH:
        names = match.names_of(effect.target, judge.facts) if effect.target.name else match.ending_of(effect.target)
    marked = effect.but(dangers=dangers.found_in(effect, names, judge.facts))
    part = floor.judge_effect(judge.policy.floor, marked, names, judge.facts)
    part = part if part is not None else judge.strict.on_effect(marked, names)
    if part is None and concerns.of(marked, names, judge.facts) is Concern.DESTROY:
        part = by_mode(Concern.DESTROY, judge.mode, marked, judge.facts)
        return part if part.outcome is not Outcome.ALLOW else None
    return part


def asked(part: Part) -> Part:
    """The same part as a question about an unknown word."""
    reason = f"a word in it is unknown, and for some values {part.reason}"
    return part.but(outcome=Outcome.ASK, code=CODE, reason=reason, flip="write the word out", also=())


def reaching(judge: Judge, invocation: Invocation) -> tuple[Rule, Layer] | None:
    """A rule that reaches a command with some value of its unknown words, and its layer."""
    policy = judge.policy
    for rules, layer in ((policy.floor, Layer.FLOOR), (policy.deny, Layer.DENY), (policy.ask, Layer.ASK)):
        for rule in rules.commands.of_program(invocation.program) if rules.filled else ():
            if may_reach(rule, invocation) and (layer is Layer.FLOOR or judge.strict.holds(rule)):
                return rule, layer
    return None


def may_reach(rule: Rule, invocation: Invocation) -> bool:
    """Whether a rule on commands reaches one with some value of its unknown words."""
    wanted = [word for word in rule.words[1:] if "*" not in word]
    if rule.shape is RuleShape.WHOLE or not wanted:
        return False
    loose = [prefix for _, prefix, several in invocation.unknown if several]
    flags = [word for word in wanted if len(word) > 1 and word[0] == "-"]
    given = all(match.flag_given(flag, invocation) or any(map(flag.startswith, loose)) for flag in flags)
    return given and _aligned([word for word in wanted if word not in flags], invocation)


def _is_option(word: str) -> bool:
    return len(word) > 1 and word[0] == "-" and "=" not in word


def _aligned(wanted: list[str], invocation: Invocation) -> bool:
    """Whether a rule's words may be the first words of a command that are not options, in their order."""
    unknown = {
        place: (prefix, several)
        for place, prefix, several in invocation.unknown
        if several or not _is_option(invocation.words[place - 1])  # after an option it is its value
    }
    known = {*invocation.subcommand, *invocation.operands}
    left = list(wanted)
    for place, word in enumerate(invocation.words):
        if not left:
            break
        if place in unknown:
            prefix, several = unknown[place]
            if left[0].startswith(prefix):
                left = [] if several else left[1:]
            elif not several:
                return False
        elif place and word in known and word[:1] != "-":
            if word != left[0]:
                return False
            left = left[1:]
    return not left
