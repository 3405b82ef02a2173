"""The inbox in a real terminal: a person signs in and answers, and a terminal that is closed leaves nothing behind."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from assent.undo.copy import About
from assent.undo.store import CopyStore, Limits
from assent.undo.take import take
from tests.server.program import Program
from tests.terminal import seat
from tests.terminal.tmux import Terminal

ASSENT = Path(sys.executable).parent / "assent"


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    found = Program(tmp_path, config="[approval]\nunseen = 5\n")
    yield found
    found.stop()


@pytest.fixture
def terminal(program: Program) -> Iterator[Terminal]:
    """A terminal of the usual size, in which the inbox runs and the person has signed in."""
    environ = {**program.environ, "TERM": "tmux-256color", "LANG": "C.UTF-8"}
    found = Terminal(str(program.project), environ, columns=80, lines=24)
    found.type(f"{ASSENT} inbox; echo status=$?")
    found.press("Enter")
    found.wait_for("one-time code")
    found.type(program.code())
    found.press("Enter")
    found.wait_for("Nothing waits for you")
    yield found
    found.close()


def seen(terminal: Terminal, text: str) -> None:
    """A question is on the screen, long enough to be answered."""
    terminal.wait_for(text)
    time.sleep(seat.ARMED)


def test_one_call_is_approved_and_another_denied(program: Program, terminal: Terminal) -> None:
    first = program.calling("npm install left-pad")
    seen(terminal, "$ npm install left-pad")
    terminal.type("y")
    assert first.result(30).json["allowed"] is True
    terminal.wait_for("allowed once by you")
    second = program.calling("npm install right-pad")
    seen(terminal, "$ npm install right-pad")
    terminal.type("t")
    terminal.wait_for("Deny, and tell the agent")
    terminal.type("one pad is enough")
    terminal.press("Enter")
    denied = second.result(30).json
    assert (denied["allowed"], "one pad is enough" in denied["message"]) == (False, True)
    terminal.wait_for("denied by you")
    terminal.type("q")
    terminal.wait_for("status=0")
    terminal.type("echo still-$((40+2))")
    terminal.press("Enter")
    terminal.wait_for("still-42")
    assert program.sign_in().ask("GET", "/v1/status").json["signed_in"] == 1, "the inbox signed out"


def test_a_closed_terminal_denies_what_was_being_answered_and_nothing_else(
    program: Program, terminal: Terminal
) -> None:
    other = program.calling("npm install other", session="other")
    seen(terminal, "npm install other")
    asked = program.calling("npm install this", session="this")
    terminal.wait_for("npm install this")
    terminal.type("j")
    terminal.wait_for("$ npm install this")
    terminal.type("s")
    terminal.wait_for("which calls?")
    begun = time.monotonic()
    terminal.close()
    denied = asked.result(30).json
    assert (denied["allowed"], time.monotonic() - begun < 5) == (False, True)
    assert (program.held_now(), other.done()) == (1, False)
    assert other.result(30).json["allowed"] is False  # nobody else shows it: after the grace it is denied, not stranded
    assert program.held_now() == 0


def test_what_a_call_deleted_is_put_back_from_the_inbox(program: Program, terminal: Terminal) -> None:
    path = Path(program.project).resolve() / "lost.txt"
    path.write_text("one\n")
    about = About("rm lost.txt", "session-1", str(program.project), "claude")
    take(CopyStore(str(program.state)), [str(path)], id="copy1", now=time.time(), about=about, limits=Limits())
    path.unlink()
    terminal.type("u")
    terminal.wait_for("rm lost.txt")
    terminal.press("Enter")
    terminal.wait_for("put back file")
    terminal.type("p")
    terminal.wait_for("replaced by an undo")
    assert path.read_text() == "one\n"
    terminal.press("Escape")
    terminal.wait_for("Nothing waits for you")
