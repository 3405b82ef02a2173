"""A person installs Assent at a real terminal: everything is shown first, and the policy is written after a yes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.terminal.tmux import Terminal

ASSENT = Path(sys.executable).parent / "assent"


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    (tmp_path / "project").mkdir()
    environ = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    found = Terminal(str(tmp_path / "project"), environ, columns=150, lines=50)
    yield found
    found.close()


@pytest.mark.parametrize(("key", "written"), [("y", True), ("n", False), ("", False)])
def test_the_policy_is_shown_and_written_after_a_yes(
    terminal: Terminal, tmp_path: Path, key: str, written: bool
) -> None:
    terminal.type(f"{ASSENT} install claude; echo status=$?")
    terminal.press("Enter")
    shown = terminal.wait_for("write this policy? [y/N]")
    assert ('+mode = "auto"' in shown, '+on = ["dev-tasks", "git-local"]' in shown) == (True, True)
    assert not (tmp_path / ".claude").exists()
    terminal.type(key)
    terminal.press("Enter")
    terminal.wait_for("start one where none runs? [y/N]")
    terminal.press("Enter")
    terminal.wait_for("status=0")
    assert (tmp_path / ".claude/settings.json").exists()
    assert (tmp_path / ".assent/config.toml").exists() is written
    assert "start = true" not in "".join(each.read_text() for each in tmp_path.glob(".assent/config.toml"))


def test_a_server_is_started_by_hooks_after_a_yes_to_that(terminal: Terminal, tmp_path: Path) -> None:
    terminal.type(f"{ASSENT} install claude; echo status=$?")
    terminal.press("Enter")
    for question in ("write this policy? [y/N]", "start one where none runs? [y/N]"):
        terminal.wait_for(question)
        terminal.type("y")
        terminal.press("Enter")
    terminal.wait_for("status=0")
    assert "[server]\nstart = true" in (tmp_path / ".assent/config.toml").read_text()
