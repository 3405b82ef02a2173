"""Facts of the host reach the decision: links, repositories and worktrees on a real disk, through the whole gate."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from assent.contract import Call
from assent.engine.configure import open_gate, place
from assent.facts import below


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = Path(os.path.realpath(tmp_path)) / "project"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


def answer(project: Path, tool: str, text: str, mode: str = "auto", runtime: str = "") -> tuple[str, str]:
    environ = {"HOME": str(project.parent / "home"), "ASSENT_HOME": str(project.parent / "state")}
    gate, here = open_gate(place(str(project), environ), environ, mode=mode)
    key = "command" if tool == "bash" else "file_path"
    call = Call(tool, {key: text}, cwd=str(project), roots=here.roots, home=here.home, shell="bash", runtime=runtime)
    decision = gate.decide(call)
    return decision.outcome.word, decision.code


def test_a_write_in_the_project_runs_and_one_through_a_link_out_of_it_asks(project: Path) -> None:
    (project.parent / "elsewhere").mkdir()
    (project / "out").symlink_to("../elsewhere")
    assert answer(project, "write", "src/new.py") == ("allow", "mode.allow")
    assert answer(project, "write", "out/new.py") == ("ask", "mode.outside-workspace")
    assert answer(project, "bash", "echo x > out/new.py") == ("ask", "mode.outside-workspace")


def test_a_link_to_a_credential_is_the_credential(project: Path) -> None:
    (project / "notes.txt").symlink_to("../home/.ssh/id_rsa")
    (project / "loop").symlink_to("loop")
    assert answer(project, "read", "notes.txt", "yolo") == ("deny", "floor.sensitive-path")
    assert answer(project, "bash", "cat n*.txt", "yolo") == ("deny", "floor.sensitive-path")
    assert answer(project, "write", "loop/x") == ("ask", "mode.outside-workspace")


@pytest.mark.parametrize(
    "command",
    [
        "cat /dev/fd/../cwd/notes.txt",
        "cat /dev/stdin/notes.txt < .",
        "cat /dev/fd/3/notes.txt 3< .",
        "cat \udce9",
        "grep x loop/y",
    ],
)
def test_reading_what_may_be_any_file_asks(project: Path, command: str) -> None:
    """What the name leads to for the process that runs the call is not what it leads to here."""
    (project / "notes.txt").symlink_to("../home/.ssh/id_rsa")
    (project / "\ufffd").symlink_to("../home/.ssh/id_rsa")  # what many make of half a character
    (project / "loop").symlink_to("loop")
    for mode in ("default", "auto"):
        assert answer(project, "bash", command, mode) == ("ask", "mode.unknown-target")


@pytest.fixture
def beside() -> Iterator[Path]:
    """A project with another repository beside it, not in the folder for temporary files."""
    with TemporaryDirectory(prefix="assent-", dir="/var/tmp") as place:
        folder = Path(os.path.realpath(place)) / "project"
        for each in (folder, folder.parent / "other"):
            subprocess.run(["git", "init", "-q", str(each)], check=True)
            commit = ["git", "-C", str(each), "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q"]
            subprocess.run([*commit, "--allow-empty", "-m", "x"], check=True)
        yield folder


def test_git_looks_at_another_repository_whose_settings_run_nothing(beside: Path) -> None:
    for command in ("git -C ../other log --oneline", "git -C ../other status", "cd ../other && git diff"):
        assert answer(beside, "bash", command) == ("allow", "intrinsic.read-only")
    for command in ("git -C ../other add x", "git -C ../other commit -m x", "git -C ../other log; touch a"):
        assert answer(beside, "bash", command) == ("ask", "mode.repository")
    subprocess.run(["git", "-C", str(beside.parent / "other"), "config", "core.fsmonitor", "./x"], check=True)
    assert answer(beside, "bash", "git -C ../other status") == ("ask", "mode.repository")


def test_a_linked_worktree_may_be_removed_by_a_yes_but_not_where_the_session_works(beside: Path) -> None:
    for tree in (".worktrees/a", "../b"):
        subprocess.run(["git", "-C", str(beside), "worktree", "add", "-q", tree], check=True, capture_output=True)
        assert answer(beside, "bash", f"git worktree remove {tree}")[0] == "ask"
        assert answer(beside, "bash", f"rm -rf {tree}")[0] == "ask"
    assert answer(beside, "bash", "rm -rf ../project") == ("deny", "deny.rule")
    assert answer(beside, "bash", "rm -rf .worktrees") == ("deny", "deny.rule")
    assert answer(beside.parent / "b", "bash", "rm -rf .") == ("deny", "deny.rule")
    assert answer(beside.parent / "b", "bash", "rm -rf ../b") == ("deny", "deny.rule")
    assert answer(beside.parent / "b", "bash", "rm -rf ../project") == ("deny", "deny.rule")


def test_git_reads_at_once_in_the_projects_own_repository_only(project: Path) -> None:
    subprocess.run(["git", "init", "-q", str(project / "inner")], check=True)
    assert answer(project, "bash", "git status") == ("allow", "intrinsic.read-only")
    assert answer(project, "bash", "cd inner && git status") == ("ask", "mode.repository")
    assert answer(project, "bash", "git -C inner status") == ("ask", "mode.repository")


def test_git_asks_where_the_repository_would_run_a_program(project: Path) -> None:
    subprocess.run(["git", "-C", str(project), "config", "core.fsmonitor", "touch pwned"], check=True)
    assert answer(project, "bash", "git status") == ("ask", "mode.repository")
    assert answer(project, "bash", "git status", "plan") == ("deny", "mode.plan.mutation")


def test_a_worktree_of_the_project_is_the_workspace(project: Path) -> None:
    identity = ["git", "-C", str(project), "-c", "user.name=t", "-c", "user.email=t@example.com"]
    subprocess.run([*identity, "commit", "-q", "--allow-empty", "-m", "one"], check=True)
    subprocess.run([*identity, "worktree", "add", "-q", "../side"], check=True, capture_output=True)
    assert answer(project, "write", "../side/new.py") == ("allow", "mode.allow")
    assert answer(project, "bash", "git -C ../side status") == ("allow", "intrinsic.read-only")


def test_links_below_a_folder_are_judged_where_they_are_followed(project: Path) -> None:
    (project.parent / "home/.ssh").mkdir(parents=True)
    for folder in ("docs", "clean"):
        (project / folder).mkdir()
        (project / folder / "a.txt").touch()
    (project / "docs/deep").mkdir()
    (project / "docs/deep/k").symlink_to("../../../home/.ssh")
    (project / "clean/self").symlink_to("a.txt")
    (project / "clean/loop").symlink_to("loop")
    (project / "clean/env").symlink_to("/usr/bin/env")
    for command in ("grep -R x {}", "cat {}/**", "find {} -exec cat {{}} +", "rg -L x {}", "cat {}/*/*/*"):
        assert answer(project, "bash", command.format("docs")) == ("deny", "floor.sensitive-path"), command
        assert answer(project, "bash", command.format("clean"))[0] == "allow", command
    assert answer(project, "bash", "grep -r x docs")[0] == "allow"
    assert answer(project, "bash", "find docs -type f -exec cat {} +")[0] == "allow"


def test_a_folder_that_is_too_large_to_look_through_is_not_proved(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "src").mkdir()
    for name in range(20):
        (project / f"src/{name}").touch()
    monkeypatch.setattr(below, "MOST_ENTRIES", 10)
    assert answer(project, "bash", "grep -R x src") == ("ask", "mode.tree")
    assert answer(project, "bash", "grep -r x src")[0] == "allow"


def test_a_copied_link_is_not_read_in_the_same_call(project: Path) -> None:
    for folder in ("docs", "clean"):
        (project / folder).mkdir()
        (project / folder / "a.txt").touch()
    (project / "docs/key").symlink_to("../../home/.ssh/id_work")
    assert answer(project, "bash", "cp -a docs out && cat out/key") == ("ask", "mode.tree")
    assert answer(project, "bash", "cp -a clean out && cat out/a.txt")[0] == "allow"
    assert answer(project, "bash", "mv clean out && cat out/a.txt")[0] == "allow"


def test_the_state_folder_is_guarded_wherever_it_is(project: Path) -> None:
    state = project.parent / "state"
    state.mkdir()
    (state / "secrets.toml").touch()
    os.link(state / "secrets.toml", project / "notes")
    assert answer(project, "bash", f"cat {state}/secrets.toml") == ("deny", "floor.self")
    assert answer(project, "read", f"{state}/held.db", "yolo") == ("deny", "floor.self")
    assert answer(project, "bash", f"grep -r x {project.parent}")[0] != "allow"


def test_a_rule_on_single_files_meets_what_reads_the_folder_above_them(project: Path) -> None:
    (project / "src").mkdir()
    (project / "lib").mkdir()
    (project / "src/.env").touch()
    (project / ".assent.toml").write_text('deny = ["read(**/.env)"]\n')
    for command in ("grep -r K {}", "tar cf - {}", "rg --hidden K {}", "find {} -type f -exec cat {{}} +"):
        assert answer(project, "bash", command.format("src")) == ("ask", "deny.inside"), command
        assert answer(project, "bash", command.format("lib"))[0] == "allow", command
    assert answer(project, "bash", "rg K src")[0] == "allow"


@pytest.mark.parametrize("mode", ["auto", "full_auto"])
def test_a_missing_relative_path_may_stand_for_another_file_where_the_program_looks_for_one(
    project: Path, mode: str
) -> None:
    (project / "a.py").write_text("x")
    (project / ".gemini").mkdir()
    (project / ".gemini/settings.json").write_text("{}")
    assert answer(project, "replace", "a.py", mode, "gemini") == ("allow", "mode.allow")
    assert answer(project, "replace", f"{project}/new.py", mode, "gemini") == ("allow", "mode.allow")
    assert answer(project, "replace", "emini/settings.json", mode, "gemini") == ("ask", "mode.unknown-target")
    assert answer(project, "write_file", "new.py", mode, "gemini") == ("allow", "mode.allow")
