"""Which commands of terminal programs type into another terminal, or show one."""

from __future__ import annotations

import pytest

from assent.effects import shell
from assent.policy import terminals


def reaches(text: str) -> bool:
    lowering = shell.lower(text, cwd="/w", home="/home/user", shell="bash")
    return any(terminals.reaches(each) for each in lowering.invocations)


@pytest.mark.parametrize("length", range(3, len("send-keys") + 1))
def test_every_beginning_of_a_command_of_tmux_is_that_command(length: int) -> None:
    assert reaches(f"tmux {'send-keys'[:length]} y")


@pytest.mark.parametrize("before", ["", "-L x ", "-Lx ", "-S /tmp/s ", "-2u ", "-f /dev/null ", "-u -L x "])
@pytest.mark.parametrize(
    "command", ["send y", "capturep -p", "a", "pipep 'cat'", "source x", "ls \\; send y", "ls\\; send y"]
)
def test_options_and_sequences_hide_no_command_of_tmux(before: str, command: str) -> None:
    assert reaches(f"tmux {before}{command}")


@pytest.mark.parametrize("word", ["-C", "-CC", "-uC", "-CLx", "-f other.conf new -d"])
def test_commands_that_come_from_elsewhere_are_any_commands(word: str) -> None:
    assert reaches(f"tmux {word}")


@pytest.mark.parametrize(
    "text",
    [
        "tmux",
        "tmux ls",
        "tmux -L send ls",
        "tmux new -d -s send 'npm start'",
        "tmux new-session -d \\; split-window",
        "tmux display -p '#S'",
        "tmux set -g status off",
        "tmux wait-for done",
        "tmux kill-session -t a",
        "zellij ls",
        "kitty --version",
        "wezterm cli list",
        "python3 -c 'print(21522)'",
        "gdbus introspect --session",
    ],
)
def test_what_neither_types_nor_shows_is_left_alone(text: str) -> None:
    assert not reaches(text)


def test_a_command_that_tmux_does_not_have_may_be_an_alias_for_any() -> None:
    assert reaches("tmux zz y")
