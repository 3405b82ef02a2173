"""A person at a real terminal is asked, and what the person types is what happens."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from assent.approval.channels.terminal import DEAF
from tests.terminal.tmux import Terminal

ASSENT = Path(sys.executable).parent / "assent"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@pytest.fixture
def terminal(tmp_path: Path, project: Path) -> Iterator[Terminal]:
    found = Terminal(str(project), {"ASSENT_HOME": str(tmp_path / "state"), "HOME": str(tmp_path)})
    yield found
    found.close()


def ask(terminal: Terminal, command: str, shown: str = "once") -> str:
    """Run a command through the gate, and wait until its question can be answered."""
    terminal.type(f"{ASSENT} run '{command}'; echo status=$?")
    terminal.press("Enter")
    screen = terminal.wait_for(shown)
    time.sleep(DEAF + 0.2)
    return screen


def test_yes_runs_it_and_no_does_not(terminal: Terminal, project: Path) -> None:
    screen = ask(terminal, "touch yes")
    assert ("bash wants to run" in screen, "write yes" in screen, "[mode.write]" in screen) == (True, True, True)
    terminal.type("y")
    terminal.wait_for("status=0")
    assert (project / "yes").exists()
    terminal.press("C-l")
    ask(terminal, "touch no")
    terminal.type("n")
    assert "a person said no" in terminal.wait_for("status=4")
    assert not (project / "no").exists()


@pytest.mark.parametrize("key", ["Escape", "C-c"])
def test_putting_the_question_away_denies_it_and_leaves_the_terminal_as_it_was(
    terminal: Terminal, project: Path, key: str
) -> None:
    ask(terminal, "touch no")
    terminal.press(key)
    terminal.wait_for("status=4")
    terminal.type("echo still-$((40+2))")
    terminal.press("Enter")
    terminal.wait_for("still-42")
    assert not (project / "no").exists()


def test_keys_typed_ahead_and_pasted_text_are_no_answer(terminal: Terminal, project: Path) -> None:
    terminal.type(f"{ASSENT} run 'touch no'; echo status=$?")
    terminal.press("Enter")
    terminal.type("yyy")
    terminal.wait_for("once")
    time.sleep(DEAF + 0.2)
    terminal.type("yes please")
    time.sleep(0.5)
    assert not (project / "no").exists()
    terminal.type("n")
    terminal.wait_for("status=4")
    assert not (project / "no").exists()


def test_an_answer_for_the_session_is_remembered_with_its_rule(terminal: Terminal, project: Path) -> None:
    ask(terminal, "touch one")
    terminal.type("s")
    terminal.wait_for("which calls?")
    terminal.type("1")
    terminal.wait_for("would have matched 0 of your last 0 calls")
    terminal.press("Enter")
    terminal.wait_for("status=0")
    (project / "one").unlink()
    terminal.press("C-l")
    terminal.type(f"{ASSENT} run 'touch one'; echo again=$?")
    terminal.press("Enter")
    terminal.wait_for("again=0")
    assert (project / "one").exists()


def test_without_colour_no_escape_sequence_is_written(tmp_path: Path, project: Path) -> None:
    plain = Terminal(str(project), {"ASSENT_HOME": str(tmp_path / "state"), "HOME": str(tmp_path), "NO_COLOR": "1"})
    try:
        assert "[y] once" in ask(plain, "touch no", "[d] details")
        plain.press("Escape")
        plain.wait_for("status=4")
    finally:
        plain.close()


def test_two_questions_in_one_terminal_are_asked_one_after_the_other(terminal: Terminal, project: Path) -> None:
    both = f"{ASSENT} run 'touch one' & {ASSENT} run 'touch two'; wait; echo all=$((1+1))"
    terminal.type(f"bash -c {shlex.quote(both)}")
    terminal.press("Enter")
    terminal.wait_for("comes next")
    terminal.wait_for("once")
    time.sleep(DEAF + 0.3)
    first = "one" if "write one" in terminal.screen() else "two"
    assert terminal.screen().count("bash wants to run") == 1
    terminal.type("n")
    end = time.monotonic() + 20
    while terminal.screen().count("bash wants to run") < 2 and time.monotonic() < end:
        time.sleep(0.1)
    time.sleep(DEAF + 0.3)
    terminal.type("y")
    terminal.wait_for("all=2")
    assert {each.name for each in project.iterdir()} == {"one", "two"} - {first}


@pytest.mark.parametrize("name", ["TERM", "HUP"])
def test_a_process_that_is_ended_runs_nothing_and_leaves_the_terminal_as_it_was(
    terminal: Terminal, project: Path, name: str
) -> None:
    ask(terminal, "touch no")
    asking = [int(each) for each in pids() if b"touch no" in command_line(each) and b"run" in command_line(each)]
    (process,) = [each for each in asking if str(project) in os.readlink(f"/proc/{each}/cwd")]
    os.kill(process, getattr(signal, f"SIG{name}"))
    terminal.wait_for("status=4")
    terminal.type("echo still-$((40+2))")
    terminal.press("Enter")
    terminal.wait_for("still-42")
    assert not (project / "no").exists()


def test_a_question_comes_up_again_after_its_process_was_stopped(terminal: Terminal, project: Path) -> None:
    ask(terminal, "touch yes")
    asking = [int(each) for each in pids() if b"touch yes" in command_line(each) and b"run" in command_line(each)]
    (process,) = [each for each in asking if str(project) in os.readlink(f"/proc/{each}/cwd")]
    os.kill(process, signal.SIGSTOP)
    terminal.wait_for("Stopped")
    terminal.type("fg")
    terminal.press("Enter")
    end = time.monotonic() + 20
    while terminal.screen().count("bash wants to run") < 2 and time.monotonic() < end:
        time.sleep(0.1)
    time.sleep(DEAF + 0.3)
    terminal.type("y")
    terminal.wait_for("allowed once")
    end = time.monotonic() + 20
    while not (project / "yes").exists() and time.monotonic() < end:
        time.sleep(0.1)
    assert (project / "yes").exists()


def pids() -> list[str]:
    return [each for each in os.listdir("/proc") if each.isdigit()]


def command_line(process: str) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def test_a_rule_that_is_written_while_the_question_is_open_counts(terminal: Terminal, project: Path) -> None:
    ask(terminal, "touch no")
    (project.parent / "state" / "config.toml").write_text('deny = ["write(no)"]\n')
    terminal.type("y")
    assert "the rules deny it now" in terminal.wait_for("status=4")
    assert not (project / "no").exists()


def test_noes_of_one_session_are_counted_across_commands_and_make_an_offer(
    terminal: Terminal, project: Path, tmp_path: Path
) -> None:
    for number in range(3):
        terminal.type(f"{ASSENT} run --session s1 'touch no{number}'; echo status{number}=$?")
        terminal.press("Enter")
        terminal.wait_for("once")
        time.sleep(DEAF + 0.2)
        terminal.type("n")
        if number < 2:
            terminal.wait_for(f"status{number}=4")
            terminal.press("C-l")
    screen = terminal.wait_for("leave everything as it is")
    assert "you said no 3 times in a row" in screen
    assert screen.index("plan") < screen.index("full_auto")
    assert "it may read and plan" in screen
    time.sleep(DEAF + 0.2)
    terminal.type("p")
    terminal.wait_for("status2=4")
    terminal.press("C-l")
    terminal.type(f"{ASSENT} run --session s1 'touch no4'; echo status4=$?")
    terminal.press("Enter")
    assert "plan" in terminal.wait_for("status4=4")


def test_a_question_where_nobody_is_has_not_timed_out(terminal: Terminal, tmp_path: Path) -> None:
    terminal.type(f"setsid --wait {ASSENT} run 'touch no' </dev/null >out 2>&1; echo status=$?")
    terminal.press("Enter")
    terminal.wait_for("status=4")
    lines = (tmp_path / "state/audit/permissions.jsonl").read_text().splitlines()
    (end,) = (each for line in lines if (each := json.loads(line))["kind"] == "answer")
    assert (end["code"], end.get("timed_out", False)) == ("answer.unseen", False)
