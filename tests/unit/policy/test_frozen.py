"""Settings that were serialized and loaded are the same settings."""

from __future__ import annotations

import json

import pytest

from assent.contract import Call
from assent.engine.engine import Engine
from assent.policy.document import Document, read_document
from assent.policy.frozen import FrozenSettings, freeze
from assent.policy.frozen_rules import FrozenRules, Rows
from assent.policy.rules import Origin, RuleKind
from assent.policy.ruleset import RuleSet
from assent.policy.settings import Settings, combine
from tests.cases import HOME, ROOT

USER = """
mode = "auto"
allow = ["bash(cargo test:*)", "write(docs/**)", "bash(make {a,b})", "mcp__docs", "fetch(domain:example.com)"]
ask = ["bash(git push:*)", "agent(reviewer)", "bash(* --force)", "refund(amount <= 5)"]
deny = [
  "path(/etc/*)",
  "read(**/.env)",
  { rule = "bash(npm publish:*)", message = "releases are made by CI", match = ["npm publish --tag next"] },
]
[packs]
on = ["dev-tasks", "git-local"]
[defaults]
off = ["git-discard"]
[approval]
timeout = 20
[classifier]
on = true
api = "openai"
model = "small-1"
timeout = 3
input_price = 0.5
[contain]
on = true
network = ["registry.npmjs.org"]
hidden = ["~/notes"]
limits = { memory = "2 GB" }
[commands."mine sync"]
options = "-n,--dry-run"
operands = "READ*"
[tools.mcp__files__read]
reads = ["path"]
[agent.explore]
mode = "plan"
deny = ["bash(ls:*)", "refund(amount > 5)"]
"""
PROJECT = 'deny = ["bash(terraform apply:*)"]\nmax_mode = "auto"\n'
LAYERS = ("floor", "deny", "ask", "allow")
RULES = Settings.__slots__


def made(*texts: tuple[str, Origin]) -> Settings:
    documents: list[Document] = [read_document(text, f"/{origin.word}.toml", origin) for text, origin in texts]
    return combine(documents)


def thawed(settings: Settings, *, fold: bool = False, trust: bool | None = None) -> FrozenSettings:
    parts = freeze(settings, settings.bind((ROOT,), HOME, fold=fold), (ROOT,), HOME, fold=fold, trust=trust)
    return FrozenSettings({name: text.encode("ascii") for name, text in parts.items()})


ALL = [(), ((USER, Origin.USER),), ((USER, Origin.USER), (PROJECT, Origin.PROJECT))]


@pytest.mark.parametrize("texts", ALL, ids=["shipped", "user", "project"])
def test_every_field_comes_back(texts: tuple[tuple[str, Origin], ...]) -> None:
    settings = made(*texts)
    back = thawed(settings)
    assert {name: getattr(back, name) for name in RULES} == {name: getattr(settings, name) for name in RULES}


@pytest.mark.parametrize("trust", [None, True, False])
def test_what_was_known_of_the_folder_comes_back(trust: bool | None) -> None:
    assert thawed(made(), trust=trust).trust is trust


@pytest.mark.parametrize("fold", [False, True])
def test_another_workspace_is_bound_anew(fold: bool) -> None:
    settings = made(*ALL[2])
    plain, frozen = Engine(settings), Engine(thawed(settings, fold=fold))
    for command in ("cat .env", "ls /etc/x", "cat /elsewhere/.env", "npm publish", "git push --force", "cargo test a"):
        call = Call("bash", {"command": command}, cwd="/elsewhere", roots=("/elsewhere",), home="/home/other")
        assert frozen.decide(call, links={}) == plain.decide(call, links={})


def test_only_the_workspace_that_it_was_bound_to_fits() -> None:
    back = thawed(made())
    assert back.fits((ROOT,), HOME, False)
    assert not any(
        back.fits(*other) for other in [((ROOT, "/x"), HOME, False), ((ROOT,), "/", False), ((ROOT,), HOME, True)]
    )


@pytest.mark.parametrize("text", [b"", b"{}", b"[]", b'{"mode": 9}', b"null"])
def test_what_is_no_snapshot_is_refused(text: bytes) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        FrozenSettings({"settings": text})


@pytest.mark.parametrize("layer", LAYERS)
def test_rules_on_commands_are_filed_as_they_were(layer: str) -> None:
    settings = made(*ALL[2])
    plain: RuleSet = getattr(settings.bind((ROOT,), HOME), layer)
    frozen: RuleSet = getattr(thawed(settings).bind((ROOT,), HOME), layer)
    assert json.dumps(frozen.commands.plain()) == json.dumps(plain.commands.plain())
    assert frozen.commands.whole == plain.commands.whole
    for rule in plain.about(RuleKind.COMMAND):
        program, *words = rule.spec.split() or [""]
        asked = program, tuple(words), (rule.spec, rule.spec.replace("*", "x"))
        assert frozen.commands.near(*asked) == plain.commands.near(*asked)
        assert [*frozen.commands.in_text(rule.spec)] == [*plain.commands.in_text(rule.spec)]


def test_only_rules_that_a_command_comes_near_are_made() -> None:
    rules = thawed(made()).bind((ROOT,), HOME).floor
    assert isinstance(rules, FrozenRules)
    near = rules.commands.near("claude", ("--bare",), ("claude --bare",))
    assert near
    assert isinstance(rows := rules.commands._rules, Rows)
    assert len(rows._made) == len(near) < len(rows)
