"""The shipped rules mean what their own examples show, and every id is unique."""

from __future__ import annotations

import tomllib
from collections import Counter

import pytest

from assent.contract import Effect, Kind, Operation, PolicyError, Target
from assent.contract.packs import OFFERED, PACKS, PROVED, RULES
from assent.engine.engine import Engine
from assent.policy import shipped
from assent.policy.dangers import DANGERS
from assent.policy.document import document_of
from assent.policy.rules import Origin, RuleKind
from assent.policy.ruleset import RuleSet
from tests.cases import call, gate

FILES = ("floor", "defaults")
ENTRIES = [
    (name, section, entry) for name in FILES for section, found in shipped.entries(name).items() for entry in found
]


@pytest.mark.parametrize(("name", "section", "entry"), ENTRIES, ids=lambda value: getattr(value, "id", str(value)))
def test_an_entry_matches_its_examples_and_not_the_others(name: str, section: str, entry: shipped.ShippedEntry) -> None:
    rules = RuleSet(
        [rule.numbered(number) for number, rule in enumerate(entry.rules)], ("/w", "/workspace/repo"), "/home/a"
    )
    for text in entry.match:
        assert speaks(rules, text), text
    for text in entry.not_match:
        assert not speaks(rules, text), text


def speaks(rules: RuleSet, text: str) -> bool:
    if text.startswith("/"):
        found = (Effect(each, Target(Kind.PATH, text)) for each in (Operation.READ, Operation.WRITE))
        return any(True for effect in found for _ in rules.reaching_effect(effect, (text,)))
    lowering = gate().lower(call("bash", text))
    return any(True for each in lowering.invocations for _ in rules.reaching_command(each))


def test_ids_are_unique() -> None:
    counted = Counter(entry.id for name, _, entry in ENTRIES if name == "defaults")
    assert max(counted.values()) == 1


def test_every_danger_a_shipped_rule_names_exists() -> None:
    named = {rule.spec for _, _, entry in ENTRIES for rule in entry.rules if rule.about is RuleKind.DANGER}
    assert named <= DANGERS.keys()


def test_every_entry_gives_a_reason() -> None:
    assert [entry.id for _, _, entry in ENTRIES if not entry.reason] == []


@pytest.mark.parametrize("pack", RULES)
def test_a_packs_rules_match_their_examples(pack: str) -> None:
    ready = gate()
    for entry in shipped.entries(f"packs/{pack}")["rule"]:
        rules = RuleSet([rule.numbered(number) for number, rule in enumerate(entry.rules)], ("/w",), "/home/a")
        for text, wanted in [(each, True) for each in entry.match] + [(each, False) for each in entry.not_match]:
            assert proves(rules, text, ready) is wanted, (entry.id, text)
        assert entry.match, entry.id


def proves(rules: RuleSet, text: str, ready: Engine) -> bool:
    if rules.every()[0].about is RuleKind.PATH:
        operation = Operation.WRITE if Operation.WRITE in rules.every()[0].operations else Operation.DELETE
        return rules.proving_effect(Effect(operation, Target(Kind.PATH, text)), (text,)) is not None
    found = ready.lower(call("bash", text)).invocations
    return bool(found) and all(rules.proving_command(each) for each in found)


def test_the_policy_to_start_from_turns_on_the_packs_that_are_offered_and_says_what_they_are_for() -> None:
    text = shipped.starter()
    said = document_of(tomllib.loads(text), "user", Origin.USER)
    assert said.packs == OFFERED
    assert [name for name in OFFERED if f"#   {name}: {PACKS[name]}\n" not in text] == []


def test_a_pack_that_is_proved_by_facts_has_no_rules_and_an_unknown_one_is_an_error() -> None:
    assert [shipped.pack_rules(name) for name in PROVED] == [[] for _ in PROVED]
    with pytest.raises(PolicyError, match="unknown pack"):
        shipped.pack_rules("rebuilt")
