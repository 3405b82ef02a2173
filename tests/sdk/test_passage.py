"""How calls pass: read strictly, judged as they will run, and denied where anything is not as it should be."""

from __future__ import annotations

import asyncio
import dataclasses
import enum
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from assent import Approval, Gate, PayloadError
from assent.sdk.tool_guard import GivenAnswer, ToolGuard, answer, arguments, denial_text, question

from .kit import ALLOWED, ASKED, DENIED, WRITES, opened

BAD: list[Any] = ['{"command": "ls", "command": "rm"}', "[1]", "nonsense", "1", b"\xff", 7, ["ls"], '{"a": NaN}']


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    with opened(tmp_path) as found:
        yield found


class Color(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Place:
    path: str
    color: Color = Color.RED


class Thing(BaseModel):
    model_config = ConfigDict(extra="allow")
    place: PurePosixPath


def test_arguments_of_every_kind_are_data() -> None:
    given = {"a": Place("x"), "b": [Thing.model_validate({"place": "/y", "more": (1, 2)})], "c": {"d": None}, "e": 1.5}
    assert arguments(given) == {
        "a": {"path": "x", "color": "red"},
        "b": [{"place": "/y", "more": [1, 2]}],
        "c": {"d": None},
        "e": 1.5,
    }


@pytest.mark.parametrize(("given", "found"), [(None, {}), ("", {}), (b" ", {}), ('{"a": 1}', {"a": 1}), ({}, {})])
def test_no_arguments_are_none(given: Any, found: dict[str, object]) -> None:
    assert arguments(given) == found


@pytest.mark.parametrize("given", BAD, ids=repr)
def test_what_cannot_be_read_in_one_way_is_denied_everywhere(gate: Gate, given: Any) -> None:
    passage = ToolGuard(gate, "langchain")
    with pytest.raises(PayloadError):
        arguments(given)
    verdicts = [
        asyncio.run(passage.guard("run", given)),
        passage.guard_sync("run", given),
        passage.hold("run", given).verdict,
        passage.release({"assent": "x", "session": "y", "allow": True, "who": "ada"}, "run", given),
    ]
    assert [each is not None and each.allowed for each in verdicts] == [False] * 4
    assert passage.asks("run", given) is False


def test_what_refers_to_itself_is_denied(gate: Gate) -> None:
    given: dict[str, object] = {}
    given["again"] = given
    assert asyncio.run(ToolGuard(gate, "langchain").guard("run", given)).allowed is False


@pytest.mark.parametrize("given", [None, True, "x", {}, {"assent": "x"}, {"assent": 1, "session": "y"}, [1]], ids=repr)
def test_what_is_no_answer_is_denied(gate: Gate, given: object) -> None:
    assert ToolGuard(gate, "langchain").release(given, "run", {"command": ALLOWED}).allowed is False


@pytest.mark.parametrize("allow", [1, "true", "yes", None, [True], 1.0], ids=repr)
def test_nothing_but_true_is_a_yes(gate: Gate, allow: Any) -> None:
    passage = ToolGuard(gate, "langchain")
    asked = question(passage.hold("run", {"command": ASKED}))
    assert answer(asked, allow=allow, who="ada")["allow"] is False
    given = {**answer(asked, allow=True, who="ada"), "allow": allow}
    assert GivenAnswer.read(given).allow is False
    assert passage.release(given, "run", {"command": ASKED}).allowed is False


def test_an_answer_counts_once_in_whatever_session_it_comes_back(gate: Gate) -> None:
    given = {"command": ASKED}
    asked = question(ToolGuard(gate.session(), "langchain").hold("run", given))
    yes = answer(asked, allow=True, who="ada")
    passage = ToolGuard(gate.session(), "langchain")
    assert [passage.release(yes, "run", given).allowed for _ in range(2)] == [True, False]


def test_a_call_that_needs_no_answer_has_no_question(gate: Gate) -> None:
    passage = ToolGuard(gate, "langchain")
    for command, allowed in ((ALLOWED, True), (DENIED, False)):
        approval = passage.hold("run", {"command": command})
        assert approval.verdict is not None
        assert (approval.verdict.allowed, passage.asks("run", {"command": command})) == (allowed, False)
        with pytest.raises(PayloadError):
            question(approval)
    with pytest.raises(PayloadError):
        question(Approval(""))


def test_a_tool_of_a_framework_is_known_by_its_declaration_alone(gate: Gate) -> None:
    assert ToolGuard(gate, "langchain").asks("bash", {"command": ALLOWED})
    assert not ToolGuard(gate, "langchain").asks("run", {"command": ALLOWED})
    assert not ToolGuard(gate, "claude").asks("bash", {"command": ALLOWED})


def test_relative_paths_are_judged_wherever_they_may_lead(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program may run in another folder than the gate's project; from which of them a tool goes is not said."""
    given = {"command": WRITES}
    inside = gate.project
    found = []
    for folder in (inside, "/", "/etc"):
        monkeypatch.chdir(folder)
        found.append(ToolGuard(gate, "langchain").asks("run", given))
    assert found == [False, True, True]
    assert not ToolGuard(gate.session(cwd=inside), "langchain").asks("run", given)
    assert ToolGuard(gate.session(cwd="/etc"), "langchain").asks("run", given)
    assert not ToolGuard(gate, "langchain").asks("run", given, cwd=inside)
    monkeypatch.chdir(inside)
    assert ToolGuard(gate, "langchain").asks("run", given, cwd="/etc")


def test_a_folder_that_is_gone_lets_nothing_pass(gate: Gate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert ToolGuard(gate, "langchain").guard_sync("run", {"command": ALLOWED}).allowed is False


def test_the_model_is_always_told_something(gate: Gate) -> None:
    verdict = ToolGuard(gate, "langchain").guard_sync("run", {"command": DENIED})
    assert denial_text(verdict) == verdict.message != ""


def test_a_closed_gate_lets_nothing_pass(gate: Gate) -> None:
    passage = ToolGuard(gate, "langchain")
    asked = question(passage.hold("run", {"command": ASKED}))
    gate.close()
    assert passage.release(answer(asked, allow=True, who="ada"), "run", {"command": ASKED}).allowed is False
    assert asyncio.run(passage.guard("run", {"command": ALLOWED})).allowed is False
    assert passage.guard_sync("run", {"command": ALLOWED}).allowed is False
    held = passage.hold("run", {"command": ASKED})
    assert held.verdict is not None
    assert held.verdict.allowed is False
