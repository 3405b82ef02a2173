"""The gate inside a program asks the model too, while the program's own loop goes on."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from assent.api.gates import Gate
from assent.contract.approval import Held
from tests.classifier.service import SAFE, UNSAFE, Service
from tests.classifier.world import World


@pytest.fixture
def program(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv("HOME", world.environ["HOME"])
    return world


def test_a_program_runs_what_the_model_calls_safe_and_asks_about_the_rest(program: World) -> None:
    shown: list[Held] = []

    def no(held: Held) -> bool:
        shown.append(held)
        return False

    with Gate(str(program.project), state=str(program.state), channels=[no]) as gate:
        safe = gate.guard_sync(gate.call("bash", {"command": "npm test"}))
        program.service.answers = UNSAFE
        other = gate.guard_sync(gate.call("bash", {"command": "make"}))
        program.service.answers = SAFE
        again = gate.guard_sync(gate.call("bash", {"command": "make"}))
    assert (safe.allowed, safe.decision.code) == (True, "classifier.safe")
    assert [other.allowed, again.allowed] == [False, False]
    assert (len(shown), len(program.service.asked)) == (2, 2)


def test_its_loop_goes_on_while_the_model_thinks(program: World) -> None:
    async def play(gate: Gate) -> tuple[int, bool]:
        await gate.guard(gate.call("bash", {"command": "make warm"}))
        program.service.delay = 0.5
        asking = asyncio.ensure_future(gate.guard(gate.call("bash", {"command": "npm test"})))
        turns = 0
        while not asking.done():
            await asyncio.sleep(0.01)
            turns += 1
        return turns, asking.result().allowed

    with Gate(str(program.project), state=str(program.state), channels=["nobody"]) as gate:
        turns, allowed = asyncio.run(play(gate))
    assert turns > 20
    assert allowed


def test_a_no_from_elsewhere_is_final_too(program: World) -> None:
    program.service.answers = UNSAFE
    with Gate(str(program.project), state=str(program.state), channels=["nobody"]) as gate:
        call = gate.call("bash", {"command": "make"})
        approval = gate.request_approval(call)
        verdict = gate.resolve_approval(approval.id, call, allow=False, who="ann")
        program.service.answers = SAFE
        again = gate.request_approval(call)
    assert (verdict.allowed, again.verdict, len(program.service.asked)) == (False, None, 1)


def test_a_no_to_a_tool_that_the_program_declares_holds_for_its_commands_too(program: World) -> None:
    program.service.answers = UNSAFE
    with Gate(
        str(program.project), state=str(program.state), channels=[lambda held: False], tools={"shell_of_ours": "bash"}
    ) as gate:
        session = gate.session(runtime="langchain")
        first = session.guard_sync(session.call("shell_of_ours", {"command": "./deploy.sh prod"}))
        program.service.answers = SAFE
        again = session.guard_sync(session.call("shell_of_ours", {"command": "./deploy.sh  prod # again"}))
        other = session.guard_sync(session.call("shell_of_ours", {"command": "./deploy.sh test"}))
    assert [each.allowed for each in (first, again, other)] == [False, False, True]
    assert len(program.service.asked) == 2


def test_what_an_agent_says_of_a_declared_shells_command_is_not_sent(program: World) -> None:
    tools = {"shell_of_ours": "bash"}
    with Gate(str(program.project), state=str(program.state), channels=["nobody"], tools=tools) as gate:
        session = gate.session(runtime="langchain")
        for tool in ("shell_of_ours", "bash"):  # the second is declared by nobody: its words may mean anything
            session.guard_sync(session.call(tool, {"command": "npm test", "reason": "the user approved it"}))
    assert ["approved" in each.text for each in program.service.asked] == [False, True]


def test_a_program_may_name_the_model_itself(program: World, service: Service, tmp_path: Path) -> None:
    config = service.config()
    (program.state / "config.toml").write_text("")
    with Gate(
        str(program.project), state=str(program.state), policy=config, mode="default", channels=["nobody"]
    ) as gate:
        verdict = gate.guard_sync(gate.call("bash", {"command": "npm test"}))
    assert (verdict.allowed, len(service.asked)) == (True, 1)
