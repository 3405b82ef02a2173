"""Claude Code asks the server over HTTP: calls are decided, questions wait, and a lost server blocks."""

from __future__ import annotations

import os
from typing import Any

import pytest

from .claude import Claude
from .gate import PYTHON, Gate, answering, serving
from .model import Step, Use
from .observed import DONE
from .programs import Programs
from .sandbox import PATH, Sandbox

POLICY = (
    'allow = ["bash(touch allowed*)"]\ndeny = [{ rule = "bash(touch denied*)", message = "take the other file" }]\n'
)


@pytest.fixture
def claude(installed: Programs) -> Claude:
    return Claude(installed)


def install(gate: Gate, claude: Claude) -> None:
    """As people do it, with the program on the PATH, whose version is asked for."""
    named = gate.place.base / "bin"
    named.mkdir()
    os.symlink(claude.programs.claude[0], named / "claude")
    words = [*PYTHON, "-m", "assent", "install", "claude", "--http", "--no-policy"]
    ended = gate.place.run(words, deadline=60, more={"PATH": f"{named}:{PATH}"})
    assert ended.status == 0, ended.stderr


def script(claude: Claude, *names: str) -> list[Step]:
    return [*(Use(claude.shell(f"touch {name}")) for name in names), DONE]


def test_calls_are_decided_and_questions_wait_and_without_the_server_nothing_runs(
    claude: Claude, place: Sandbox
) -> None:
    gate = Gate(place, POLICY)
    with serving(gate) as server:
        install(gate, claude)

        def answer(question: dict[str, Any]) -> dict[str, Any]:
            return {"said": "allow"}

        with answering(server, answer) as person:
            run = claude.run(place, script(claude, "allowed", "denied", "asked"))
        assert (run.changed, len(person.seen)) == ({"allowed": "", "asked": ""}, 1), run.told
        assert "Take the other file" in run.told[1]
    again = claude.run(place, script(claude, "allowed-2"), args=claude.loose)
    assert again.changed == {}, again.told
