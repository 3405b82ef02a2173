"""Tools that an embedding program declares: only what is declared is known of them."""

from __future__ import annotations

from typing import Any

import pytest

from assent.contract import Call, Outcome, PayloadError
from assent.effects.declared import Tool
from assent.engine.engine import Engine
from assent.policy.document import document_of
from assent.policy.rules import Origin
from assent.policy.settings import combine

ALLOW, ASK, DENY = Outcome.ALLOW, Outcome.ASK, Outcome.DENY


def outcome(
    tool: Tool | None, input: dict[str, object], *, name: str = "thing", policy: dict[str, object] | None = None
) -> Outcome:
    settings = combine([document_of(policy or {"mode": "auto"}, "code", Origin.USER)])
    gate = Engine(settings, tools={} if tool is None else {name: tool})
    call = Call(name, input, cwd="/w", roots=("/w",), home="/home/ada", runtime="langchain")
    return gate.decide(call).outcome


@pytest.mark.parametrize(
    ("tool", "input", "wanted"),
    [
        (None, {"query": "x"}, ASK),
        (Tool("nothing"), {"query": "x"}, ALLOW),
        (Tool("read"), {"query": "x"}, ALLOW),
        (Tool("read", paths=["path"]), {"path": "notes.md"}, ALLOW),
        (Tool("read", paths=["path"]), {"path": "~/.ssh/id_rsa"}, DENY),
        (Tool("read", paths=["path"]), {"path": "notes.md", "other": "/home/ada/.ssh/id_rsa"}, DENY),
        (Tool("read", paths=["path"]), {"path": "notes.md", "more": {"path": "/home/ada/.ssh/id_rsa"}}, DENY),
        (Tool("read", paths=["path"]), {"path": {"path": "/home/ada/.ssh/id_rsa"}}, DENY),
        (Tool("read", paths=["path"]), {"path": 7}, ASK),
        (Tool("read", paths=["path"]), {}, ASK),
        (Tool("read", paths=["path"]), {"path": [""]}, ASK),
        (Tool("read", paths=["path"]), {"PATH": "notes.md"}, ALLOW),
        (Tool("read", paths=["path"]), {"path": "https://example.com/x"}, ASK),
        (Tool("read", paths=["path"]), {"path": "s3://bucket/x"}, ASK),
        (Tool("read", paths=["path"]), {"path": "file:///home/ada/.ssh/id_rsa"}, DENY),
        (Tool("read", paths=["path"]), {"path": " ~/.ssh/id_rsa"}, DENY),
        (Tool("list", paths=["path"]), {}, ALLOW),
        (Tool("write", paths=["datei"]), {"Datei": "/etc/passwd"}, DENY),
        (Tool("write", paths=["path"]), {"path": "notes.md"}, ALLOW),
        (Tool("write", paths=["path"]), {"path": "/srv/notes.md"}, ASK),
        (Tool("write", paths=["path"]), {"name": "notes.md"}, ASK),
        (Tool("write", paths=["path"], addresses=["url"]), {"url": "https://example.com"}, ASK),
        (Tool("delete", paths=["paths"]), {"paths": ["a", "b"]}, ASK),
        (Tool("fetch", addresses=["url"]), {"url": "https://example.com/x"}, ASK),
        (Tool("fetch"), {}, ASK),
        (Tool("execute", paths=["path"]), {"path": "notes.md"}, ASK),
        (Tool(like="bash"), {"command": "git status"}, ALLOW),
        (Tool(like="bash"), {"command": "rm -rf ~"}, DENY),
        (Tool(like="bash"), {"command": "git status", "cwd": "/srv"}, ASK),
    ],
)
def test_a_declared_tool_does_what_is_declared(tool: Tool | None, input: dict[str, object], wanted: Outcome) -> None:
    assert outcome(tool, input) is wanted


@pytest.mark.parametrize("name", ["search", "read", "plan", "think", "todo", "ls", "task_output", "write"])
def test_in_a_framework_a_familiar_name_says_nothing(name: str) -> None:
    assert outcome(None, {"query": "x", "path": "a"}, name=name) is ASK


def test_rules_name_a_declared_tool() -> None:
    for tool in (Tool("nothing"), Tool("read", paths=["path"]), Tool(like="read")):
        assert outcome(tool, {"path": "a"}, policy={"deny": ["thing"]}) is DENY
        assert outcome(tool, {"path": "a"}, policy={"ask": ["thing"]}) is ASK
    assert outcome(Tool("execute"), {}, policy={"allow": ["thing"]}) is ALLOW


def test_an_allow_rule_on_a_declared_tool_is_no_way_past_a_denial() -> None:
    tool = Tool("write", paths=["path"])
    assert outcome(tool, {"path": "/srv/x"}, policy={"allow": ["thing"]}) is ALLOW
    assert outcome(tool, {"path": "~/.bashrc"}, policy={"allow": ["thing"], "deny": ["write(~/.bashrc)"]}) is DENY


def test_plan_lets_only_what_looks_pass() -> None:
    policy: dict[str, object] = {"mode": "plan"}
    assert outcome(Tool("read", paths=["path"]), {"path": "a"}, policy=policy) is ALLOW
    assert outcome(Tool("write", paths=["path"]), {"path": "a"}, policy=policy) is DENY
    assert outcome(Tool("write", paths=["path"]), {}, policy=policy) is DENY


@pytest.mark.parametrize("wrong", [{"operation": "frob"}, {"like": "frob"}, {"like": "think"}, {"paths": "path"}])
def test_a_declaration_that_means_nothing_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(PayloadError):
        Tool(**wrong)
