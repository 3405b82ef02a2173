"""What holds for every framework whose runs can pause: an approval is for one call, as it was shown, once."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assent import Gate
from assent.sdk.tool_guard import answer
from assent.trail import query

from .kit import ALLOWED, ASKED, ASKED_TOO, DENIED, Durable, Ran, Use, opened
from .langchain_host import LangGraph
from .openai_host import OpenAIPaused
from .pydantic_host import PydanticDeferred

DURABLE: dict[str, Callable[[Path], Durable]] = {
    each.name: each for each in (LangGraph, OpenAIPaused, PydanticDeferred)
}
Opens = Callable[..., Gate]


@pytest.fixture(params=list(DURABLE))
def paused(request: pytest.FixtureRequest, tmp_path: Path) -> Durable:
    return DURABLE[request.param](tmp_path)


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Opens]:
    """Every gate is another one, as in another process."""
    gates: list[Gate] = []

    def make(**given: Any) -> Gate:
        gates.append(opened(tmp_path, **given))
        return gates[-1]

    yield make
    for each in gates:
        each.close()


def start(paused: Durable, gate: Gate, *uses: Use, seconds: float = 3600.0) -> list[dict[str, Any]]:
    found = asyncio.run(paused.start(gate, uses or [Use(ASKED)], seconds=seconds))
    assert [each["input"]["command"] for each in found] == [
        each.command for each in uses or [Use(ASKED)] if each.command in (ASKED, ASKED_TOO)
    ]
    return found


def resume(paused: Durable, gate: Gate, *answers: dict[str, Any], bare: bool = False) -> Ran:
    return asyncio.run(paused.resume(gate, list(answers), bare=bare))


def yes(question: dict[str, Any]) -> dict[str, Any]:
    return _kept(question, answer(question, allow=True, who="ada"))


def no(question: dict[str, Any], message: str) -> dict[str, Any]:
    return _kept(question, answer(question, allow=False, who="ada", message=message))


def _kept(question: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """A copy that went through JSON."""
    found: dict[str, Any] = json.loads(json.dumps(given))
    return found


def test_a_paused_run_has_run_nothing_and_says_what_it_asks(paused: Durable, gate: Opens, tmp_path: Path) -> None:
    [question] = start(paused, gate())
    assert json.loads((tmp_path / "ran").read_text()) == []
    assert {key: question[key] for key in ("tool", "input", "preview", "risk")} == {
        "tool": "run",
        "input": {"command": ASKED},
        "preview": ASKED,
        "risk": "medium",
    }
    assert json.loads(json.dumps(question)) == question


def test_an_approved_run_goes_on_and_runs_the_call_once(paused: Durable, gate: Opens, tmp_path: Path) -> None:
    [question] = start(paused, gate())
    ran = resume(paused, gate(), yes(question))
    assert (ran.commands, ran.told) == ([ASKED], {"call_1": f"ran {ASKED}"})
    endings = [each.fields for each in query.read(str(tmp_path / "state/audit")) if each.fields["kind"] == "answer"]
    assert [(each["id"], each["who"]) for each in endings] == [(question["assent"], "ada")]


def test_another_process_goes_on_with_the_run(paused: Durable, gate: Opens, tmp_path: Path) -> None:
    [question] = start(paused, gate())
    kind = type(paused)
    script = f"""
import asyncio, json, sys
from pathlib import Path
from tests.sdk.kit import opened
from {kind.__module__} import {kind.__name__}
folder = Path({str(tmp_path)!r})
with opened(folder) as gate:
    print(json.dumps(asyncio.run({kind.__name__}(folder).resume(gate, [json.loads(sys.argv[1])])).commands))
"""
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    words = [sys.executable, "-c", script, json.dumps(yes(question))]
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=environ)
    assert json.loads(done.stdout) == [ASKED]
    assert resume(paused, gate(), yes(question)).commands == []


def test_a_denied_run_goes_on_without_the_call_and_the_model_gets_the_message(paused: Durable, gate: Opens) -> None:
    [question] = start(paused, gate())
    ran = resume(paused, gate(), no(question, "use the other target"))
    assert ran.commands == []
    assert "use the other target" in ran.told["call_1"]


def test_a_second_resume_runs_nothing(paused: Durable, gate: Opens) -> None:
    [question] = start(paused, gate())
    assert resume(paused, gate(), yes(question)).commands == [ASKED]
    again = resume(paused, gate(), yes(question))
    assert again.commands == []
    assert "used" in again.told["call_1"]


def test_a_denial_is_not_followed_by_an_approval(paused: Durable, gate: Opens) -> None:
    [question] = start(paused, gate())
    assert resume(paused, gate(), no(question, "no")).commands == []
    assert resume(paused, gate(), yes(question)).commands == []


def test_arguments_that_changed_meanwhile_do_not_run(paused: Durable, gate: Opens) -> None:
    [question] = start(paused, gate())
    paused.tamper(ASKED, "make at")
    ran = resume(paused, gate(), yes(question))
    assert ran.commands == []
    assert ran.told["call_1"]


def test_an_approval_that_came_too_late_does_not_run(paused: Durable, gate: Opens) -> None:
    [question] = start(paused, gate(), seconds=0.0)
    ran = resume(paused, gate(), yes(question))
    assert ran.commands == []
    assert ran.told["call_1"]


def test_what_the_rules_deny_by_now_does_not_run(paused: Durable, gate: Opens) -> None:
    [question] = start(paused, gate())
    ran = resume(paused, gate(deny=["bash(make:*)"]), yes(question))
    assert ran.commands == []
    assert ran.told["call_1"]


def test_an_approval_without_a_name_does_not_run(paused: Durable, gate: Opens) -> None:
    [question] = start(paused, gate())
    assert resume(paused, gate(), {**yes(question), "who": ""}).commands == []


def test_an_approval_in_another_session_s_name_does_not_run(paused: Durable, gate: Opens) -> None:
    [question] = start(paused, gate())
    assert resume(paused, gate(), {**yes(question), "session": "another"}).commands == []


def test_the_framework_s_own_yes_is_none(paused: Durable, gate: Opens) -> None:
    start(paused, gate())
    ran = resume(paused, gate(), bare=True)
    assert ran.commands == []
    assert ran.told["call_1"]


def test_each_of_two_calls_gets_its_own_answer(paused: Durable, gate: Opens) -> None:
    first, second = start(paused, gate(), Use(ASKED, "a"), Use(ASKED_TOO, "b"))
    ran = resume(paused, gate(), no(first, "not this one"), yes(second))
    assert (ran.commands, ran.told["b"]) == ([ASKED_TOO], f"ran {ASKED_TOO}")
    assert "not this one" in ran.told["a"]


def test_what_asks_nobody_does_not_pause(paused: Durable, gate: Opens, tmp_path: Path) -> None:
    assert start(paused, gate(), Use(ALLOWED, "a"), Use(DENIED, "b")) == []
    assert json.loads((tmp_path / "ran").read_text()) == [ALLOWED]


def test_an_approval_is_for_one_run_whatever_its_call_ids(paused: Durable, gate: Opens, tmp_path: Path) -> None:
    shared = gate()
    [question] = start(paused, shared)
    assert resume(paused, shared, yes(question)).commands == [ASKED]
    [other] = start(paused, shared)
    assert other["assent"] != question["assent"]
    assert resume(paused, shared, no(other, "not again")).commands == []


def test_where_the_question_cannot_be_kept_nothing_pauses_and_nothing_runs(
    paused: Durable, gate: Opens, tmp_path: Path
) -> None:
    broken = gate(state=str(tmp_path / "file"))
    (tmp_path / "file").write_text("no folder")
    assert asyncio.run(paused.start(broken, [Use(ASKED)])) == []
    assert json.loads((tmp_path / "ran").read_text()) == []
