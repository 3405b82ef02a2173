"""A person pauses the protection of Assent at a real terminal; nobody else does."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from assent.state import pause
from tests.terminal.tmux import Terminal

ASSENT = Path(sys.executable).parent / "assent"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def terminal(tmp_path: Path, state: Path) -> Iterator[Terminal]:
    found = Terminal(str(tmp_path), {"ASSENT_HOME": str(state), "HOME": str(tmp_path)})
    yield found
    found.close()


def begin(terminal: Terminal, command: str = "") -> str:
    terminal.type(command or f"{ASSENT} pause 10m; echo status=$?")
    terminal.press("Enter")
    found = re.search(r"Type (\w{6}) to confirm", terminal.wait_for("to confirm"))
    assert found is not None
    return found[1]


def test_the_word_that_is_shown_begins_it_and_it_is_recorded(terminal: Terminal, state: Path) -> None:
    word = begin(terminal)
    terminal.type(word)
    terminal.press("Enter")
    terminal.wait_for("status=0")
    assert pause.lasts(str(state))
    terminal.type(f"{ASSENT} pause --end; echo over=$?")
    terminal.press("Enter")
    terminal.wait_for("over=0")
    assert not pause.lasts(str(state))
    lines = (state / "audit/permissions.jsonl").read_text().splitlines()
    assert [json.loads(line)["code"] for line in lines] == ["pause.begin", "pause.end"]


def test_another_word_begins_nothing(terminal: Terminal, state: Path) -> None:
    begin(terminal)
    terminal.type("yes")
    terminal.press("Enter")
    assert "nothing was paused" in terminal.wait_for("status=2")
    assert not pause.lasts(str(state))


def test_what_an_agent_starts_is_refused_by_its_name_or_its_marks(
    terminal: Terminal, tmp_path: Path, state: Path
) -> None:
    (tmp_path / "claude").symlink_to("/bin/bash")
    state.mkdir()
    (state / "hosts.json").write_text(
        json.dumps([{"runtime": "x", "scope": "user", "file": "/x", "names": ["my-agent"]}])
    )
    (tmp_path / "my-agent").symlink_to("/bin/bash")
    for number, line in enumerate((f"{tmp_path}/claude -c", f"{tmp_path}/my-agent -c", "CLAUDECODE=1 bash -c")):
        terminal.type(f"{line} '{ASSENT} pause 10m; echo end={number}'")
        terminal.press("Enter")
        assert "from within an agent" in terminal.wait_for(f"end={number}\n")
        terminal.press("C-l")
    assert not pause.lasts(str(state))


def test_without_a_terminal_it_is_refused(tmp_path: Path, state: Path) -> None:
    environ = {"ASSENT_HOME": str(state), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run([ASSENT, "pause", "10m"], capture_output=True, text=True, env=environ, input="x\n")
    assert (done.returncode, "person in a terminal" in done.stderr) == (2, True)


@pytest.mark.parametrize("text", ["0m", "61m", "2h", "-5m", "ten", "5d"])
def test_a_time_that_is_none_or_too_long_is_refused(tmp_path: Path, text: str) -> None:
    environ = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run([ASSENT, "pause", "--", text], capture_output=True, text=True, env=environ)
    assert (done.returncode, "is not a time" in done.stderr) == (2, True)
