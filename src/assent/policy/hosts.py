"""Deny and ask rules on hosts for calls whose host is not known, or that name a host in a word no table describes.

INVARIANT: a network effect whose host is unknown counts as every host that a person's rule names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from assent.contract import READ_ONLY, Effect, Kind, Layer, Lowering, Operation, re
from assent.policy.modes import Mode
from assent.policy.policy import Policy
from assent.policy.rules import About, Origin, Rule, Shape

if TYPE_CHECKING:
    Found = tuple[Rule, Layer]

LONGEST = 100_000  # characters of a call that are searched; of a longer one every rule counts as named
RUNNING = (Kind.PROGRAM, Kind.PATH, Kind.TOOL)
_patterns: dict[str, re.Pattern[str]] = {}


def written(policy: Policy) -> Iterator[Found]:
    """The deny and ask rules on hosts that people wrote; in yolo the managed ones."""
    for rules, layer in ((policy.deny, Layer.DENY), (policy.ask, Layer.ASK)):
        for rule in rules.about(About.HOST) if rules.filled else ():
            if rule.origin is Origin.MANAGED or (policy.mode is not Mode.YOLO and rule.origin is not Origin.SHIPPED):
                yield rule, layer


def unknown(policy: Policy, effect: Effect) -> Found | None:
    """The first rule that an address without a known host may be meant by."""
    if effect.operation is not Operation.FETCH or effect.target.kind is not Kind.HOST or effect.target.name:
        return None
    return next(written(policy), None)


def named(policy: Policy, lowering: Lowering) -> Iterator[Found]:
    """The rules whose host stands in the words of a command that runs something, fetches or asks a service.

    What only reads may name any host: `grep evil.example access.log` reaches nothing."""
    text = _spoken(lowering)
    if not text:
        return
    for rule, layer in written(policy):
        if rule.shape is Shape.WHOLE:
            continue
        if len(text) > LONGEST or _pattern(rule.spec).search(text):
            yield rule, layer


def _spoken(lowering: Lowering) -> str:
    """The words of the commands that may reach the network, and beside one of them of those that change something it
    may obey; the whole text where it sets a proxy."""
    if not any(map(_reaches_out, lowering.effects)):
        return ""
    busy = {
        effect.invocation for effect in lowering.effects if _reaches_out(effect) or effect.operation not in READ_ONLY
    }
    commands = [each for place, each in enumerate(lowering.invocations) if place in busy]
    texts = [text for each in commands for text in (*each.words, each.source)]
    whole = lowering.text.lower()
    if "proxy" in whole:
        texts.append(whole)
    return "\n".join(texts).lower()


def _reaches_out(effect: Effect) -> bool:
    if effect.operation is Operation.FETCH or effect.target.kind is Kind.SERVICE:
        return True
    return effect.operation is Operation.EXECUTE and effect.target.kind in RUNNING


def _pattern(spec: str) -> re.Pattern[str]:
    found = _patterns.get(spec)
    if found is None:
        # also behind a short option's letter (`-hHOST`), and within a key of git's (`url.HOST.insteadOf`)
        name = re.escape(spec.removeprefix("*."))
        found = _patterns[spec] = re.compile(rf"(?<![\w-])(?:-\w)?{name}(?![\w-]|\.(?!(?:push)?insteadof\b)\w)")
    return found
