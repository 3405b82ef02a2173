"""A person puts back at a real terminal what a call deleted; an agent cannot."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.terminal.tmux import Terminal
from tests.undo.test_hook import session_in
from tests.unit.hook.test_hook import Session

ASSENT = Path(sys.executable).parent / "assent"


@pytest.fixture
def session(tmp_path: Path) -> Session:
    found = session_in(tmp_path)
    assert found.decides("rm -rf src") == "allow"
    subprocess.run(["rm", "-rf", "src"], cwd=found.project, check=True)
    return found


@pytest.fixture
def terminal(session: Session) -> Iterator[Terminal]:
    environ = {"ASSENT_HOME": str(session.state), "HOME": str(session.project.parent)}
    found = Terminal(str(session.project), environ)
    yield found
    found.close()


def run(terminal: Terminal, words: str, wait: str) -> str:
    terminal.press("C-l")
    terminal.type(f"{ASSENT} undo {words}; echo status=$?")
    terminal.press("Enter")
    return terminal.wait_for(wait)


def test_a_deletion_is_put_back_and_taken_back_again(terminal: Terminal, session: Session) -> None:
    shown = run(terminal, "", "status=0")
    found = re.search(r"(\w{8})  rm -rf src", shown)
    assert found is not None
    assert "2 paths, 4 bytes" in shown
    run(terminal, found[1], "Put this back?")
    terminal.type("y")
    terminal.press("Enter")
    again = re.search(r"assent undo (\w{8})` takes that back", terminal.wait_for("status=0"))
    assert again is not None
    assert (session.project / "src/a.txt").read_text() == "one\n"
    run(terminal, f"{again[1]} --yes", "status=0")
    assert not (session.project / "src").exists()
    codes = [json.loads(line)["code"] for line in (session.state / "audit/permissions.jsonl").read_text().splitlines()]
    assert codes == ["undo.copied", "undo.restored", "undo.restored"]


def test_a_no_changes_nothing(terminal: Terminal, session: Session) -> None:
    id = re.search(r"(\w{8})  rm -rf src", run(terminal, "", "status=0"))
    assert id is not None
    run(terminal, id[1], "Put this back?")
    terminal.type("n")
    terminal.press("Enter")
    assert "nothing was put back" in terminal.wait_for("status=1")
    assert not (session.project / "src").exists()


def test_a_dry_run_shows_what_would_change(terminal: Terminal, session: Session) -> None:
    id = re.search(r"(\w{8})  rm -rf src", run(terminal, "", "status=0"))
    assert id is not None
    assert "put back file" in run(terminal, f"{id[1]} --dry-run", "status=0")
    assert not (session.project / "src").exists()


def test_without_a_terminal_it_is_refused(session: Session) -> None:
    environ = {"ASSENT_HOME": str(session.state), "HOME": str(session.project.parent), "PATH": os.environ["PATH"]}
    (line,) = subprocess.run(
        [ASSENT, "undo", "--json"], env=environ, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    done = subprocess.run(
        [ASSENT, "undo", json.loads(line)["id"]], env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "this is for a person in a terminal" in done.stderr


@pytest.mark.parametrize("command", ["assent undo", "assent undo 1234 --yes", "rm -rf ~/.assent/undo"])
def test_an_agent_is_stopped(session: Session, command: str) -> None:
    assert session.decides(command) == "deny"
