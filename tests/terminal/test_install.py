"""A person installs Assent at a real terminal: everything is shown first, and the policy is written after a yes."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assent.contain import sandbox
from tests.terminal.tmux import Terminal

ASSENT = Path(sys.executable).parent / "assent"
POLICY, START, CONTAIN = "write this policy? [y/N]", "start one if none runs? [y/N]", "turn that on? [y/N]"


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    (tmp_path / "project").mkdir()
    environ = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    found = Terminal(str(tmp_path / "project"), environ, columns=150, lines=50)
    yield found
    found.close()


@pytest.fixture
def contains(tmp_path: Path) -> bool:
    """Whether calls can run contained on this machine: only then is it offered."""
    (tmp_path / "tried").mkdir(mode=0o700)
    return not sandbox.why_not(str(tmp_path / "tried"))


def answer(terminal: Terminal, question: str, key: str) -> str:
    """What was shown with the question, before the answer."""
    shown = terminal.wait_for(question)
    terminal.type(key)
    terminal.press("Enter")
    return shown


def policy(home: Path) -> dict[str, Any]:
    return tomllib.loads((home / ".assent/config.toml").read_text())


@pytest.mark.parametrize(("key", "written"), [("y", True), ("n", False), ("", False)])
def test_the_policy_is_shown_and_written_after_a_yes(
    terminal: Terminal, tmp_path: Path, contains: bool, key: str, written: bool
) -> None:
    terminal.type(f"{ASSENT} install claude; echo status=$?")
    terminal.press("Enter")
    shown = terminal.wait_for(POLICY)
    assert (
        '+mode = "auto"' in shown,
        '+on = ["dev-tasks", "git-local", "rebuild", "branches", "installs"]' in shown,
    ) == (True, True)
    assert not (tmp_path / ".claude").exists()
    answer(terminal, POLICY, key)
    answer(terminal, START, "")
    if contains:
        answer(terminal, CONTAIN, "")
    assert (CONTAIN in terminal.wait_for("status=0")) is contains
    assert (tmp_path / ".claude/settings.json").exists()
    assert (tmp_path / ".assent/config.toml").exists() is written
    found = policy(tmp_path) if written else {}
    assert ("start" in found.get("server", {}), "on" in found.get("contain", {})) == (False, False)


@pytest.mark.parametrize(("start", "contain"), [("y", "n"), ("n", "y"), ("y", "y")])
def test_hooks_start_a_server_and_calls_run_contained_after_a_yes_to_that(
    terminal: Terminal, tmp_path: Path, contains: bool, start: str, contain: str
) -> None:
    terminal.type(f"{ASSENT} install claude; echo status=$?")
    terminal.press("Enter")
    answer(terminal, POLICY, "y")
    answer(terminal, START, start)
    if contains:
        asked = " ".join(answer(terminal, CONTAIN, contain).split())
        assert "no network, no credentials, writes only in the project" in asked
    terminal.wait_for("status=0")
    found = policy(tmp_path)
    assert found["mode"] == "auto"
    assert found.get("server", {}).get("start") is (True if start == "y" else None)
    assert found.get("contain", {}).get("on") is (True if contains and contain == "y" else None)
