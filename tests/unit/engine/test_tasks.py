"""Tasks of a project are judged by what they run, with real files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assent.contract import Call, Outcome
from assent.contract.approval import Answer, Said, Scope
from assent.engine import configure
from assent.engine.engine import Engine
from tests.unit.test_bound_grants import asked
from tests.unit.test_gate import World

ALLOW, ASK, DENY = Outcome.ALLOW, Outcome.ASK, Outcome.DENY


class Project:
    """A folder with files, and a gate in one mode over it."""

    def __init__(self, folder: Path, mode: str = "auto") -> None:
        self.root = folder / "home" / "project"
        self.root.mkdir(parents=True)
        self.environ = {"HOME": str(folder / "home"), "ASSENT_HOME": str(folder / "state")}
        (folder / "state").mkdir()
        (folder / "state" / "config.toml").write_text(f'mode = "{mode}"\n')
        here = configure.place(str(self.root), self.environ)
        self.engine: Engine = configure.open_gate(here, self.environ)[0]

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def scripts(self, **scripts: str) -> None:
        self.write("package.json", json.dumps({"name": "app", "scripts": scripts}))

    def judge(self, command: str) -> Outcome:
        root = str(self.root)
        call = Call("bash", {"command": command}, cwd=root, roots=(root,), home=self.environ["HOME"], shell="bash")
        return self.engine.judge(call).decision.outcome


def test_a_script_is_what_it_runs_and_is_read_again_when_it_changes(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.scripts(todo="grep -rn TODO .")
    assert (project.judge("npm run todo"), project.judge("npm run todo")) == (ALLOW, ALLOW)
    project.scripts(todo="frob")
    assert project.judge("npm run todo") is ASK
    project.scripts(todo="rm -rf ~")
    assert project.judge("npm run todo") is DENY


@pytest.mark.parametrize(
    ("name", "text", "outcome"),
    [
        (".npmrc", "save-exact=true\n", ALLOW),
        (".npmrc", "script-shell=./evil\n", ASK),
        (".npmrc", "node-options=--require ./evil.js\n", ASK),
        (".npmrc", "workspaces=true\n", ASK),
        ("../.npmrc", "script-shell=./evil\n", ALLOW),  # the home folder, which is the person's own
        ("node_modules/.bin/eslint", "#!/bin/sh\n", ALLOW),
        ("node_modules/.bin/ls", "#!/bin/sh\n", ASK),
        ("node_modules/.bin/sh", "#!/bin/sh\n", ASK),
        ("../node_modules/.bin/ls", "#!/bin/sh\n", ASK),
    ],
)
def test_files_around_a_package_decide_what_its_scripts_run(
    tmp_path: Path, name: str, text: str, outcome: Outcome
) -> None:
    project = Project(tmp_path)
    project.scripts(list="ls -la")
    assert project.judge("npm run list") is ALLOW
    project.write(name, text)
    assert project.judge("npm run list") is outcome


def test_workspaces_by_a_pattern_are_those_that_are_there(tmp_path: Path) -> None:
    project = Project(tmp_path, "full_auto")
    project.write("package.json", json.dumps({"workspaces": ["packages/*"]}))
    project.write("packages/a/package.json", json.dumps({"name": "a", "scripts": {"clean": "ls"}}))
    assert project.judge("npm run clean --workspaces") is ALLOW
    project.write("packages/b/package.json", json.dumps({"name": "b", "scripts": {"clean": "rm -rf ~"}}))
    assert project.judge("npm run clean --workspaces") is DENY
    assert project.judge("npm run clean -w a") is ALLOW
    assert project.judge("npm run clean -w b") is DENY


def test_a_manifest_that_is_too_long_is_not_read(tmp_path: Path) -> None:
    project = Project(tmp_path, "full_auto")
    project.write("package.json", json.dumps({"scripts": {"x": "ls"}, "more": "x" * 600_000}))
    assert project.judge("npm run x") is ASK


def test_an_answer_for_a_task_is_bound_to_its_steps_alone(tmp_path: Path) -> None:
    world = World(tmp_path, lambda held: Answer(Said.ALLOW, scope=Scope.PROJECT, rules=("bash(npm run test:*)",)))

    def scripts(**found: str) -> None:
        (world.project / "package.json").write_text(json.dumps({"scripts": found}))

    scripts(test="jest", build="tsc")
    assert asked(world, "npm run test")
    scripts(test="jest", build="vite build")
    assert not asked(world, "npm run test")
    scripts(test="jest", pretest="frob")
    assert asked(world, "npm run test")
    scripts(test="jest", pretest="frob", posttest="frob again")
    assert asked(world, "npm run test")
    scripts(test="npm run inner", inner="jest")
    assert asked(world, "npm run test")
    scripts(test="npm run inner", inner="jest --all")
    assert asked(world, "npm run test")
    assert not asked(world, "npm run test")
    assert not asked(world, "npm run test -- --watch")


def test_an_answer_for_a_target_is_bound_to_its_recipe_with_what_it_needs(tmp_path: Path) -> None:
    world = World(tmp_path, lambda held: Answer(Said.ALLOW, scope=Scope.PROJECT, rules=("bash(make test:*)",)))

    def makefile(text: str) -> None:
        (world.project / "Makefile").write_text(text)

    makefile("DIR = src\ntest: gen\n\tjest $(DIR)\ngen:\n\tgen all\nbuild:\n\ttsc\n")
    assert asked(world, "make test")
    makefile("DIR = src\ntest: gen\n\tjest $(DIR)\ngen:\n\tgen all\nbuild:\n\tvite build\n")
    assert not asked(world, "make test")
    makefile("DIR = lib\ntest: gen\n\tjest $(DIR)\ngen:\n\tgen all\n")
    assert asked(world, "make test")
    makefile("DIR = lib\ntest: gen\n\tjest $(DIR)\ngen:\n\tgen some\n")
    assert asked(world, "make test")
    makefile("DIR = lib\ninclude more.mk\ntest: gen\n\tjest $(DIR)\ngen:\n\tgen some\n")
    (world.project / "more.mk").write_text("test: lint\nlint:\n\tfrob\n")
    assert asked(world, "make test")
    (world.project / "more.mk").write_text("test: lint\nlint:\n\tfrob more\n")
    assert asked(world, "make test")
    assert not asked(world, "make test")


def test_a_makefile_is_read_again_when_it_changes(tmp_path: Path) -> None:
    project = Project(tmp_path, "full_auto")
    project.write("Makefile", "clean:\n\tls\n")
    assert project.judge("make clean") is ALLOW
    project.write("Makefile", "include more.mk\nclean:\n\tls\n")
    assert project.judge("make clean") is ALLOW
    project.write("more.mk", "clean: all\nall:\n\trm -rf ~\n")
    assert project.judge("make clean") is DENY


def test_work_on_a_makefile_is_bounded(tmp_path: Path) -> None:
    project = Project(tmp_path, "full_auto")
    doubled = "".join(f"a{place} = $(a{place - 1}) $(a{place - 1})\n" for place in range(1, 40))
    project.write("Makefile", f"a0 = x\n{doubled}x:\n\techo $(a39)\n")
    assert project.judge("make x") is ASK
    project.write("Makefile", "a = $(a)\nx:\n\techo $(a)\n")
    assert project.judge("make x") is ASK
    project.write("Makefile", "x:\n\t$(MAKE) x\n")
    assert project.judge("make x") is ALLOW


@pytest.mark.parametrize(
    ("command", "name", "text"),
    [
        ("just test", "justfile", "dir := '{0}'\ntest: gen\n    jest {{{{dir}}}}\ngen:\n    gen\n{1}:\n    tsc\n"),
        ("task test", "Taskfile.yml", "version: '3'\ntasks:\n  test: jest {0}\n  build: tsc {1}\n"),
        ("poe test", "pyproject.toml", "[tool.poe.tasks]\ntest = 'jest {0}'\nbuild = 'tsc {1}'\n"),
        ("composer test", "composer.json", '{{"scripts": {{"test": "jest {0}", "build": "tsc {1}"}}}}'),
    ],
)
def test_an_answer_for_a_task_of_another_runner_is_bound_to_its_recipe(
    tmp_path: Path, command: str, name: str, text: str
) -> None:
    world = World(tmp_path, lambda held: Answer(Said.ALLOW, scope=Scope.PROJECT, rules=(f"bash({command}:*)",)))
    (world.project / name).write_text(text.format("src", "a"))
    assert asked(world, command)
    (world.project / name).write_text(text.format("src", "b"))
    assert not asked(world, command)
    (world.project / name).write_text(text.format("lib", "b"))
    assert asked(world, command)
    assert not asked(world, command)
