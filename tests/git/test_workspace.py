"""Worktrees as roots of a workspace, told by real repositories."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from assent.facts.workspace import workspace_roots

GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main")


def git(*words: str, at: Path) -> None:
    subprocess.run([*GIT, "-C", str(at), *words], check=True, capture_output=True)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return Path(os.path.realpath(tmp_path))


@pytest.fixture
def repo(place: Path) -> Path:
    (place / "repo").mkdir()
    git("init", "-q", at=place / "repo")
    git("commit", "-q", "--allow-empty", "-m", "one", at=place / "repo")
    return place / "repo"


def test_worktrees_of_the_same_repository_are_roots(repo: Path) -> None:
    git("worktree", "add", "-q", "../side", at=repo)
    side = repo.parent / "side"
    assert workspace_roots([str(repo)]) == (str(repo), str(side))
    assert workspace_roots([str(side)]) == (str(side), str(repo))


def test_a_removed_worktree_is_no_root(repo: Path) -> None:
    git("worktree", "add", "-q", "../side", at=repo)
    (repo.parent / "side/.git").unlink()
    assert workspace_roots([str(repo)]) == (str(repo),)


def test_a_repository_cannot_claim_a_folder_that_does_not_name_it_back(repo: Path) -> None:
    """A hostile `.git` may say what it likes: the folder it claims must agree."""
    victim = repo.parent / "victim"
    victim.mkdir()
    git("init", "-q", at=victim)
    claim = repo / ".git/worktrees/x"
    claim.mkdir(parents=True)
    (claim / "gitdir").write_text(f"{victim}/.git\n")
    (claim / "commondir").write_text("../..\n")
    (claim / "HEAD").write_text("ref: refs/heads/main\n")
    assert workspace_roots([str(repo)]) == (str(repo),)


@pytest.mark.parametrize("how", ["file", "link", "commondir"])
def test_a_folder_whose_git_leads_to_another_repository_gains_nothing(repo: Path, how: str) -> None:
    hostile = repo.parent / "hostile"
    hostile.mkdir()
    if how == "file":
        (hostile / ".git").write_text(f"gitdir: {repo}/.git\n")
    elif how == "link":
        (hostile / ".git").symlink_to(repo / ".git")
    else:
        git("init", "-q", at=hostile)
        (hostile / ".git/commondir").write_text(f"{repo}/.git\n")
    assert workspace_roots([str(hostile)]) == (str(hostile),)


def test_worktrees_of_a_bare_repository_know_each_other(place: Path, repo: Path) -> None:
    git("clone", "-q", "--bare", str(repo), str(place / "app.git"), at=place)
    git("worktree", "add", "-q", str(place / "one"), "-b", "one", at=place / "app.git")
    git("worktree", "add", "-q", str(place / "two"), "-b", "two", at=place / "app.git")
    assert workspace_roots([str(place / "one")]) == (str(place / "one"), str(place / "two"))
