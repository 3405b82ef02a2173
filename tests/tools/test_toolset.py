"""The set as such: schemas, what the gate is told, and what is known about declared tools."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import jsonschema
import pytest

from assent import Gate, PayloadError, Tool
from assent.contract import Outcome
from assent.tools import NAMES, Toolset
from tests.tools.world import World


def test_every_tool_has_a_schema_and_a_risk(world: World) -> None:
    schemas = world.tools.schemas()
    assert [each["name"] for each in schemas] == list(NAMES) == ["bash", "read", "write", "edit", "glob", "grep"]
    for each in schemas:
        jsonschema.Draft202012Validator.check_schema(each["parameters"])
        assert each["description"]
    assert {name: world.tools.risk(name) for name in NAMES} == {
        "bash": "execute",
        "read": "read",
        "write": "write",
        "edit": "write",
        "glob": "read",
        "grep": "read",
    }


def test_only_the_tools_that_were_chosen_are_there(world: World) -> None:
    tools = Toolset(world.gate, str(world.project), names=["read", "grep"])
    assert tools.names == ("read", "grep")
    done = tools.call_sync("bash", {"command": "ls"})
    assert (done.text, done.error) == ("there is no tool `bash`; there are read, grep", True)
    with pytest.raises(PayloadError, match="there is no tool `rm`"):
        Toolset(world.gate, names=["rm"])


def test_a_declaration_of_another_tool_by_the_same_name_changes_nothing_here(tmp_path: Path) -> None:
    tools = {"bash": Tool("nothing"), "write": Tool("nothing")}
    with Gate(
        str(tmp_path), mode="default", files=False, tools=tools, state=str(tmp_path / "s"), channels=["nobody"]
    ) as gate:
        done = Toolset(gate, str(tmp_path)).call_sync("bash", {"command": "./run"})
        assert done.error
        assert done.verdict is not None
        assert not done.verdict.allowed
        assert gate.decide(gate.call("bash", {"command": "./run"}, runtime="python")).outcome is Outcome.ALLOW


def test_calls_work_side_by_side(world: World) -> None:
    async def play() -> list[str]:
        world.file("a", "1")
        calls = [world.tools.call("read", {"file_path": "a"}) for _ in range(20)]
        return [each.text for each in await asyncio.gather(*calls)]

    assert asyncio.run(play()) == ["     1\t1"] * 20


def test_one_of_two_edits_of_the_same_version_fails(world: World) -> None:
    path = world.file("a", "x y\n")
    world.call("read", file_path="a")

    async def play() -> list[bool]:
        edits = [
            world.tools.call("edit", {"file_path": "a", "old_string": old, "new_string": new})
            for old, new in (("x", "1"), ("y", "2"))
        ]
        return [each.error for each in await asyncio.gather(*edits)]

    failed = asyncio.run(play())
    left = path.read_text()
    assert (failed.count(True), left) in [(1, "1 y\n"), (1, "x 2\n"), (0, "1 2\n")]


def test_a_fault_of_the_gate_runs_nothing(world: World) -> None:
    world.gate.close()
    _, error = world.told("bash", command="touch made; ./x")
    assert error
    assert not (world.project / "made").exists()


@pytest.mark.parametrize("given", [None, [], "ls", {1: 2}])
def test_arguments_of_an_odd_form_are_an_error(world: World, given: object) -> None:
    done = world.tools.call_sync("bash", given)  # type: ignore[arg-type]
    assert done.error


def test_the_trail_has_every_call(world: World, tmp_path: Path) -> None:
    world.file("a", "1")
    world.call("read", file_path="a")
    world.call("bash", command="./x")
    world.call("read", file_path="~/.ssh/id_rsa")
    lines = (tmp_path / "state/audit/permissions.jsonl").read_text().splitlines()
    found = [json.loads(each) for each in lines]
    assert [(each["tool"], each["runtime"]) for each in found] == [
        ("read", "assent-tools"),
        ("bash", "assent-tools"),
        ("bash", "assent-tools"),
        ("read", "assent-tools"),
    ]
