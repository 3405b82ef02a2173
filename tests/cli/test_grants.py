"""`assent grants` as a person uses it: the real command, in a scratch home."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assent.approval.grants import GrantBook
from assent.contract.approval import Grant, Scope
from assent.engine.memory import getuser


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


def run(state: Path, *words: str) -> subprocess.CompletedProcess[str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("ASSENT")}
    return subprocess.run(
        [sys.executable, "-m", "assent", "grants", *words],
        cwd=state.parent,
        env={**kept, "HOME": str(state.parent), "ASSENT_HOME": str(state), "TZ": "UTC"},
        capture_output=True,
        text=True,
        check=False,
    )


def keep(state: Path, id: str, scope: Scope, *rules: str, made: float = 0.0, shown: str = "") -> None:
    GrantBook(str(state)).add(
        Grant(
            id,
            scope,
            rules=rules,
            identity="" if rules else "abc",
            project=str(state.parent),
            session="s1",
            made=made or time.time(),
            who="ann",
            channel="terminal",
            shown=shown,
        )
    )


def test_nothing_remembered_is_said(state: Path) -> None:
    done = run(state)
    assert (done.returncode, done.stdout) == (0, "there are no saved answers: every question is asked\n")


def test_the_list_says_what_where_how_long_and_by_whom(state: Path) -> None:
    keep(state, "11111111-a", Scope.PROJECT, "bash(npm test:*)", "write(src/**)", made=1e9)
    keep(state, "22222222-b", Scope.EVERYWHERE, "fetch(domain:example.com)", made=1e9)
    keep(state, "33333333-c", Scope.QUARTER, shown="make\n\x1b[31m")
    lines = run(state).stdout.splitlines()
    assert lines[:5] == [
        "11111111  bash(npm test:*) ; write(src/**)",
        f"          in its project {state.parent}, until it is revoked; by ann in terminal on 2001-09-09 01:46",
        "22222222  fetch(domain:example.com)",
        "          everywhere, until it is revoked; by ann in terminal on 2001-09-09 01:46",
        "33333333  this exact call: make⏎\\u{1b}[31m",
    ]
    assert lines[5].startswith(
        f"          for 15 minutes s1 in {state.parent}, for 15 more minutes; by ann in terminal"
    )


def test_the_list_can_be_read_by_a_program(state: Path) -> None:
    keep(state, "11111111-a", Scope.EVERYWHERE, "bash(npm test)", made=5.0)
    assert json.loads(run(state, "--json").stdout) == {
        "id": "11111111-a",
        "scope": "everywhere",
        "rules": ["bash(npm test)"],
        "identity": "",
        "answers": [],
        "session": "",
        "project": "",
        "made": 5.0,
        "until": 0.0,
        "who": "ann",
        "channel": "terminal",
        "shown": "",
        "files": [],
    }


def test_grants_are_taken_back_by_id_and_all_at_once_and_the_trail_knows(state: Path) -> None:
    for id in ("aa1", "ab2", "cc3"):
        keep(state, id, Scope.EVERYWHERE, f"bash({id})")
    done = run(state, "revoke", "aa", "cc")
    assert (done.returncode, done.stdout) == (0, "revoked: aa1  bash(aa1)\nrevoked: cc3  bash(cc3)\n")
    assert run(state, "revoke", "--all").stdout == "revoked: ab2  bash(ab2)\n"
    assert run(state, "revoke", "--all").stdout == "there are no saved answers\n"
    trail = [json.loads(line) for line in (state / "audit/permissions.jsonl").read_text().splitlines()]
    assert [(each["kind"], each["id"]) for each in trail] == [("revoke", "aa1"), ("revoke", "cc3"), ("revoke", "ab2")]


@pytest.mark.parametrize("words", [("revoke",), ("revoke", "a", "--all"), ("list", "a"), ("--all",), ("revoke", "zz")])
def test_what_is_not_clear_is_an_error_and_changes_nothing(state: Path, words: tuple[str, ...]) -> None:
    keep(state, "a1", Scope.EVERYWHERE, "bash(x)")
    done = run(state, *words)
    assert done.returncode == 2
    assert done.stderr.startswith("assent: ")
    assert len(GrantBook(str(state)).all(0)) == 1


def test_a_broken_book_is_told_with_the_way_out(state: Path) -> None:
    keep(state, "a1", Scope.EVERYWHERE, "bash(x)")
    (state / "grants.json").write_text("{")
    done = run(state)
    assert done.returncode == 2
    assert "is not JSON; repair it, or remove it and no answer is remembered" in done.stderr


def test_who_took_a_grant_back_is_whom_the_system_knows_and_not_what_the_environment_says(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(state, "11111111-a", Scope.EVERYWHERE, "bash(npm test:*)")
    for name in ("USER", "LOGNAME", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "mallory")
    assert run(state, "revoke", "1111").returncode == 0
    (line,) = (state / "audit" / "permissions.jsonl").read_text().splitlines()
    assert (json.loads(line)["kind"], json.loads(line)["who"]) == ("revoke", getuser())
