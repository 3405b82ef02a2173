"""What becomes a workspace root, and what never does."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from assent.facts.workspace import is_possible_root, workspace_roots

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


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/home",
        "/home/me",
        "/root",
        "/Users",
        "/Users/me",
        "/users/ME",
        "/export/home/me",
        "/var/home/me",
        "/etc",
        "/etc/nginx",
        "/ETC/nginx",
        "/usr",
        "/usr/local/lib/x",
        "/bin",
        "/lib64",
        "/var",
        "/var/lib/docker",
        "/dev/shm/x",
        "/proc/self",
        "/sys/kernel",
        "/boot",
        "/opt",
        "/opt/homebrew/etc",
        "/tmp",
        "/var/tmp",
        "/private/tmp",
        "/private/etc/x",
        "/srv",
        "/mnt",
        "/mnt/c",
        "/mnt/c/Users/me",
        "/mnt/c/Windows/System32",
        "/System/Library",
        "/data/homes/me",
        "/data/homes",
        "/data",
        "relative",
        "",
    ],
)
def test_system_trees_homes_and_their_ancestors_are_never_a_root(path: str) -> None:
    assert not is_possible_root(path, "/data/homes/me")


@pytest.mark.parametrize(
    "path",
    [
        "/code/app",
        "/workspace/repo",
        "/workspace",
        "/home/me/app",
        "/root/app",
        "/Users/me/app",
        "/tmp/app",
        "/private/tmp/app",
        "/var/folders/x/y",
        "/private/var/folders/x",
        "/usr/src/app",
        "/var/www/site",
        "/opt/app",
        "/srv/app",
        "/mnt/c/Users/me/app",
        "/mnt/disk",
        "/var/home/me/app",
        "/data/homes/me/app",
    ],
)
def test_a_project_folder_can_be_a_root(path: str) -> None:
    assert is_possible_root(path, "/data/homes/me")


def test_a_service_accounts_home_may_hold_projects() -> None:
    assert is_possible_root("/var/lib/jenkins/workspace/app", "/var/lib/jenkins")
    assert not is_possible_root("/var/lib/jenkins", "/var/lib/jenkins")
    assert not is_possible_root("/var/lib/other/app", "/var/lib/jenkins")


def test_lexical_and_canonical_forms_are_both_roots(place: Path) -> None:
    (place / "real").mkdir()
    (place / "link").symlink_to("real")
    assert workspace_roots([f"{place}/link/"]) == (f"{place}/link", f"{place}/real")


def test_a_link_to_what_is_no_root_is_no_root(place: Path) -> None:
    (place / "all").symlink_to("/")
    (place / "etc").symlink_to("/etc")
    (place / "home").symlink_to(place / "me")
    assert workspace_roots([f"{place}/all", f"{place}/etc", f"{place}/home"], home=f"{place}/me") == ()


def test_a_folder_that_is_not_absolute_is_dropped(place: Path) -> None:
    assert workspace_roots(["app", "", ".", str(place / "app")], extra=["~/lib", "~other/lib", "lib"], home="") == (
        f"{place}/app",
    )


def test_extra_folders_may_begin_at_home(place: Path) -> None:
    home = str(place)
    assert workspace_roots([f"{home}/app"], extra=["~/notes", "~"], home=home) == (f"{home}/app", f"{home}/notes")


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
