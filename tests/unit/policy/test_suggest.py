"""What is suggested repeats the answer: narrowest first, and for every part that asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from assent.contract.approval import Suggestion
from assent.engine.engine import Judged
from assent.policy import suggest
from tests.cases import call, gate

ONLY_THIS = ((),)


def judged(tool: str, given: Mapping[str, object] | str, mode: str = "default", **rules: Sequence[object]) -> Judged:
    return gate(mode, **rules).judge(call(tool, given), links={})  # type: ignore[arg-type]  # passed on


def suggested(made: Judged) -> tuple[Suggestion, ...]:
    assert made.lowering is not None
    assert made.facts is not None
    assert made.policy is not None
    return suggest.suggest_rules(made.lowering, made.facts, made.policy, made.decision)


def rules(
    tool: str, given: Mapping[str, object] | str, mode: str = "default", **more: Sequence[object]
) -> tuple[tuple[str, ...], ...]:
    return tuple(each.rules for each in suggested(judged(tool, given, mode, **more)))


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("npm run test -- --watch", ["bash(npm run test -- --watch)", "bash(npm run test:*)"]),
        ("git push origin main", ["bash(git push origin main)", "bash(git push origin:*)"]),
        ("make test", ["bash(make test)", "bash(make test:*)"]),
        ("python tools/x.py a", ["bash(python tools/x.py a)", "bash(python tools/x.py:*)"]),
        ("python -m pytest tests", ["bash(python -m pytest tests)", "bash(python -m pytest:*)"]),
        ("./run.sh a", ["bash(./run.sh a)", "bash(./run.sh:*)"]),
        ("rm a.txt", ["bash(rm a.txt)", "delete(a.txt)"]),
        ("docker exec web ls", ["bash(docker exec web ls)"]),
        ("echo hi > src/deep/a.txt", ["write(src/deep/a.txt)", "write(src/deep/**)", "write(src/**)"]),
        ("git commit -m 'two words'", ["bash(git commit:*)"]),
    ],
)
def test_a_command_is_suggested_in_growing_widths(command: str, expected: list[str]) -> None:
    assert rules("bash", command) == tuple((each,) for each in expected)


def test_a_compound_needs_a_rule_for_each_part_that_asked_and_for_no_other() -> None:
    assert rules("bash", "ls && npm test > out.txt") == (
        ("bash(npm test)", "write(out.txt)"),
        ("bash(npm test:*)", "write(out.txt)"),
    )


@pytest.mark.parametrize(
    "command", ["$RUN x", "eval $X", "npm test $(", "PATH=/tmp npm test", "cd /srv && npm test", "xargs rm < list"]
)
def test_what_no_rule_can_name_is_repeated_for_the_identical_call_only(command: str) -> None:
    assert suggested(judged("bash", command)) == (Suggestion((), "this exact call"),)


def test_more_rules_than_anybody_reads_are_not_suggested() -> None:
    many = " && ".join(f"touch f{number}" for number in range(400))
    assert rules("bash", many) == ONLY_THIS
    assert rules("bash", " && ".join(["npm test"] * 50)) == (("bash(npm test)",), ("bash(npm test:*)",))


@pytest.mark.parametrize(
    ("tool", "given", "mode"),
    [
        ("bash", "tar czf /tmp/x.tgz ~", "default"),
        ("bash", "ls", "default"),
        ("bash", "rm -rf /", "default"),
        ("fetch", "https://example.com/x", "plan"),
    ],
)
def test_nothing_is_suggested_where_no_answer_can_be_remembered(tool: str, given: str, mode: str) -> None:
    assert rules(tool, given, mode) == ()


@pytest.mark.parametrize(
    ("tool", "given", "expected"),
    [
        ("write", "src/a/b.py", ["write(src/a/b.py)", "write(src/a/**)", "write(src/**)"]),
        ("write", "README.md", ["write(README.md)"]),
        ("write", "/srv/x/y", ["write(/srv/x/y)", "write(/srv/x/**)"]),
        ("write", "~/notes/x.md", ["write(~/notes/x.md)", "write(~/notes/**)"]),
        ("write", "/etc/hosts", ["write(/etc/hosts)"]),
        ("write", "/workspace/x", ["write(/workspace/x)"]),
        ("write", ".github/workflows/x.yml", ["write(.github/workflows/x.yml)"]),
        ("fetch", "https://docs.example.com/x", ["fetch(domain:docs.example.com)"]),
        ("agent", "reviewer", ["agent(reviewer)"]),
        ("weather", {}, ["weather(only)"]),
        (
            "mcp__gh__create",
            {"repo": "a/b", "title": "It is slow"},
            ['mcp__gh__create(repo = a/b, title = "It is slow")', "mcp__gh__create(repo = a/b, title is any)"],
        ),
        ("note", {"labels": ["a", "b"], "to": {"id": 7}}, ["note(labels in [a, b], to.id = 7)"]),
        (
            "refund",
            {"amount": 5, "currency": "EUR"},
            ["refund(amount = 5, currency = EUR)", "refund(amount <= 5, currency = EUR)"],
        ),
    ],
)
def test_other_tools_are_suggested_by_what_they_touch(
    tool: str, given: Mapping[str, object] | str, expected: list[str]
) -> None:
    assert rules(tool, given) == tuple((each,) for each in expected)


def test_a_name_with_wildcards_of_its_own_suggests_no_wider_rule_by_accident() -> None:
    assert rules("write", "src/[a].py") == (("write(src/**)",),)
    assert rules("mcp__gh__*", {}) == ONLY_THIS


def test_an_ask_rule_is_answered_along_with_its_part() -> None:
    ask: Sequence[object] = ["bash(git push:*)", "bash(git:*)"]
    assert rules("bash", "git push origin x", "full_auto", ask=ask) == (
        ("bash(git push origin x)",),
        ("bash(git push origin:*)",),
    )


def test_edited_rules_are_tried_on_the_very_call() -> None:
    made = judged("bash", "npm test > out.txt")
    assert made.lowering is not None
    assert made.facts is not None
    assert made.policy is not None
    for edited, expected in (
        (("bash(npm:*)", "write(out.txt)"), True),
        (("bash(npm test:*)",), False),
        (("bash(npm test",), False),
        ((), False),
    ):
        assert suggest.covers(edited, made.lowering, made.facts, made.policy, made.decision) is expected


def test_the_width_says_how_far_a_rule_reaches() -> None:
    assert [each.width for each in suggested(judged("bash", "npm test > out.txt"))] == [
        "exactly `npm test`, while its tasks stay as they are; the file out.txt",
        "`npm test` with other arguments, but no options that run, load or reach something else, while its tasks "
        "stay as they are; the file out.txt",
    ]
