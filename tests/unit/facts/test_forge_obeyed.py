"""git, its helpers and issue trackers in a repository on a real disk: ordinary settings ask nothing, settings that run,
send or lead elsewhere ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.facts.projects import answer, configured, lay

ORDINARY = {
    ".git-blame-ignore-revs": "",
    ".gitattributes": "*.txt text\n*.bin filter=lfs diff=lfs merge=lfs -text\n",
    ".mailmap": "A <a@example.com>\n",
    ".beads/metadata.json": '{"database": "dolt", "backend": "dolt", "dolt_mode": "embedded", "project_id": "1"}',
    ".beads/config.yaml": "# issue tracker\nissue-prefix: x\njson: false\n",
    ".workmux.yaml": "main_branch: main\n",
}


@pytest.mark.parametrize(
    "command",
    [
        "git status",
        "git log -p --stat",
        "git log --help",
        "git help log",
        "git blame a.txt",
        "git archive HEAD",
        "git ls-remote --heads origin",
        "git remote show origin",
        "git format-patch -1 --stdout",
        "git lfs ls-files",
        "gh pr view 1 --json title",
        "glab mr list",
        "bd list --json",
        "bd status",
        "workmux status",
        "hub version",
    ],
)
def test_an_ordinary_repository_asks_nothing(project: Path, command: str) -> None:
    lay(project, ORDINARY)
    configured(
        project,
        "remote.origin.url=https://example.com/x.git",
        "blame.ignoreRevsFile=.git-blame-ignore-revs",
        "filter.lfs.smudge=git-lfs smudge -- %f",
        "help.format=man",
    )
    assert answer(project, command) == "allow"


@pytest.mark.parametrize(
    ("command", "setting"),
    [
        ("git log --help", "man.viewer=evil"),
        ("git push --help", "man.evil.cmd=./evil"),
        ("git help log", "help.format=web"),
        ("git help log", "help.htmlpath=http://evil.example/"),
        ("git format-patch -1 --stdout", "format.signatureFile=~/.ssh/id_rsa"),
        ("git blame a.txt", "blame.ignoreRevsFile=/etc/passwd"),
        ("workmux status --git", "core.fsmonitor=./evil"),
        ("hub version", "alias.version=!./evil"),
    ],
)
def test_a_setting_of_the_repository_that_runs_or_shows_something_asks(
    project: Path, command: str, setting: str
) -> None:
    configured(project, setting)
    assert answer(project, command) != "allow"


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("git archive HEAD", {".lfsconfig": "[lfs]\n\turl = http://evil.example/\n"}),
        ("git ls-remote evil", {"evil/HEAD": "ref: refs/heads/main\n"}),
        ("git remote show origin evil", {"evil.bundle": ""}),
        ("glab mr list", {".git/glab-cli/config.yml": "glab_pager: ./evil\n"}),
        ("bd list", {".beads/.env": "LD_PRELOAD=./evil.so\n"}),
        ("bd ready", {".beads/redirect": "../elsewhere\n"}),
        ("bd show x-1", {".beads/metadata.json": '{"database": "dolt", "dolt_server_host": "evil.example"}'}),
        ("bd count", {".beads/metadata.json": '{"database": "/home/other/.beads/dolt"}'}),
        ("bd status", {".beads/metadata.json": '{"DOLT_SERVER_HOST": "evil.example"}'}),
        ("bd status", {".beads/config.yaml": "dolt:\n  auto-push: true\n"}),
        ("bd search x", {".beads/config.yaml": "db: /home/other/.beads/x.db\n"}),
        ("workmux list", {".jj/repo/config.toml": ""}),
    ],
)
def test_a_file_of_the_tree_that_leads_elsewhere_asks(project: Path, command: str, files: dict[str, str]) -> None:
    lay(project, ORDINARY | files)
    assert answer(project, command) != "allow"
