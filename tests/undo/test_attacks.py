"""Ways to make a copy or its restoration do something else than it says."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from assent.contract import StoreError
from assent.engine import copies
from assent.engine.memory import Memory
from assent.undo.store import CopyStore, Limits
from tests.undo.git_states import git, state
from tests.undo.test_git import run, session_in, undo
from tests.undo.test_hook import AUTO, last_record
from tests.undo.test_hook import session_in as plain_session
from tests.undo.trees import look


def test_a_folder_that_became_a_link_after_the_copy_is_not_written_through(tmp_path: Path) -> None:
    session = plain_session(tmp_path)
    away = tmp_path.resolve() / "away"
    away.mkdir()
    assert session.decides("rm src/a.txt") == "allow"
    run(session, "rm -r src")
    (session.project / "src").symlink_to(away)
    store = CopyStore(str(session.state))
    with pytest.raises(StoreError, match="link"):
        copies.undo(Memory(str(session.state)), store.copies()[0], Limits())
    assert os.listdir(away) == []


@pytest.mark.parametrize(
    "settings",
    [
        ("core.fsmonitor", "touch /tmp/assent-ran; false"),
        ("filter.x.clean", "touch /tmp/assent-ran"),
        ("core.hooksPath", "hooks"),
        ("diff.external", "touch /tmp/assent-ran"),
        ("include.path", "../more"),
        ("remote.origin.promisor", "true"),
    ],
)
def test_a_repository_that_runs_programs_or_fetches_is_asked_about(tmp_path: Path, settings: tuple[str, str]) -> None:
    session = session_in(tmp_path)
    git(session.project, "config", *settings)
    assert session.decides("git reset --hard") == "ask"
    assert not Path("/tmp/assent-ran").exists()


@pytest.mark.parametrize("hook", ["post-checkout", "reference-transaction", "post-index-change"])
def test_a_repository_with_hooks_is_asked_about(tmp_path: Path, hook: str) -> None:
    session = session_in(tmp_path)
    path = session.project / ".git/hooks" / hook
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/bin/sh\ntouch /tmp/assent-ran\n")
    path.chmod(0o755)
    assert session.decides("git checkout -f topic") == "ask"


def test_replaced_commits_are_kept_as_they_are(tmp_path: Path) -> None:
    session = session_in(tmp_path)
    git(session.project, "replace", "HEAD", "HEAD~2", check=False)
    before = state(session.project)
    assert session.decides("git branch -D topic") == "allow"
    run(session, "git branch -D topic")
    undo(session)
    assert state(session.project) == before


def test_a_linked_worktree_is_put_back(tmp_path: Path) -> None:
    session = session_in(tmp_path)
    git(session.project, "worktree", "add", "-q", str(session.project / "tree"), "topic")
    (session.project / "tree/topic.txt").write_text("changed there\n")
    if session.decides("git -C tree reset --hard") != "allow":
        pytest.skip("a worktree of the session asks here")
    run(session, "git -C tree reset --hard")
    undo(session)
    assert (session.project / "tree/topic.txt").read_text() == "changed there\n"


def test_files_that_git_leaves_out_of_its_comparison_are_asked_about(tmp_path: Path) -> None:
    session = session_in(tmp_path)
    git(session.project, "update-index", "--assume-unchanged", "a.txt")
    (session.project / "a.txt").write_text("lost without a word\n")
    assert session.decides("git reset --hard") == "ask"


def test_a_submodule_is_asked_about(tmp_path: Path) -> None:
    session = session_in(tmp_path)
    inner = session.project / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    git(inner, "commit", "-q", "--allow-empty", "-m", "x")
    git(session.project, "add", "inner", check=False)
    assert session.decides("git reset --hard") == "ask"


@pytest.mark.parametrize("content", ["gitdir: nowhere", "garbage", None], ids=["dangling", "text", "folder"])
@pytest.mark.parametrize("command", ["git clean -fd", "git clean -fdx"])
def test_what_only_looks_like_a_repository_is_asked_about(tmp_path: Path, command: str, content: str | None) -> None:
    """Git removes such a folder, where it leaves a repository."""
    session = session_in(tmp_path)
    folder = session.project / "inner"
    folder.mkdir()
    (folder / "work.txt").write_text("lost\n")
    if content is None:
        for name in ("objects", "refs"):
            (folder / ".git" / name).mkdir(parents=True)
        (folder / ".git/HEAD").write_text("garbage\n")
    else:
        (folder / ".git").write_text(content)
    assert session.decides(command) == "ask"


@pytest.mark.parametrize("command", ["git clean -fd", "git clean -fdx", "git clean -fX"])
def test_a_repository_inside_is_left_alone(tmp_path: Path, command: str) -> None:
    session = session_in(tmp_path)
    for place in ("inner", "new/inner"):
        (session.project / place).mkdir()
        git(session.project / place, "init", "-q")
        (session.project / place / "work.txt").write_text("work\n")
    before = look(session.project)
    assert session.decides(command) == "allow"
    run(session, command)
    undo(session)
    assert look(session.project).keys() == before.keys()
    entries = CopyStore(str(session.state)).entries(CopyStore(str(session.state)).copies()[1])
    assert not [entry for entry in entries if entry.path.startswith(f"{session.project}/inner")]


@pytest.mark.parametrize("command", ["git stash", "git stash -u", "git checkout topic"])
def test_a_folder_in_the_place_of_a_file_is_asked_about(tmp_path: Path, command: str) -> None:
    """`git stash` removes it with all it holds, and saves nothing of that."""
    session = session_in(tmp_path)
    (session.project / "a.txt").unlink()
    (session.project / "a.txt").mkdir()
    (session.project / "a.txt/mine").write_text("mine\n")
    assert session.decides(command) == "ask"


def test_what_git_has_needs_no_copy(tmp_path: Path) -> None:
    """Putting back files alone would leave them on another branch."""
    session = session_in(tmp_path)
    git(session.project, "commit", "-qam", "all")
    assert session.decides("git checkout topic") == "allow"
    assert CopyStore(str(session.state)).copies() == []


def test_a_branch_is_not_put_back_over_others_below_its_name(tmp_path: Path) -> None:
    session = session_in(tmp_path)
    assert session.decides("git branch -D topic") == "allow"
    run(session, "git branch -D topic")
    git(session.project, "branch", "topic/new")
    with pytest.raises(StoreError, match="others below"):
        undo(session)
    assert "topic/new" in git(session.project, "branch")


def test_nothing_is_put_back_while_git_works(tmp_path: Path) -> None:
    session = session_in(tmp_path)
    assert session.decides("git reset --hard") == "allow"
    run(session, "git reset --hard")
    (session.project / ".git/index.lock").touch()
    with pytest.raises(StoreError, match="at work"):
        undo(session)


def test_a_user_rule_on_the_same_danger_is_not_lifted(tmp_path: Path) -> None:
    session = session_in(tmp_path, AUTO + 'ask = ["danger(discard-work)"]\n')
    assert session.decides("git reset --hard") == "ask"


@pytest.mark.parametrize("rule", ["bash(git reset:*)", "write(src/b.txt)", "path(src/**)"])
def test_a_user_rule_on_what_git_changes_is_not_lifted(tmp_path: Path, rule: str) -> None:
    session = session_in(tmp_path, AUTO + f'ask = ["{rule}"]\n')
    assert session.decides("git reset --hard") == "ask"


def test_a_secret_among_what_git_removes_asks(tmp_path: Path) -> None:
    session = session_in(tmp_path)
    (session.project / "new/.env").write_text("TOKEN=x\n")
    assert session.decides("git clean -fd") == "ask"
    assert CopyStore(str(session.state)).copies() == []


def test_objects_are_kept_where_an_alternate_has_them(tmp_path: Path) -> None:
    session = session_in(tmp_path)
    other = tmp_path.resolve() / "other.git"
    git(session.project, "clone", "-q", "--bare", ".", str(other))
    (session.project / ".git/objects/info").mkdir(exist_ok=True)
    (session.project / ".git/objects/info/alternates").write_text(f"{other}/objects\n")
    git(session.project, "repack", "-adlq")
    git(session.project, "tag", "-d", "v1")
    before = state(session.project)
    assert session.decides("git branch -D topic side") == "allow"
    run(session, "git branch -D topic side")
    subprocess.run(["rm", "-rf", str(other)], check=True)
    (session.project / ".git/objects/info/alternates").unlink()
    store = CopyStore(str(session.state))
    packs = [entry for entry in store.entries(store.copies()[0]) if entry.kind == "pack"]
    assert packs[0].size > 0
    assert last_record(session)["copy"] == "kept"
    assert before["refs"]
