"""No rule matches what the prefilters skip."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assent.contract import Facts, Invocation
from assent.policy import floor
from assent.policy.index import CommandIndex, PathIndex
from assent.policy.match import forms
from assent.policy.parse import parse_rule
from assent.policy.policy import NEEDLES, CommandPrefilter, PathPrefilter, _shared
from assent.policy.ruleset import RuleSet
from assent.programs.traits import has
from tests.cases import CORPUS, HOME, ROOT, call, gate, rows
from tests.examples import some

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


COMMAND = st.sampled_from(
    ["git push", "git push:*", "git * --force", "* --force", "make", "npm run:*", "rm -rf /:*", "*orc*"]
)
WORDS = st.lists(st.sampled_from(["git", "push", "--force", "make", "npm", "run", "rm", "-rf", "/"]), min_size=1)


@given(st.lists(st.lists(COMMAND, max_size=3), max_size=3), WORDS)
def test_no_command_rule_is_near_a_command_that_the_prefilter_lets_by(
    layers: list[list[str]], words: list[str]
) -> None:
    indexes = [
        CommandIndex([parse_rule(f"bash({text})", number=number) for number, text in enumerate(texts)])
        for texts in layers
    ]
    invocation = Invocation(words[0], tuple(words), source=" ".join(words))
    if not CommandPrefilter.over(indexes).holds(invocation):
        found = [index.near(words[0], tuple(words[1:]), forms(invocation)) for index in indexes]
        assert found == [[] for _ in indexes]


@given(st.lists(st.text("abc-1", max_size=7), max_size=40, unique=True))
def test_of_many_texts_each_contains_one_of_the_few_that_are_searched(needles: list[str]) -> None:
    few = _shared(needles)
    assert len(few) > NEEDLES or all(any(text in needle for text in few) for needle in needles)


def test_many_rules_with_letters_in_common_hold_back_only_commands_with_these() -> None:
    rules = [parse_rule(f"bash(* --never-{number})", number=number) for number in range(500)]
    prefilter = CommandPrefilter.over([CommandIndex(rules)])
    held = ["ls --never-7", "git x --never-499", "ls --no"]
    free = ["ls -la", "git push --force", "make x-7"]
    texts = {text: Invocation(text.split()[0], tuple(text.split()), source=text) for text in (*held, *free)}
    assert [text for text, invocation in texts.items() if prefilter.holds(invocation)] == held


def test_no_command_of_the_corpus_that_the_prefilter_lets_by_is_judged_by_a_rule() -> None:
    engine = gate()
    policy = engine.settings.bind((ROOT,), HOME)
    facts, missed, judged = Facts(), [], 0
    for name in sorted(path.stem for path in CORPUS.glob("*.jsonl")):
        for row in some(rows(name)):
            given = row["input"]
            text = given.get("command") if isinstance(given, dict) else None
            for each in engine.lower(call("bash", text)).invocations if isinstance(text, str) else ():
                if policy.commands.holds(each) or floor.checks_command(each, facts):
                    continue
                judged += 1
                layers: tuple[RuleSet, ...] = (policy.deny, policy.ask)
                if floor.judge_command(policy.floor, each, facts) or any(
                    True for rules in layers for _ in rules.reaching_command(each)
                ):
                    missed.append(each.source)
    assert missed == []
    assert judged > 250


def test_every_program_with_a_check_of_the_floor_passes_the_prefilter() -> None:
    for program in ("python3", "pypy", "env", "npx", "tmux", "assent", "assent-hook", "node", "chroot"):
        assert has(program, "judged-by-floor"), program
