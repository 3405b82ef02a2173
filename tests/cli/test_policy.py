"""`assent policy` shows what holds, finds what is wrong, and never overwrites."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assent.contract.packs import OFFERED
from tests.cli.test_check import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_init_writes_a_policy_that_loads_and_never_overwrites(machine: Machine) -> None:
    assert machine.run("policy", "init").returncode == 0
    path = machine.home / ".assent" / "config.toml"
    assert machine.run("policy", "show").returncode == 0
    path.write_text('mode = "plan"\n')
    done = machine.run("policy", "init")
    assert (done.returncode, path.read_text()) == (2, 'mode = "plan"\n')
    assert "left as it is" in done.stderr


def holds(machine: Machine) -> tuple[str, list[str]]:
    """The mode in force, and the packs that are on."""
    shown = json.loads(machine.run("policy", "show", "--json").stdout)
    return shown["mode"], [each["name"] for each in shown["packs"]]


def test_there_is_one_policy_to_start_from(machine: Machine, tmp_path: Path) -> None:
    packs = list(OFFERED)
    assert holds(machine) == ("default", [])  # no file
    assert machine.run("check", "bash", "touch a").returncode == 3
    assert machine.run("install", "claude", "--yes").returncode == 0
    installed = (machine.home / ".assent/config.toml").read_text()
    assert holds(machine) == ("default", packs)  # in a folder that nobody marked
    assert machine.run("check", "bash", "touch a").returncode in (0, 3)
    other = Machine(tmp_path / "other")
    assert other.run("policy", "init").returncode == 0
    assert (other.home / ".assent/config.toml").read_text() == installed
    assert other.run("trust").returncode == 0
    assert holds(other) == ("auto", packs)


def test_another_mode_can_be_offered(machine: Machine) -> None:
    assert machine.run("install", "claude", "--yes", "--mode", "plan").returncode == 0
    assert holds(machine) == ("plan", list(OFFERED))


def test_init_writes_a_project_file(machine: Machine) -> None:
    assert machine.run("policy", "init", "--project").returncode == 0
    assert (machine.project / ".assent.toml").exists()
    assert machine.run("check", "read", "a").returncode == 0


def test_show_names_the_source_of_every_line(machine: Machine) -> None:
    machine.config('mode = "full_auto"\nmax_mode = "auto"\ndeny = ["bash(x:*)"]\n')
    out = machine.run("policy", "show").stdout
    assert "mode       auto  (set by" in out
    assert "capped by max_mode = auto in" in out
    assert f"{machine.home}/.assent/config.toml:3" in out
    shown = json.loads(machine.run("policy", "show", "--json").stdout)
    assert shown["deny"][0] == {
        "rule": "bash(x:*)",
        "source": f"{machine.home}/.assent/config.toml:3",
        "origin": "user",
    }


def test_show_lists_declared_tools_and_the_settings_of_sub_agents(machine: Machine) -> None:
    machine.config(
        'deny = ["mcp__files__move"]\n\n[tools."mcp__files__move"]\ndeletes = ["source"]\nwrites = ["to", "log"]\n\n'
        '[agent.Explore]\nmode = "plan"\ndeny = ["fetch"]\n\n[agent.docs]\nask = ["bash(git push:*)"]\n'
    )
    (machine.project / ".assent.toml").write_text('[agent.explore]\ndeny = ["mcp__shop"]\n')
    user, project = f"{machine.home}/.assent/config.toml", f"{machine.project}/.assent.toml"
    out = machine.run("policy", "show").stdout
    assert f"tool       mcp__files__move: delete source, write to log  ({user}:3)\n" in out
    assert f"agent      explore: mode plan at most  ({user}:7, {project}:1)\n  deny fetch  {user}:9\n" in out
    assert f"agent      docs: no mode of its own  ({user}:11)\n  ask  bash(git push:*)  {user}:12\n" in out
    shown = json.loads(machine.run("policy", "show", "--json").stdout)
    move = {"delete": ["source"], "write": ["to", "log"]}
    assert shown["tools"] == [{"tool": "mcp__files__move", "arguments": move, "source": f"{user}:3"}]
    assert shown["agents"][0] == {
        "agent": "explore",
        "mode": "plan",
        "deny": [
            {"rule": "fetch", "source": f"{user}:9", "origin": "user"},
            {"rule": "mcp__shop", "source": f"{project}:2", "origin": "project"},
        ],
        "ask": [],
        "sources": [f"{user}:7", f"{project}:1"],
    }


def test_yolo_says_so_loudly(machine: Machine) -> None:
    assert "WARNING" in machine.run("policy", "show", "--mode", "yolo").stdout


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('deny = ["bash(git push:*)"]\nallow = ["bash(git push origin:*)"]', "shadowed"),
        ('allow = ["write(src/**)", "write(src/a.py)"]', "shadowed"),
        ('allow = ["bash(python:*)"]', "broad"),
        ('allow = ["bash"]', "broad"),
        ('allow = ["write(/**)"]', "broad"),
        ('allow = ["fetch"]', "broad"),
        ('deny = ["write(src/)"]', "dead"),
        ("allow = [\"bash(curl -H 'Authorization: Bearer abcdefghijklmnop' x)\"]", "secret"),
        ('allow = ["bash(deploy --token=hunter2hunter2)"]', "secret"),
    ],
)
def test_lint_finds(machine: Machine, text: str, kind: str) -> None:
    machine.config(text)
    done = machine.run("policy", "lint", "--json")
    assert (done.returncode, [each["kind"] for each in json.loads(done.stdout)]) == (1, [kind])


def test_lint_is_silent_on_a_good_policy(machine: Machine) -> None:
    machine.config('allow = ["bash(npm run test:*)", "write(docs/**)"]\nask = ["bash(git push:*)"]\n')
    assert machine.run("policy", "lint").returncode == 0
