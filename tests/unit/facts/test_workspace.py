"""What becomes a workspace root, and what never does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assent.facts.workspace import is_possible_root, workspace_roots


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return Path(os.path.realpath(tmp_path))


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
