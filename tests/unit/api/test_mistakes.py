"""Mistakes that the author of a program can make: each is an error that says what to write, and none opens the gate."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from assent import Answer, Approval, AssentError, Call, Gate, Outcome, PayloadError, PolicyError, Said, Tool
from assent.contract import Decision, Layer, Part
from assent.contract.approval import Ending, Resolution, Verdict
from assent.contract.classifier import Opinion
from assent.engine.engine import Engine
from assent.policy.document import document_of, read_document
from assent.policy.manifest import read_manifest
from assent.policy.rules import Origin
from assent.policy.settings import combine
from assent.sdk.openharness_checker import PathRule, PermissionChecker, PermissionDecision, PermissionSettings
from assent.tools import Toolset

PART = Part(Outcome.DENY, Layer.DENY, "rule.deny", "no")
DECISION = Decision(Outcome.DENY, PART)
Opens = Callable[..., Gate]


@pytest.fixture
def opens(tmp_path: Path) -> Opens:
    def opened(**given: Any) -> Gate:
        return Gate(str(tmp_path), files=False, state=str(tmp_path / "state"), **{"channels": ["nobody"], **given})

    return opened


@pytest.mark.parametrize("name", ["allow", "ask", "deny"])
@pytest.mark.parametrize("given", ["refund", b"refund", {"refund": True}, None, 3, [b"refund"], [["refund"]], [None]])
def test_rules_that_are_no_list_of_texts_are_refused(opens: Opens, name: str, given: object) -> None:
    with pytest.raises(PayloadError, match=f"`{name}` must be a list"):
        opens(**{name: given})


def test_a_text_for_a_list_is_named_as_it_should_be_written(opens: Opens) -> None:
    with pytest.raises(PayloadError, match=r"write `deny=\['refund'\]`"):
        opens(deny="refund")
    with pytest.raises(PolicyError, match=r'write `deny = \["refund"\]`'):
        opens(policy='deny = "refund"')
    with pytest.raises(PolicyError, match=r'write `ask = \["refund"\]`'):
        opens(policy={"ask": "refund"})


@pytest.mark.parametrize("given", [["refund"], ("refund",), {"refund"}, iter(["refund"])])
def test_whatever_gives_texts_one_by_one_is_a_list(opens: Opens, given: Any) -> None:
    with opens(deny=given, mode="full_auto") as gate:
        assert gate.decide(gate.call("refund", {})).outcome is Outcome.DENY


@pytest.mark.parametrize(
    "make",
    [
        lambda: Tool("write", paths="target"),
        lambda: Tool("fetch", addresses={"url": "x"}),  # type: ignore[arg-type]
        lambda: Call("bash", {}, roots="/srv"),
        lambda: Answer(Said.ALLOW, rules="bash(ls:*)"),  # type: ignore[arg-type]
        lambda: PermissionSettings(denied_tools="bash"),
        lambda: PermissionSettings(denied_commands="rm *"),
        lambda: PermissionSettings(allowed_tools="bash"),
        lambda: PermissionChecker(PermissionSettings(path_rules={"pattern": "/etc/*", "allow": False})),  # type: ignore[arg-type]
        lambda: PermissionChecker(PermissionSettings(path_rules=["/etc/*"])),
        lambda: combine([], session_rules={"deny": "bash"}),
        lambda: Toolset(None, names="bash"),  # type: ignore[arg-type]
    ],
)
def test_a_text_is_a_list_nowhere(make: Callable[[], object]) -> None:
    with pytest.raises(PayloadError, match=r"must be a list|is no path rule"):
        make()


def test_settings_of_theirs_with_a_text_for_a_list_are_refused() -> None:
    whole = {"mode": "default", "allowed_tools": [], "denied_tools": [], "path_rules": [], "denied_commands": []}
    for name in ("allowed_tools", "denied_tools", "path_rules", "denied_commands"):
        with pytest.raises(PayloadError, match="must be a list"):
            PermissionChecker(SimpleNamespace(**{**whole, name: "bash"}))
    settings = SimpleNamespace(**whole)
    checker = PermissionChecker(settings)
    settings.denied_tools = "bash_tool"
    assert not checker.evaluate("bash", is_read_only=True).allowed  # changed later, it denies
    assert PermissionChecker(SimpleNamespace(**{**whole, "path_rules": [PathRule("/etc/*", False)]})).path_rules


@pytest.mark.parametrize(
    "text",
    [
        'deny = "bash"',
        'ask = "bash"',
        'allow = "bash"',
        'deny = [{ rule = "bash", match = "ls" }]',
        '[packs]\non = "git-local"',
        '[defaults]\noff = "x"',
        '[workspace]\nextra = "/srv"',
        '[webhook]\nurl = "https://example.com"\nusers = "ann"',
        '[commands.mine]\naliases = "x"',
    ],
)
def test_a_text_for_a_list_in_a_file_is_an_error(text: str) -> None:
    with pytest.raises(PolicyError, match="list"):
        Engine(combine([read_document(text, "config.toml", Origin.USER)]))
    if text.startswith(("deny", "ask", "allow")):
        with pytest.raises(PolicyError, match="list"):
            read_manifest(f'name = "mine"\n{text}', "assent.toml")


def test_a_decorator_with_a_text_for_a_list_is_an_error(opens: Opens) -> None:
    with opens() as gate, pytest.raises(PayloadError, match="write `paths="):
        gate.guarded(operation="write", paths="target")


@pytest.mark.parametrize("given", ["nobody", ["nowhere"], [3], lambda held: True, 3])
def test_places_to_ask_in_that_are_none_are_refused_at_once(opens: Opens, given: object) -> None:
    with pytest.raises(PayloadError, match="channel"):
        opens(channels=given)


@pytest.mark.parametrize("given", [["save"], "save", {"save": None}, {3: Tool()}, {"save": ["write"]}])
def test_declarations_that_say_nothing_are_refused(opens: Opens, given: object) -> None:
    with pytest.raises(PayloadError, match="tools="):
        opens(tools=given)


@pytest.mark.parametrize(
    "value",
    [
        *Outcome,
        *Said,
        *Ending,
        PART,
        DECISION,
        Verdict(False, DECISION),
        Verdict(True, DECISION),
        Answer(Said.DENY),
        Resolution("id", Ending.EXPIRED),
        Opinion(False, "", "model"),
        Approval("id"),
        PermissionDecision(False),
        PermissionDecision(True),
    ],
    ids=repr,
)
def test_an_answer_is_neither_true_nor_false(value: object) -> None:
    with pytest.raises(TypeError, match=r"neither true nor false; (write|look at) `"):
        bool(value)
    with pytest.raises(TypeError):
        _ = not value
    with pytest.raises(TypeError):
        any([value])


def test_what_was_not_awaited_is_no_yes(opens: Opens) -> None:
    with opens(tools={"bash": "bash"}) as gate:
        asked = gate.guard(gate.call("bash", {"command": "make"}))
        with pytest.raises(TypeError, match="write `await`"):
            bool(asked)
        assert asyncio.run(asked).allowed is False

        async def both() -> list[bool]:
            task = asyncio.create_task(gate.guard(gate.call("bash", {"command": "ls"})))
            return [(await task).allowed, (await gate.guard(gate.call("bash", {"command": "make"}))).allowed]

        assert asyncio.run(both()) == [True, False]


def test_documents_of_code_are_read_as_strictly() -> None:
    with pytest.raises(AssentError, match="list"):
        document_of({"deny": "bash"}, "the program", Origin.USER)
