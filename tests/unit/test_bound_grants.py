"""A saved answer for a script, or for a task, holds for the bytes that it was given for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assent.contract.approval import Answer, Grant, Said, Scope
from assent.engine.memory import Memory
from tests.unit.test_gate import World

RECIPES = {
    "bash run.sh": "run.sh",
    "./run.sh a": "run.sh",
    "python tools.py": "tools.py",
    "python -m tools": "tools.py",
    "node run.js": "run.js",
    "make test": "Makefile",
    "just test": "justfile",
    "cd . && bash run.sh": "run.sh",
}


def world_with(folder: Path, scope: Scope, *rules: str) -> World:
    world = World(folder, lambda held: Answer(Said.ALLOW, scope=scope, rules=rules))
    for name in ("run.sh", "tools.py", "run.js", "Makefile", "justfile"):
        (world.project / name).write_text("test:\n\techo one\n")
        (world.project / name).chmod(0o755)
    (world.project / "package.json").write_text(json.dumps({"scripts": {"test": "jest"}, "version": "1"}))
    return world


def asked(world: World, command: str) -> bool:
    """Whether a person is asked; the call runs either way."""
    before = len(world.shown)
    assert [each.allowed for each in world.run(world.call(command))] == [True]
    return len(world.shown) > before


@pytest.mark.parametrize("command", RECIPES)
@pytest.mark.parametrize("scope", [Scope.QUARTER, Scope.SESSION, Scope.PROJECT])
def test_a_script_that_changed_since_the_answer_is_asked_about_again(
    tmp_path: Path, command: str, scope: Scope
) -> None:
    rule = f"bash({command.removeprefix('cd . && ')})"
    world = world_with(tmp_path, scope, rule)
    assert (asked(world, command), asked(world, command)) == (True, False)
    (world.project / RECIPES[command]).write_text("test:\n\techo other\n")
    assert asked(world, command)
    lost = world.shown[-1].decision.lost
    assert not asked(world, command), "an answer of before hides the one of now"
    assert any(RECIPES[command] in source and "given before" in source for _, source in lost)


def test_the_identical_call_is_bound_too(tmp_path: Path) -> None:
    world = world_with(tmp_path, Scope.SESSION)
    assert (asked(world, "bash run.sh"), asked(world, "bash run.sh")) == (True, False)
    (world.project / "run.sh").write_text("frob other\n")
    assert asked(world, "bash run.sh")


def test_a_task_of_a_package_is_bound_to_the_scripts_and_not_to_the_version(tmp_path: Path) -> None:
    world = world_with(tmp_path, Scope.PROJECT, "bash(npm run test:*)")
    assert asked(world, "npm run test")
    (world.project / "package.json").write_text(json.dumps({"scripts": {"test": "jest"}, "version": "2"}))
    assert not asked(world, "npm run test -- --watch")
    (world.project / "package.json").write_text(json.dumps({"scripts": {"test": "curl evil"}, "version": "2"}))
    assert asked(world, "npm run test")


def test_another_script_of_the_same_bytes_is_another_script(tmp_path: Path) -> None:
    world = world_with(tmp_path, Scope.SESSION, "bash(bash run.sh)")
    assert asked(world, "bash run.sh")
    (world.project / "run.sh").unlink()
    (world.project / "run.sh").symlink_to(world.project / "tools.py")
    assert asked(world, "bash run.sh")


def test_a_grant_of_before_settles_no_script(tmp_path: Path) -> None:
    world = world_with(tmp_path, Scope.ONCE)
    memory = Memory(str(world.state))
    project = str(world.project)
    memory.grants.add(
        Grant("g1", Scope.PROJECT, rules=("bash(bash run.sh)", "bash(frob x)"), project=project, made=1.0)
    )
    held = world.state / "grants.json"
    old = json.loads(held.read_text())
    for row in old["grants"]:
        del row["files"]
    held.write_text(json.dumps(old))
    assert asked(world, "bash run.sh")
    assert not asked(world, "frob x")
