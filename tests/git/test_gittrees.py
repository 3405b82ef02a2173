"""What git would change in a working tree, told by real repositories, and judged by the whole gate."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from assent.contract import Call
from assent.engine.configure import open_gate, place
from assent.facts.gittrees import changes, nowhere
from assent.facts.links import Links


def git(folder: Path, *args: str) -> str:
    person = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    return subprocess.run(
        ["git", "-C", str(folder), *person, *args], check=True, capture_output=True, text=True
    ).stdout.strip()


def branch(folder: Path, name: str, files: dict[str, str | None], start: str = "main") -> None:
    """A branch with one commit that writes or removes files, and back to `main`."""
    git(folder, "checkout", "-q", "-b", name, start)
    for file, text in files.items():
        path = folder / file
        if text is None:
            git(folder, "rm", "-qr", file)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            git(folder, "add", "-f", file)
    git(folder, "commit", "-q", "-m", name)
    git(folder, "checkout", "-q", "main")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = Path(os.path.realpath(tmp_path)) / "project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "src").mkdir()
    (folder / "src" / "a").write_text("1\n")
    (folder / "src" / "b").write_text("1\n")
    (folder / ".gitignore").write_text("*.log\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "one")
    return folder


def told(project: Path, asked: str) -> tuple[list[str], list[str]] | None:
    """The paths of `changes`, seen from the project."""
    found = changes(f"{asked}:{project}", Links())
    if found is None:
        return None
    written, removed = found
    return (
        [os.path.relpath(path, project) for path in written],
        [os.path.relpath(path, project) for path in removed],
    )


def answer(project: Path, command: str, mode: str = "auto") -> tuple[str, str]:
    environ = {"HOME": str(project.parent / "home"), "ASSENT_HOME": str(project.parent / "state")}
    gate, here = open_gate(place(str(project), environ), environ, mode=mode)
    call = Call("bash", {"command": command}, cwd=str(project), roots=here.roots, home=here.home, shell="bash")
    decision = gate.decide(call)
    return decision.outcome.word, decision.code


EXECUTES = ("ask", "mode.execute")


def test_a_branch_that_changes_files_of_the_workspace_is_as_welcome_as_an_edit(project: Path) -> None:
    branch(project, "dev", {"src/a": "2\n", "src/new": "2\n", "src/b": None})
    assert told(project, "checkout dev") == (["src/a", "src/new"], ["src/b"])
    for command in ("git checkout dev", "git switch dev", "git checkout -b x dev", "git checkout --detach dev"):
        assert answer(project, command) == ("allow", "mode.allow")
        assert answer(project, command, "default")[0] == "ask"
        assert answer(project, command, "plan") == ("deny", "mode.plan.mutation")


@pytest.mark.parametrize("file", [".assent.toml", ".claude/settings.json", ".ASSENT.toml/../.assent.toml"])
def test_a_branch_that_brings_a_protected_file_is_that_write(project: Path, file: str) -> None:
    branch(project, "evil", {os.path.normpath(file): "x\n"})
    for command in ("git checkout evil", "git switch -c x evil", "git merge --no-edit evil"):
        assert answer(project, command) == ("deny", "floor.self")


def test_rules_on_files_speak_of_what_a_branch_brings(project: Path) -> None:
    branch(project, "ci", {".github/workflows/ci.yml": "x\n"})
    branch(project, "gone", {"src/b": None})
    assert answer(project, "git checkout ci") == ("ask", "ask.rule")
    assert told(project, "checkout gone") == ([], ["src/b"])


@pytest.mark.parametrize("file", [".husky/post-checkout", ".githooks/x", "sub/HEAD"])
def test_hooks_and_repositories_that_a_branch_brings_run_something(project: Path, file: str) -> None:
    branch(project, "evil", {file: "x\n"})
    assert answer(project, "git checkout evil")[0] == "ask"
    assert told(project, "checkout evil") is None


def test_links_and_submodules_that_a_branch_brings_are_not_told(project: Path) -> None:
    git(project, "checkout", "-q", "-b", "link")
    (project / "out").symlink_to("/etc")
    git(project, "add", "out")
    git(project, "commit", "-q", "-m", "link")
    git(project, "checkout", "-q", "main")
    assert answer(project, "git checkout link") == EXECUTES
    git(project, "checkout", "-q", "-b", "module")
    head = git(project, "rev-parse", "HEAD")
    git(project, "update-index", "--add", "--cacheinfo", f"160000,{head},sub")
    git(project, "commit", "-q", "-m", "module")
    git(project, "checkout", "-q", "main")
    assert answer(project, "git checkout module") == EXECUTES


def test_what_git_does_not_hold_is_not_overwritten_unasked(project: Path) -> None:
    branch(project, "logs", {"debug.log": "x\n"})
    branch(project, "folder", {"build.log/x": "x\n"})
    assert answer(project, "git checkout logs") == ("allow", "mode.allow")
    assert answer(project, "git checkout folder") == ("allow", "mode.allow")
    (project / "debug.log").write_text("mine")
    (project / "build.log").write_text("mine")
    assert answer(project, "git checkout logs") == EXECUTES
    assert answer(project, "git checkout folder") == EXECUTES


def test_a_file_in_the_place_of_a_folder_is_not_told(project: Path) -> None:
    git(project, "checkout", "-q", "-b", "swap")
    git(project, "rm", "-qr", "src")
    (project / "src").write_text("x")
    git(project, "add", "src")
    git(project, "commit", "-q", "-m", "swap")
    git(project, "checkout", "-q", "main")
    assert answer(project, "git checkout swap") == EXECUTES


def test_names_are_taken_byte_for_byte(project: Path) -> None:
    branch(project, "odd", {"a\nb": "x\n", ' "c': "x\n", "d-": "x\n"})
    assert told(project, "checkout odd") == ([' "c', "a\nb", "d-"], [])


def test_a_name_that_can_be_read_in_two_ways_is_not_told(project: Path) -> None:
    branch(project, "dev", {"src/a": "2\n"})
    branch(project, "evil", {".assent.toml": "x\n"})
    git(project, "tag", "dup", "dev")
    git(project, "branch", "dup", "evil")
    assert told(project, "checkout dup") is None
    (project / "dev").write_text("a file")
    assert told(project, "checkout dev") is None
    assert answer(project, "git checkout dev") == ("ask", "ask.rule")
    assert told(project, "checkout nosuch") is None


def test_a_branch_of_a_remote_is_found_as_git_finds_it(project: Path) -> None:
    branch(project, "dev", {"src/a": "2\n"})
    git(project, "update-ref", "refs/remotes/origin/far", "dev")
    assert told(project, "checkout far") == (["src/a"], [])
    git(project, "update-ref", "refs/remotes/other/far", "main")
    assert told(project, "checkout far") is None


def test_a_merge_is_told_by_what_it_gives(project: Path) -> None:
    branch(project, "theirs", {"src/new": "2\n"})
    git(project, "mv", "src", "lib")
    git(project, "commit", "-q", "-m", "moved")
    found = told(project, "merge theirs")
    assert found is not None
    assert "lib/new" in found[0]
    assert answer(project, "git merge --no-edit theirs") == ("allow", "mode.allow")
    assert git(project, "status", "--short") == ""


def test_a_stash_puts_back_what_changed_and_brings_it_again(project: Path) -> None:
    (project / "src" / "a").write_text("2\n")
    (project / "new").write_text("2\n")
    assert told(project, "stash") == (["src/a"], [])
    assert told(project, "stash-all") == (["src/a"], ["new"])
    git(project, "stash", "-u")
    assert told(project, "unstash") == (["src/a", "new"], [])
    assert answer(project, "git stash pop") == ("allow", "mode.allow")


def test_a_stash_that_brings_a_protected_file_is_that_write(project: Path) -> None:
    (project / ".assent.toml").write_text("# x\n")
    assert answer(project, "git stash -u") == ("deny", "floor.self")
    git(project, "stash", "-u")
    assert answer(project, "git stash pop") == ("deny", "floor.self")
    (project / "src" / "a").write_text("2\n")
    git(project, "stash")  # the one below is popped next
    assert answer(project, "while git stash pop; do :; done") == ("deny", "floor.self")


@pytest.mark.parametrize(
    "command",
    [
        "git fetch && git checkout dev",
        "git commit -m x && git checkout dev",
        "git checkout dev && git stash pop",
        "git checkout dev & git fetch",
        "echo x > src/a; git checkout dev",
        "git checkout dev && python3 -c 'print(1)'",
        "GIT_WORK_TREE=/etc git checkout dev",
        "git --work-tree=/etc checkout dev",
        "git -c core.hooksPath=src checkout dev",
    ],
)
def test_what_else_the_call_changes_takes_the_proof_away(project: Path, command: str) -> None:
    branch(project, "dev", {"src/a": "2\n"})
    assert answer(project, command)[0] == "ask"


def test_hooks_and_settings_of_the_repository_take_the_proof_away(project: Path) -> None:
    branch(project, "dev", {"src/a": "2\n"})
    hook = project / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n")
    assert answer(project, "git checkout dev")[0] == "ask"
    hook.unlink()
    assert answer(project, "git checkout dev") == ("allow", "mode.allow")
    (project / "git.inc").write_text("")
    git(project, "config", "include.path", "../git.inc")
    assert answer(project, "git checkout dev") == EXECUTES


def test_a_repository_that_says_how_it_merges_is_not_told(project: Path) -> None:
    branch(project, "dev", {"settings.json": "{}\n"})
    assert answer(project, "git merge --no-edit dev") == ("allow", "mode.allow")
    git(project, "config", "branch.main.mergeOptions", "-X subtree=.claude")
    assert answer(project, "git merge --no-edit dev") == EXECUTES


def test_without_a_repository_git_changes_nothing(tmp_path: Path) -> None:
    assert nowhere(str(tmp_path / "missing"), Links())
    assert nowhere(os.path.realpath(tmp_path), Links())


def test_a_look_leaves_the_repository_as_it_was(project: Path) -> None:
    branch(project, "dev", {"src/a": "2\n"})

    def files() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in project.rglob("*") if path.is_file()}

    before = files()
    for asked in ("checkout dev", "merge dev", "stash-all", "unstash", "pick dev"):
        changes(f"{asked}:{project}", Links())
    assert files() == before
