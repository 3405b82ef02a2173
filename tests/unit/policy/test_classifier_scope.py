"""Which questions a model may judge, one example for each side of the line."""

from __future__ import annotations

import pytest

from assent.contract import Outcome
from assent.engine.engine import Judged
from assent.policy.classifier_scope import in_scope, version
from assent.policy.document import document_of
from assent.policy.rules import Origin
from tests.cases import call, gate


def may(made: Judged) -> bool:
    assert made.lowering is not None
    assert made.facts is not None
    assert made.policy is not None
    return in_scope(made.lowering, made.facts, made.policy, made.decision)


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("bash", "npm test"),
        ("bash", "cd src && make -j4 | tee log.txt"),
        ("bash", "cp a /srv/b"),
        ("write", {"file_path": "src/a.py", "content": "x"}),
        ("write", {"file_path": "/srv/a.py", "content": "x"}),
        ("fetch", "https://example.com/docs"),
        ("agent", "reviewer"),
        ("mcp__tracker__create_issue", {"title": "x"}),
        ("frobnicate", {"a": 1}),
    ],
)
def test_what_the_mode_alone_asks_about_may_be_judged(tool: str, given: str | dict[str, object]) -> None:
    assert may(gate("default").judge(call(tool, given), links={}))


@pytest.mark.parametrize(
    "command",
    [
        *("ls", "true"),  # allowed
        *("rm -rf /", "cat ~/.ssh/id_rsa"),  # denied, on the floor
        *("git push --force", "tar cf x.tar ~"),  # a shipped ask rule, a folder that holds credentials
        *("$X", "eval $Y", "cat <(", "cat $X"),  # could not be read, or not be named
        *("rm notes.txt", "mv a b", "git reset --hard"),  # high risk
        *("PATH=/tmp:$PATH npm test", "LD_PRELOAD=./x.so make", "NODE_OPTIONS='-r ./x' npm test"),
        *("npm test && rm notes.txt", "npm test; $X", "npm test && git push --force", "npm test | sh"),
    ],
)
def test_whatever_else_stands_behind_a_question_keeps_the_model_out(command: str) -> None:
    assert not may(gate("default").judge(call("bash", command), links={}))


@pytest.mark.parametrize("mode", ["plan", "full_auto", "yolo"])
@pytest.mark.parametrize(("tool", "given"), [("fetch", "https://example.com"), ("agent", "x"), ("bash", "npm test")])
def test_in_plan_mode_and_where_the_mode_asks_nothing_no_model_is_asked(mode: str, tool: str, given: str) -> None:
    assert not may(gate(mode).judge(call(tool, given), links={}))


@pytest.mark.parametrize("rules", [{"ask": ["bash(npm:*)"]}, {"deny": ["bash(npm:*)"]}, {"ask": ["bash"]}])
def test_a_rule_of_anybody_keeps_the_model_out(rules: dict[str, list[str]]) -> None:
    assert not may(gate("default", **rules).judge(call("bash", "npm test"), links={}))  # type: ignore[arg-type]


@pytest.mark.parametrize("origin", [Origin.MANAGED, Origin.PROJECT])
def test_a_rule_of_the_machine_or_the_project_does_too(origin: Origin) -> None:
    more = [document_of({"ask": ["bash(npm:*)"]}, "theirs", origin)]
    assert not may(gate("default", more=more).judge(call("bash", "npm test"), links={}))


def test_a_danger_whose_rule_is_switched_off_stays_a_persons() -> None:
    off = [document_of({"defaults": {"off": ["git-discard"]}}, "mine", Origin.USER)]
    made = gate("default", more=off).judge(call("bash", "git checkout -- ."), links={})
    assert (made.decision.outcome, may(made)) == (Outcome.ASK, False)


def test_a_link_that_leads_to_what_a_rule_speaks_of_keeps_the_model_out() -> None:
    links = {"/workspace/repo/out": "/etc/passwd"}
    write = call("write", {"file_path": "out", "content": "x"})
    one = gate("default", ask=["write(/etc/*)"])
    assert [may(one.judge(write, links=each)) for each in ({}, links)] == [True, False]


def test_a_policys_version_changes_with_every_rule_and_mode() -> None:
    bound = [
        gate(mode, **rules).settings.bind(("/w",), "/h")  # type: ignore[arg-type]  # passed through
        for mode, rules in (
            ("default", {}),
            ("auto", {}),
            ("default", {"ask": ["bash(x)"]}),
            ("default", {"deny": ["bash(x)"]}),
            ("default", {"allow": ["bash(x)"]}),
        )
    ]
    assert len({version(each) for each in bound}) == len(bound)
    assert version(bound[0]) == version(gate("default").settings.bind(("/w",), "/h"))
