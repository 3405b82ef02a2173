"""Shells that are started by name."""

from __future__ import annotations

import pytest

from assent.effects.shell.command import Arg, Run
from assent.effects.shell.commands.readers.shells import shell_reads_stdin
from tests.unit.effects.shell.commands.commands import does, effects_of


@pytest.mark.parametrize(
    "command",
    [
        "bash -c 'rm a'",
        "bash -lc 'rm a'",
        "bash -xec 'rm a'",
        "bash -c -- 'rm a'",
        "bash --norc -c 'rm a'",
        "bash -o pipefail -c 'rm a'",
        "bash -eo pipefail -c 'rm a'",
        "/bin/sh -c 'rm a'",
    ],
)
def test_the_script_of_c_is_read(command: str) -> None:
    assert does(command) == ["SHELL rm a"]


def test_the_words_behind_a_script_are_its_parameters() -> None:
    assert effects_of("bash -c '$0 $1' rm a").runs == (Run(script="$0 $1", shell="bash", positional=("rm", "a")),)


def test_an_unknown_script_is_a_gap() -> None:
    assert does(("bash", "-c", Arg("x $x", prefix="x "))) == ["GAP dynamic-script"]
    assert does(("bash", "-c", Arg("$x"))) == ["EXECUTE <bash>", "GAP wrapper-option", "GAP dynamic-script"]


def test_a_script_file_is_executed_by_name() -> None:
    assert does("bash x.sh a") == ["READ x.sh", "EXECUTE x.sh"]
    assert does("bash -v x.sh") == ["READ x.sh", "EXECUTE x.sh"]


def test_checking_syntax_only_reads() -> None:
    assert does("bash -n x.sh") == ["READ x.sh"]
    assert does("bash -n -c 'rm a'") == []
    assert does("bash -n -i -c 'rm a'") == ["SHELL rm a"]


def test_a_file_that_is_loaded_first_is_executed() -> None:
    assert does("bash --rcfile x -i -c :") == ["READ x", "EXECUTE x", "EXECUTE <bash>", "SHELL :", "GAP wrapper-option"]


def test_options_that_change_the_language_are_gaps() -> None:
    for options in ("-O extglob", "+B", "-o posix", "-k"):
        assert "GAP wrapper-option" in does(f"bash {options} -c 'rm a'")


def test_a_shell_without_a_script_reads_stdin() -> None:
    for command in ("bash", "bash -s a", "bash -", "sh -x", "bash -l"):
        assert shell_reads_stdin(tuple(command.split()))
        assert does(command) == ["EXECUTE <" + command.split()[0] + ">"]
    for command in ("bash x.sh", "bash -c x", "bash --version", "bash -n"):
        assert not shell_reads_stdin(tuple(command.split()))


def test_a_missing_or_empty_script_is_executed() -> None:
    assert does("bash -c") == ["EXECUTE <bash>"]
    assert does("bash -c ''") == ["EXECUTE <bash>"]


def test_shells_of_another_language_are_gaps() -> None:
    assert does("fish -c 'rm a'") == ["EXECUTE <fish>", "SHELL rm a", "GAP foreign-shell"]
