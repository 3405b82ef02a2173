"""The index never loses a rule that could match."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assent.policy.index import PathIndex, Trigrams
from assent.policy.parse import parse_rule

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
