"""`assent check` as a person and a program use it: the real command, in a scratch home."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assent.approval.grants import GrantBook
from assent.contract.approval import Grant, Scope


class Machine:
    """A scratch home and project, and the real command in them."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home" / "person"
        self.project = folder / "project"
        self.home.mkdir(parents=True)
        self.project.mkdir()

    def run(self, *words: str, stdin: str = "", env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("ASSENT")}
        return subprocess.run(
            [sys.executable, "-m", "assent", *words],
            cwd=self.project,
            env={**kept, "HOME": str(self.home), **(env or {})},
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )

    def config(self, text: str) -> None:
        (self.home / ".assent").mkdir(exist_ok=True)
        (self.home / ".assent" / "config.toml").write_text(text)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_exit_status_tells_the_outcome(machine: Machine) -> None:
    assert machine.run("check", "read", "a.txt").returncode == 0
    assert machine.run("check", "write", "a.txt").returncode == 3
    assert machine.run("check", "read", "~/.ssh/id_rsa").returncode == 4
    assert machine.run("check").returncode == 2


def test_the_receipt_says_why_which_part_and_what_would_flip_it(machine: Machine) -> None:
    out = machine.run("check", "write", "~/.bashrc").stdout
    assert out.startswith("ASK  write ~/.bashrc\n")
    for said in ("[ask.rule]", "file_path", "shipped:shell-startup", 'off = ["shell-startup"]', "mode   default"):
        assert said in out


def test_json_is_for_programs(machine: Machine) -> None:
    receipt = json.loads(machine.run("check", "--json", "write", "a.txt").stdout)
    assert (receipt["outcome"], receipt["code"], receipt["layer"], receipt["mode"]) == (
        "ask",
        "mode.write",
        "mode",
        "default",
    )
    assert "waits for a person" in receipt["agent_message"]


def test_flags_set_mode_folder_and_attendance(machine: Machine, tmp_path: Path) -> None:
    assert machine.run("check", "--mode", "auto", "write", "a.txt").returncode == 0
    assert machine.run("check", "--mode", "plan", "write", "a.txt").returncode == 4
    assert machine.run("check", "--headless", "write", "a.txt").returncode == 4
    other = tmp_path / "other"
    other.mkdir()
    assert machine.run("check", "--mode", "auto", "--cwd", str(other), "write", str(other / "a")).returncode == 0
    assert machine.run("check", "--mode", "auto", "write", str(other / "a")).returncode == 3


def test_a_call_comes_as_json_on_standard_input(machine: Machine) -> None:
    call = json.dumps({"tool": "edit", "input": {"file_path": "a"}})
    assert machine.run("check", "-", stdin=call).returncode == 3
    assert machine.run("check", "-", stdin="{").returncode == 2
    assert machine.run("check", "-", stdin="[]").returncode == 2
    assert "not a call" in machine.run("check", "-", stdin="{}").stderr


def test_a_policy_that_does_not_load_is_an_error_with_place_and_suggestion(machine: Machine) -> None:
    machine.config('mode = "auto"\ndenny = []\n')
    done = machine.run("check", "read", "a.txt")
    assert done.returncode == 2
    assert "config.toml:2: unknown setting `denny`; did you mean `deny`?" in done.stderr


def test_the_users_file_the_projects_file_and_the_environment_are_layered(machine: Machine) -> None:
    machine.config('mode = "auto"\nallow = ["write(/srv/**)"]\n')
    assert machine.run("check", "write", "a.txt").returncode == 0
    assert machine.run("check", "write", "/srv/x").returncode == 0
    assert machine.run("check", "write", "a.txt", env={"ASSENT_MODE": "plan"}).returncode == 4
    (machine.project / ".assent.toml").write_text('deny = ["write(a.txt)"]\n')
    assert machine.run("check", "write", "a.txt").returncode == 4
    (machine.project / ".assent.toml").write_text('allow = ["write"]\n')
    done = machine.run("check", "write", "a.txt")
    assert (done.returncode, "can only tighten" in done.stderr) == (2, True)


def test_the_projects_rules_of_a_sessions_start_hold_until_its_end(machine: Machine) -> None:
    rules = machine.project / ".assent.toml"
    rules.write_text('deny = ["write(a.txt)"]\n')
    machine.config('mode = "auto"\n')
    assert machine.run("check", "--session", "s1", "write", "a.txt").returncode == 4
    rules.unlink()
    assert machine.run("check", "--session", "s1", "write", "a.txt").returncode == 4
    assert machine.run("check", "--session", "s2", "write", "a.txt").returncode == 0


def test_untrusted_folders_are_held_down_until_trusted(machine: Machine) -> None:
    machine.config('mode = "auto"\nuntrusted_mode = "plan"\n')
    stopped = machine.run("check", "write", "a.txt")
    held = "  mode   capped by untrusted_mode = plan: this folder is not marked with `assent trust`\n"
    assert (stopped.returncode, held in stopped.stdout) == (4, True)
    assert machine.run("trust").returncode == 0
    assert machine.run("check", "write", "a.txt").returncode == 0
    assert str(machine.project) in machine.run("trust", "--list").stdout
    assert machine.run("trust", "--remove").returncode == 0
    assert machine.run("check", "write", "a.txt").returncode == 4


def test_a_symlink_in_the_workspace_is_followed(machine: Machine, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (machine.project / "link").symlink_to(outside)
    assert machine.run("check", "--mode", "auto", "write", "link/new").returncode == 3
    assert machine.run("check", "--mode", "auto", "write", "real/new").returncode == 0


def test_batch_answers_every_line_in_order(machine: Machine) -> None:
    lines = [
        {"id": 1, "tool": "read", "input": {"file_path": "a"}, "cwd": "/workspace/repo"},
        {"id": 2, "tool": "write", "input": {"file_path": "a"}, "cwd": "/workspace/repo", "mode": "auto"},
        {"id": 3, "tool": "write", "input": {"file_path": "a"}, "cwd": "/workspace/repo", "rules": {"deny": ["(x"]}},
        {"id": 4, "tool": "write", "input": {}, "cwd": "/workspace/repo", "oops": 1},
        {"id": 5, "tool": "write", "input": {"file_path": "l/a"}, "mode": "auto", "cwd": "/workspace/repo",
         "facts": {"symlinks": {"/workspace/repo/l": "/out"}}},
    ]  # fmt: skip
    text = "".join(json.dumps(line) + "\n" for line in lines) + "not json\n"
    done = machine.run("check", "--batch", stdin=text)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(answer["id"], answer["outcome"]) for answer in answers] == [
        (1, "allow"),
        (2, "allow"),
        (3, "error"),
        (4, "error"),
        (5, "ask"),
        (6, "error"),
    ]
    assert all({"code", "reason"} <= answer.keys() for answer in answers)
    assert done.returncode == 2


def test_hostile_text_is_made_visible(machine: Machine) -> None:
    out = machine.run("check", "read", "a\x1b[2Jb\u202ec").stdout
    assert "\x1b" not in out
    assert "\\u{1b}" in out
    assert "\\u{202e}" in out


def test_an_empty_input_is_answered_with_what_to_write(machine: Machine) -> None:
    done = machine.run("check", "-", stdin="\n")
    assert (done.returncode, done.stderr) == (
        2,
        'assent: standard input is empty; write {"tool": "bash", "input": {"command": "ls"}}\n',
    )


def test_a_machine_without_trusted_folders_says_how_to_mark_one(machine: Machine) -> None:
    done = machine.run("trust", "--list")
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        "",
        "no folder is trusted; `assent trust` marks this one\n",
    )


def test_remembered_answers_count_and_the_receipt_names_them(machine: Machine) -> None:
    machine.config('mode = "default"\n')
    assert machine.run("check", "bash", "make build").returncode == 3
    book = GrantBook(str(machine.home / ".assent"))
    now = time.time()
    book.add(Grant("0a1b2c3d4e", Scope.PROJECT, rules=("bash(make build)",), project=str(machine.project), made=now))
    session = Grant(
        "9f8e7d6c5b", Scope.SESSION, rules=("bash(make test)",), session="s1", project=str(machine.project), made=now
    )
    book.add(session)
    done = machine.run("check", "bash", "make build")
    assert (done.returncode, "assent grants revoke 0a1b2c3d" in done.stdout) == (0, True), done.stdout
    assert machine.run("check", "bash", "make build", "--no-grants").returncode == 3
    assert machine.run("check", "bash", "make build", "--mode", "plan").returncode == 4
    assert machine.run("check", "bash", "make build", "--mode", "auto").returncode == 0
    assert [machine.run("check", "bash", "make test", *more).returncode for more in ([], ["--session", "s1"])] == [3, 0]
    assert machine.run("check", "bash", "make install").returncode == 3
    line = json.dumps({"tool": "bash", "input": {"command": "make build"}})
    assert json.loads(machine.run("check", "--batch", stdin=line).stdout)["outcome"] == "ask"
