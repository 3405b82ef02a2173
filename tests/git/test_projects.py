"""The repositories that other tests make without git are repositories to git."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.unit.facts.projects import configured, repository


def test_git_takes_a_repository_that_was_made_by_hand_for_one(tmp_path: Path) -> None:
    settings = {
        "remote.origin.url": "https://example.com/x.git",
        "core.fsmonitor": './evil "a" \\b',
        "filter.lfs.smudge": "git-lfs smudge -- %f",
        "alias.version": "!./evil",
    }
    made = repository(tmp_path / "made")
    configured(made, *(f"{name}={value}" for name, value in settings.items()))

    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", str(made), *words], check=True, capture_output=True, text=True).stdout

    assert git("rev-parse", "--show-toplevel").strip() == str(made.resolve())
    assert {name: git("config", "--local", name).rstrip("\n") for name in settings} == settings
    assert git("-c", "core.fsmonitor=", "status", "--porcelain") == ""
