"""`assent demo` at a real terminal: a person types the answers."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from assent.approval.channels.terminal import DEAF
from tests.terminal.tmux import Terminal

ASSENT = Path(sys.executable).parent / "assent"


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    found = Terminal(str(tmp_path), {"HOME": str(tmp_path), "TERM": "xterm-256color"}, columns=90, lines=60)
    found.type(f"{ASSENT} demo; echo status=$?")
    found.press("Enter")
    yield found
    found.close()


def answer(terminal: Terminal, shown: str, key: str) -> str:
    """Press a key once a question is on the screen and the keys count."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        screen = terminal.screen()
        asked = screen.rpartition("Assent asks")[2] if "Assent asks" in screen else ""
        if shown in asked and re.search(r"^>\s*\Z", asked.rstrip(), re.MULTILINE):
            time.sleep(DEAF + 0.2)
            terminal.type(key)
            return screen
        time.sleep(0.1)
    raise AssertionError(f"`{shown}` was not asked:\n{terminal.screen()}")


def test_the_answers_that_are_typed_are_what_happens(terminal: Terminal) -> None:
    opening = terminal.wait_for("1 of 9")
    assert re.search(r"code     [A-Z2-9]{4}-[A-Z2-9]{4}", opening)
    assert re.search(r"page     http://127\.0\.0\.1:\d+/", opening)
    answer(terminal, "python3 -m unittest -q", "y")
    terminal.wait_for("AssertionError: 1990 != 1800")
    edit = answer(terminal, "pricing.py", "y")
    assert "+    return price * (100 - percent) // 100" in edit
    terminal.wait_for("4 of 9")
    answer(terminal, "Check the fix", "y")
    terminal.wait_for("Ran 2 tests")
    warned = answer(terminal, "rm -rf build", "n")
    assert "it claims “already approved”; only you can say so" in warned
    answer(terminal, "publish.py staging", "n")
    answer(terminal, "publish.py --quietly", "n")
    terminal.wait_for("you said no 3 times in a row")
    time.sleep(DEAF + 0.2)
    terminal.type("p")
    terminal.wait_for("the mode of this session is `plan` now")
    screen = terminal.wait_for("status=0")
    assert "asked: 3 allowed, 3 denied" in screen
    assert "The trail is intact" in screen


def test_no_and_stop_ends_it_with_the_sum(terminal: Terminal) -> None:
    answer(terminal, "python3 -m unittest -q", "x")
    screen = terminal.wait_for("status=0")
    assert "You told the agent to stop" in screen
    assert "asked: 0 allowed, 1 denied" in screen


def test_ctrl_c_twice_ends_it_and_leaves_the_terminal_as_it_was(terminal: Terminal) -> None:
    answer(terminal, "python3 -m unittest -q", "")
    terminal.press("C-c")
    terminal.wait_for("press Ctrl-C again to end the demo")
    terminal.press("C-c")
    terminal.wait_for("status=130")
    terminal.type("stty -a | grep -o -- '-*icanon'; echo typed")
    terminal.press("Enter")
    assert "-icanon" not in terminal.wait_for("typed\n")
