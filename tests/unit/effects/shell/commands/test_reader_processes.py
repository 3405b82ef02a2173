"""Signals, and lists of processes."""

from __future__ import annotations

import pytest

from tests.unit.effects.shell.commands.commands import does


@pytest.mark.parametrize("command", ["kill -l", "kill -0 123", "kill -s 0 123"])
def test_asking_does_nothing(command: str) -> None:
    assert does(command) == []


@pytest.mark.parametrize("command", ["kill 123", "kill -9 123", "kill -HUP -- -123", "pkill node", "killall node"])
def test_ending_processes_is_executed(command: str) -> None:
    assert does(command) == [f"EXECUTE <{command.split()[0]}>"]


@pytest.mark.parametrize("command", ["kill -9 -1", "kill -- -1", "kill -1", "pkill .", "pkill -9 -u me"])
def test_ending_all_is_a_danger(command: str) -> None:
    assert does(command)[-1].endswith("!kill-all")


@pytest.mark.parametrize(
    "command", ["ps -ef", "ps -aux", "ps -ax", "ps -u root", "ps -eo pid,args -p 1", "ps -fu www-data"]
)
def test_listing_processes_does_nothing(command: str) -> None:
    assert does(command) == []


@pytest.mark.parametrize(
    "command", ["ps -axe", "ps -auxe", "ps -e -x", "ps -x -ef", "ps -u we", "ps -ef -t w", "ps -e -O p"]
)
def test_words_that_are_read_a_second_time_show_the_environment(command: str) -> None:
    assert does(command) == ["EXECUTE <ps> !prints-secret"]
