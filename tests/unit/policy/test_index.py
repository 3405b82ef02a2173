"""The index never loses a rule that could match."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.contract import PolicyError
from assent.effects.shell import lower
from assent.policy.index import PathIndex, Trigrams
from assent.policy.match import forms, reaches_command
from assent.policy.parse import parse_rule
from assent.policy.rules import Rule
from assent.policy.ruleset import RuleSet

TEXT = st.text(alphabet="abcd/.", max_size=12)


@given(st.lists(TEXT, max_size=20), TEXT)
def test_trigrams_give_every_item_whose_need_the_text_meets(needs: list[str], text: str) -> None:
    index = Trigrams()
    for number, need in enumerate(needs):
        index.add(need, number)
    found = index.candidates(text)
    assert {number for number, need in enumerate(needs) if need in text} <= set(found)
    assert found == sorted(found)  # as they were filed, whatever order a set has today


def test_trigrams_try_every_need_on_a_very_long_text() -> None:
    index = Trigrams()
    index.add("needle", 7)
    assert index.candidates("x" * 10_000 + "needle") == [7]


PATTERN = st.lists(st.sampled_from(["a", "b*", "**", "*.c", "?d", "long-name"]), min_size=1, max_size=4).map(
    lambda names: "/" + "/".join(names)
)
PATH = st.lists(st.sampled_from(["a", "bb", "x.c", "dd", "long-name"]), min_size=1, max_size=5).map(
    lambda names: "/" + "/".join(names)
)


@given(st.lists(PATTERN, max_size=10, unique=True), PATH)
def test_a_path_index_gives_every_rule_that_covers_the_path(patterns: list[str], path: str) -> None:
    rules = [parse_rule(f"read({pattern})", number=number) for number, pattern in enumerate(patterns)]
    index = PathIndex(rules, (), "")
    near = {rule.number for _, rule in index.near(path)}
    covering = {rule.number for glob, rule in index.every() if glob.covers(path)}
    assert covering <= near


@given(st.lists(PATH, max_size=10), st.sets(st.sampled_from(["a", "bb", "dd", "else"])))
def test_the_first_rule_that_begins_in_a_folder_is_found(patterns: list[str], folders: set[str]) -> None:
    rules = [parse_rule(f"write(**{pattern})", number=number) for number, pattern in enumerate(patterns)]
    found = PathIndex(rules, (), "").beginning_in(folders)
    first = next((rule for rule in rules if rule.spec.count("/") > 1 and rule.spec.split("/")[1] in folders), None)
    assert found is first


WORDS = (
    "git push npm run -f --force -C x ls a.sh ./a.sh /usr/bin/git A=1 sudo env é * pu* *sh *g*t {a,b} g{it,o} a*b "
    "-* --opt=* $X main"
).split()
WORD = st.sampled_from([*WORDS, '"q w"', "'push x'", "'My App/run'", "'/o/My App/run'", " ls"])
SPEC = st.tuples(st.sampled_from(["", "*"]), st.lists(WORD, min_size=1, max_size=4), st.sampled_from(["", ":*", "*"]))


def parsed(specs: list[str]) -> list[Rule]:
    rules = []
    for number, spec in enumerate(specs):
        try:
            rules.append(parse_rule(f"bash({spec})", number=number))
        except PolicyError:
            continue  # is no rule
    return rules


def missed(rules: list[Rule], command: str) -> list[str]:
    """The rules that reach a part of a command, and that looking them up does not bring."""
    layer = RuleSet(rules, ("/w",), "/home")
    every, found = set[Rule](), set[Rule]()
    for each in lower(command, cwd="/w", home="/home", shell="bash").invocations:
        reached = {rule for rule in rules if rule.words and reaches_command(rule, each, forms(each))}
        brought = set(layer.reaching_command(each))
        every |= reached
        found |= brought
    return sorted(rule.spec for rule in every - found)


@given(
    st.lists(SPEC.map(lambda spec: spec[0] + " ".join(spec[1]) + spec[2]), max_size=6),
    st.lists(WORD, min_size=1, max_size=5).map(" ".join),
)
def test_no_rule_that_reaches_a_command_is_missed(specs: list[str], command: str) -> None:
    assert missed(parsed(specs), command) == []


@pytest.mark.parametrize(
    ("spec", "command"),
    [
        ("A=1 ls", "A=1  ls"),
        ("A=1:*", "A=1 ls -l"),
        ("* foo  bar", "ls foo bar"),
        ("*ls -l x", "ls x -l"),
        ("psql -c DROP *", "psql -c 'DROP TABLE x'"),
        ("/o/My App/run:*", "'/o/My App/run' x"),
        ('"q w" *', '"q w" x'),
        ("*'/o/My App/run'", "git '/o/My App/run'"),
    ],
)
def test_a_rule_is_found_however_the_command_is_written(spec: str, command: str) -> None:
    (rule,) = parsed([spec])
    parts = lower(command, cwd="/w", home="/home", shell="bash").invocations
    assert any(reaches_command(rule, each, forms(each)) for each in parts)
    assert missed([rule], command) == []
