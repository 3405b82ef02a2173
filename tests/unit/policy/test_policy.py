"""What the prefilter lets by, no rule reaches."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assent.policy.index import PathIndex
from assent.policy.parse import parse_rule
from assent.policy.policy import PathPrefilter

NAME = st.sampled_from(["a", "b*", "**", "*.cfg", "?d", "long-name", "long*", "*-name", "[ab]c", ".env", "[a-b]d"])
PATTERN = st.tuples(st.sampled_from(["/", "**/", "~/", ""]), st.lists(NAME, min_size=1, max_size=4)).map(
    lambda pair: pair[0] + "/".join(pair[1])
)
PATH = st.lists(
    st.sampled_from(["a", "bb", "x.cfg", "dd", "long-name", "longer", "my-name", "ac", ".env", "home", "w"]),
    min_size=0,
    max_size=6,
).map(lambda names: "/" + "/".join(names))


def path_index(patterns: list[str]) -> PathIndex:
    rules = [parse_rule(f"read({pattern})", number=number) for number, pattern in enumerate(patterns)]
    return PathIndex(rules, ("/w",), "/home")


@given(st.lists(st.lists(PATTERN, max_size=3), max_size=3), PATH)
def test_no_path_rule_reaches_a_path_that_the_prefilter_lets_by(layers: list[list[str]], path: str) -> None:
    indexes = [path_index(patterns) for patterns in layers]
    prefilter = PathPrefilter.over(indexes)
    for _ in range(2):  # the second time from memory
        if not prefilter.holds(path):
            near = [glob for index in indexes for glob, _ in index.near(path)]
            assert [glob for glob in near if glob.covers(path) or glob.roots(path)] == []


@given(st.lists(st.lists(PATTERN, max_size=3), max_size=3), PATH)
def test_no_path_rule_lies_below_a_folder_that_the_prefilter_lets_by(layers: list[list[str]], path: str) -> None:
    indexes = [path_index(patterns) for patterns in layers]
    if not PathPrefilter.over(indexes).holds_below(path):
        assert [list(index.below(path)) for index in indexes] == [[] for _ in indexes]


def test_the_prefilter_holds_what_rules_speak_of_and_lets_the_rest_by() -> None:
    outside = path_index(["/etc/*", "**/.env", "~/*.key", "/srv/*/data"])
    prefilter = PathPrefilter.over([outside, path_index(["src/**"])])
    held = ["/etc", "/etc/x", "/etc/x/y", "/any/.env", "/any/.env/x", "/w/src", "/w/src/a"]
    held += ["/home/my.key", "/home/my.key/x", "/srv/a/data/x", "/srv/a", "/srv"]
    free = ["/", "/w", "/w/docs", "/home/a/.environment", "/usr/etc", "/home/src/my.key", "/srv/a/b/c"]
    assert [path for path in (*held, *free) if prefilter.holds(path)] == held
    assert [folder for folder in ("/", "/w", "/w/src", "/srv") if prefilter.holds_below(folder)] == ["/", "/w"]


def test_a_path_of_a_thousand_folders_is_looked_at_without_running_out_of_stack() -> None:
    prefilter = PathPrefilter.over([path_index(["/etc/*", "**/needle"])])
    assert not prefilter.holds("/x" * 2000)
    assert prefilter.holds("/x" * 1000 + "/needle" + "/x" * 1000)
