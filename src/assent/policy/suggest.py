"""Suggests rules that would repeat an answer: the narrowest first, then sensible wider ones.

A rule is suggested only if it settles the call in question and matches no more than it shows; otherwise the answer can
be repeated for the identical call only."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from assent.contract import (
    Arguments,
    Decision,
    Effect,
    Facts,
    Invocation,
    Kind,
    Layer,
    Lowering,
    Operation,
    Outcome,
    Part,
    Pattern,
    Via,
    assert_never,
)
from assent.contract.approval import Grant, Scope, Suggestion
from assent.policy import grants
from assent.policy.decide import Judge
from assent.policy.modes import Mode
from assent.policy.named_values import rules_on
from assent.policy.policy import Policy
from assent.policy.rule_width import refusal, width
from assent.policy.strict import Subject
from assent.programs.traits import has

Ladder = list[str]  # rules for one thing, narrowest first

__all__ = ["covers", "refusal", "suggest_rules"]

ASK = Outcome.ASK
MOST = 5  # suggestions
READABLE = 8  # rules of one suggestion
IDENTICAL = Suggestion((), "this exact call")
TRIED = "tried"  # the id and identity of a trial grant
WILD = Pattern(r"[*?\[\]{}]")
PLAIN = Pattern(r"[^\s*()\\]+")
# The tool of a rule that covers an operation on a path.
PATH_TOOLS = {
    Operation.READ: "read",
    Operation.SEARCH: "read",
    Operation.LIST: "list",
    Operation.WRITE: "write",
    Operation.DELETE: "delete",
}
SAFE = Pattern(r"[\w@%+=:,./-]+", re.ASCII)


def suggest_rules(lowering: Lowering, facts: Facts, policy: Policy, decision: Decision) -> tuple[Suggestion, ...]:
    """The rules that an allowing answer could save, narrowest first. None: it can be allowed once only."""
    if decision.outcome is not ASK or policy.mode is Mode.PLAN:
        return ()
    found: dict[tuple[str, ...], tuple[int, Suggestion]] = {}
    for rules in _sets(_Asked(lowering, facts, policy), lowering, facts):
        if rules not in found and not any(map(refusal, rules)) and covers(rules, lowering, facts, policy, decision):
            found[rules] = _suggestion(rules)
    if found:
        return tuple(each for _, each in sorted(found.values(), key=lambda each: each[0])[:MOST])
    return (IDENTICAL,) if _tried((), lowering, facts, policy, decision) else ()


def _suggestion(rules: tuple[str, ...]) -> tuple[int, Suggestion]:
    """A number to sort by, and the rules with their width in words."""
    widths = list(map(width, rules))
    return max(rank for rank, _ in widths), Suggestion(rules, "; ".join(dict.fromkeys(words for _, words in widths)))


def covers(rules: Sequence[str], lowering: Lowering, facts: Facts, policy: Policy, decision: Decision) -> bool:
    """Whether these rules, saved, settle this call."""
    return bool(rules) and _tried(tuple(rules), lowering, facts, policy, decision)


def _tried(rules: tuple[str, ...], lowering: Lowering, facts: Facts, policy: Policy, decision: Decision) -> bool:
    identity = "" if rules else TRIED
    grant = Grant(TRIED, Scope.SESSION, rules=rules, identity=identity, answers=grants.answered(decision))
    settled = grants.settle(lowering, facts, policy, decision, (grant,), identity=identity, running={})
    return settled.outcome is Outcome.ALLOW


# ---------------------------------------------------------------- the subject of the question


class _Asked:
    """Which commands and effects of a call ask: `commands` are those that an ask rule matches by themselves, `tool`
    says that one matches the whole tool, `open` is false if no rule can answer."""

    __slots__ = ("commands", "effects", "tool", "open", "_lowering", "_place")

    def __init__(self, lowering: Lowering, facts: Facts, policy: Policy) -> None:
        self.commands: dict[int, None] = {}
        self.effects: list[tuple[Effect, Part]] = []
        self.tool = False
        self.open = not lowering.has_own_gaps()
        self._lowering = lowering
        self._place = 0
        Judge(lowering, facts, policy, watch=self._judged).decision()
        if self.tool:
            self.commands = {at: None for at, each in enumerate(lowering.invocations) if each.within < 0}

    def _judged(self, subject: Subject, parts: list[Part]) -> None:
        asks = [part for part in parts if part.outcome is ASK]
        if isinstance(subject, Invocation):
            if asks:
                self.commands[self._lowering.runners(self._place)[-1]] = None
            self._place += 1
        elif isinstance(subject, Effect):
            self.effects += ((subject, part) for part in asks)
            self.open = self.open and not any(part.layer in grants.NEVER for part in asks)
        elif asks and subject:
            self.tool = True
        elif asks:
            self.open = False  # a rule that spans operators


def _sets(asked: _Asked, lowering: Lowering, facts: Facts) -> Iterator[tuple[str, ...]]:
    """Rules for everything in question, in growing widths: by command first, then by target."""
    if not asked.open:
        return
    direct: list[Ladder] = []
    commands = dict(asked.commands)
    touched: dict[int, list[Ladder]] = {index: [[]] for index in asked.commands}
    foreign = lowering.tool != "bash" and any(effect.target.kind is Kind.TOOL for effect, _ in asked.effects)
    if asked.tool and lowering.tool != "bash":
        direct.append(rules_on(lowering.tool, lowering.given))
    for effect, part in asked.effects:
        runners = lowering.runners(effect.invocation)
        if runners and (effect.via is not Via.REDIRECT or len(runners) > 1):
            commands[runners[-1]] = None
            touched.setdefault(runners[-1], []).append(_effect_rules(effect, facts, lowering.given))
        elif effect.target.kind is Kind.TOOL or not foreign or part.layer is Layer.ASK:
            direct.append(
                _effect_rules(effect, facts, lowering.given)
            )  # a rule on a foreign tool covers the targets in its arguments
    by_command = [_command_rules(lowering.invocations[index]) for index in commands]
    yield from _widths([*by_command, *direct])
    yield from _widths([*(ladder for index in commands for ladder in touched.get(index, [[]])), *direct])


def _widths(ladders: list[Ladder]) -> Iterator[tuple[str, ...]]:
    """One rule of each ladder, one step wider each time; nothing if something has no rule at all, or if there would be
    more than anybody reads."""
    if not ladders or not all(ladders) or len(set(map(tuple, ladders))) > READABLE:
        return
    for step in range(max(map(len, ladders))):
        yield tuple(dict.fromkeys(ladder[min(step, len(ladder) - 1)] for ladder in ladders))


# ---------------------------------------------------------------- rules for one thing


def _command_rules(invocation: Invocation) -> Ladder:
    """The exact command, then ever shorter prefixes."""
    if invocation.forfeit:
        return []
    words = invocation.words
    rules = [f"bash({' '.join(words)})"] if invocation.literal and all(map(PLAIN.fullmatch, words)) else []
    stems = (words[:count] for count in _stems(invocation))
    rules += [f"bash({' '.join(stem)}:*)" for stem in stems if all(map(SAFE.fullmatch, stem))]
    return [rule for rule in dict.fromkeys(rules) if not refusal(rule)]


def _stems(invocation: Invocation) -> Iterator[int]:
    """How many words to keep before anything may follow."""
    words, program = invocation.words, invocation.program.lower()
    if invocation.subcommand:
        count = _past(words, invocation.subcommand)
        if count and _is_name(words, count):
            yield count + 1
        by_name = words[count - 1] in ("run", "run-script") and has(program, "package-scripts")
        if count and not by_name:  # a wider rule than the script's name is not worth offering
            yield count
    elif has(program, "single-purpose") or ("/" in words[0] and not has(program, "suite")):
        yield 1
    else:
        yield from [at + 1 for at in range(1, len(words)) if _is_name(words, at)][:1]


def _is_name(words: tuple[str, ...], at: int) -> bool:
    return at < len(words) and not words[at].startswith("-") and "=" not in words[at]


def _past(words: tuple[str, ...], subcommand: tuple[str, ...]) -> int:
    """The number of words up to and including the subcommand; 0 if it is not there."""
    at = 0
    for word in subcommand:
        if word not in words[at + 1 :]:
            return 0
        at = words.index(word, at + 1)
    return at + 1


def _effect_rules(effect: Effect, facts: Facts, given: Arguments | None) -> Ladder:
    target = effect.target
    match target.kind:
        case Kind.PATH:
            return _path_rules(effect, facts)
        case Kind.HOST:
            return [f"fetch(domain:{target.name})"] if target.name and not WILD.search(target.name) else []
        case Kind.AGENT:
            return [f"agent({target.name})"] if target.name else []
        case Kind.TOOL:
            return rules_on(target.name, given)
        case (Kind.PROGRAM | Kind.SERVICE | Kind.REPOSITORY | Kind.TREE | Kind.NOTHING) | (
            Kind.HOOKS | Kind.MODULES | Kind.SETTINGS | Kind.CODE
        ):
            return []
    return assert_never(target.kind)


def _path_rules(effect: Effect, facts: Facts) -> Ladder:
    """The file, then its folder, then the topmost folder in the workspace. No wider rule for a removal, nor for a file
    in a hidden folder: those hold settings that run programs."""
    word, name = PATH_TOOLS.get(effect.operation, ""), effect.target.name
    if not word or not effect.target.certain or not name:
        return []
    shown, inside = _shown(name, facts)
    whole, deleting = effect.recursive, effect.operation is Operation.DELETE
    wild = WILD.search(shown)
    if wild is not None:
        if deleting:
            return []
        shown, whole = shown[: wild.start()].rpartition("/")[0], True
    if shown in ("", "/", "~"):
        return []
    rules = [f"{word}({shown}/**)" if whole else f"{word}({shown})"]
    folder, _, _ = shown.rpartition("/")
    above = f"{name.rpartition('/')[0]}/"
    if folder in ("", "~") or deleting or "/." in f"/{folder}" or any(root.startswith(above) for root in facts.roots):
        return rules
    rules.append(f"{word}({folder}/**)")
    if inside and "/" in folder:
        rules.append(f"{word}({folder.partition('/')[0]}/**)")
    return rules


def _shown(name: str, facts: Facts) -> tuple[str, bool]:
    """A path as a rule writes it, and whether it is in the workspace."""
    roots = [root for root in facts.roots if name.startswith(root + "/")]
    if roots:
        rest = name[len(max(roots, key=len)) + 1 :]
        return (f"./{rest}" if rest[:1] in ("~", "*", ".") and not rest[1:2].isalnum() else rest), True
    if facts.home.startswith("/") and name.startswith(facts.home.rstrip("/") + "/"):
        return "~" + name[len(facts.home.rstrip("/")) :], False
    return name, False
