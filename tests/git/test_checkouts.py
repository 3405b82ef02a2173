"""What a checkout in the middle of a call discards, judged by the whole gate in real repositories."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from assent.contract import Call, Outcome
from assent.engine.configure import open_gate, place


def git(folder: Path, *args: str) -> None:
    person = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    subprocess.run(["git", "-C", str(folder), *person, *args], check=True, capture_output=True)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("w") / "project"
    git(folder.parent, "init", "-q", "-b", "main", str(folder))
    (folder / "a.txt").write_text("a")
    (folder / "src").mkdir()
    (folder / "src" / "b.py").write_text("b")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "one")
    git(folder, "branch", "feature")
    git(folder, "branch", "packed")
    git(folder, "pack-refs", "--all")
    git(folder, "branch", "loose")
    return folder


def outcome(project: Path, command: str) -> Outcome:
    here = place(str(project), {"HOME": "/home/nobody"})
    gate, here = open_gate(here, {"HOME": "/home/nobody"}, mode="full_auto", config="", session="")
    call = Call("bash", {"command": command}, cwd=str(project), roots=here.roots, home=here.home)
    return gate.judge(call).decision.outcome


@pytest.mark.parametrize(
    "command",
    [
        "git checkout feature && git checkout loose",
        "git checkout loose && git checkout packed",
        "git stash && git checkout a.txt",
        "for c in $(git rev-list HEAD); do git checkout -q $c; done; git checkout -q main",
        "rm -rf a.txt",
    ],
)
def test_a_branch_or_a_stash_keeps_all_work(project: Path, command: str) -> None:
    assert outcome(project, command) is Outcome.ALLOW


@pytest.mark.parametrize(
    "command",
    [
        "git checkout feature && git checkout a.txt",
        "git checkout feature && git checkout nowhere",
        "git branch -m loose other; git checkout feature; git checkout loose",
        "git stash && echo x > a.txt && git checkout a.txt",
        "git stash pop && git checkout a.txt",
        "rm -rf src",
        "rm -rf a.txt src",
    ],
)
def test_a_file_or_a_folder_may_be_lost(project: Path, command: str) -> None:
    assert outcome(project, command) is Outcome.ASK
