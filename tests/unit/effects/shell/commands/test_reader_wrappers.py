"""Commands that run the command in their words."""

from __future__ import annotations

import pytest

from assent.effects.shell.command import Arg
from assent.effects.shell.commands.readers.wrappers import split_string
from tests.unit.effects.shell.commands.commands import does, effects_of

PATHS = Arg("<stdin>", kind="paths", under=("/w/src",))


def test_xargs_appends_what_comes_from_stdin() -> None:
    assert does("xargs grep -l x", stdin=PATHS) == ["RUN grep -l x <<stdin>>"]
    assert effects_of("xargs rm -f", stdin=PATHS).runs[0].argv == (
        "rm",
        "-f",
        Arg("<stdin>", splits=True, kind="paths", under=("/w/src",)),
    )


def test_xargs_puts_what_comes_in_place_of_a_mark() -> None:
    assert effects_of("xargs -I{} cat {}", stdin=PATHS).runs[0].argv == (
        "cat",
        Arg("<stdin>", kind="paths", under=("/w/src",)),
    )
    assert effects_of("xargs -I% sh -c 'rm %'").runs[0].argv == ("sh", "-c", Arg("rm %", prefix="rm "))
    known = Arg("a b", ("a", "b"))
    assert effects_of("xargs -I{} cp {} {}.bak", stdin=known).runs[0].argv == (
        "cp",
        Arg("a b", ("a", "b")),
        Arg("{}.bak", ("a.bak", "b.bak")),
    )


def test_xargs_reads_its_own_options_only_before_the_command() -> None:
    assert does("xargs -0 -n1 -P 4 -a list rm -I x") == ["READ list", "RUN rm -I x <<stdin>>"]
    assert does("xargs -p rm") == ["EXECUTE <xargs>", "RUN rm <<stdin>>"]


def test_xargs_without_a_command_or_with_an_unknown_option_is_not_known() -> None:
    assert does("xargs -0") == ["EXECUTE <xargs>"]
    assert does("xargs --frob rm") == ["EXECUTE <xargs>", "RUN rm <<stdin>>", "GAP wrapper-option"]


def test_env_runs_what_stands_behind_assignments() -> None:
    assert does("env A=1 B=2 ls -l") == ["RUN ls -l"]
    assert does("env -i -u X ls") == ["RUN ls"]
    assert does("env -C sub ls") == ["RUN ls in /w/sub"]


def test_env_with_a_name_that_changes_what_runs_is_executed() -> None:
    assert does("env PATH=./x ls") == ["EXECUTE <env>", "RUN ls"]
    assert does(("env", Arg("LD_PRELOAD=$x", prefix="LD_PRELOAD="), "ls")) == ["EXECUTE <env>", "RUN ls"]


def test_a_script_under_a_changed_environment_is_a_gap() -> None:
    assert does("env x=rm bash -c '$x a'") == ["RUN bash -c $x a", "GAP environment"]
    assert does("env -u x bash -c '$x a'") == ["RUN bash -c $x a", "GAP environment"]


def test_env_alone_prints_secrets() -> None:
    assert does("env") == ["READ <env> !prints-secret"]
    assert does("env A=1") == ["READ <env> !prints-secret"]
    assert does("printenv HOME") == []
    assert does("printenv") == ["READ <printenv> !prints-secret"]
    assert does("printenv GITHUB_TOKEN") == ["READ <printenv> !prints-secret"]


def test_env_takes_a_string_apart() -> None:
    assert does(("env", "-S", "rm -rf 'a b'", "c")) == ["RUN rm -rf a b c"]
    assert does(("env", "-vSA=1 ls", "-l")) == ["RUN ls -l"]
    assert does(("env", "--split-string=-S 'rm a'")) == ["RUN rm a"]
    assert does(("env", "-S", "rm $X")) == ["EXECUTE <env>", "GAP wrapper-option"]
    assert does(("env", "-S", "sh -c x", "--help")) == ["RUN sh -c x --help"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a  b", ["a", "b"]),
        ("'a b' \"c d\"", ["a b", "c d"]),
        (r"a\_b", ["a", "b"]),
        (r'"a\_b"', ["a b"]),
        (r"a\tb \#c", ["a\tb", "#c"]),
        ("a # b", ["a"]),
        ("a#b", ["a#b"]),
        (r"a \c b", ["a"]),
        (r"'a\'b'", ["a'b"]),
        ("''", [""]),
        ("$A", None),
        ("'a", None),
        (r"\q", None),
    ],
)
def test_a_split_string_is_read_as_env_reads_it(text: str, words: list[str] | None) -> None:
    assert split_string(text) == words


def test_sudo_runs_its_command_with_privilege() -> None:
    assert does("sudo -u root rm a") == ["EXECUTE <sudo> !privilege", "RUN rm a"]
    assert does("sudo -s rm a") == ["EXECUTE <sudo> !privilege", "SHELL rm a"]
    assert does("doas rm a") == ["EXECUTE <doas> !privilege", "RUN rm a"]
    assert does("sudo --frob rm a")[0] == "EXECUTE <sudo> !privilege"


def test_su_reads_a_script() -> None:
    assert does("su -c 'rm a'") == ["EXECUTE <su> !privilege", "SHELL rm a"]
    assert does("su - user -c 'rm a'") == ["EXECUTE <su> !privilege", "SHELL rm a"]


def test_runuser_runs_its_operands() -> None:
    assert does("runuser -u root -- rm a") == ["EXECUTE <runuser> !privilege", "RUN rm a"]


def test_watch_joins_its_words() -> None:
    assert does("watch -n 1 ls -l '|' wc") == ["SHELL ls -l | wc"]


def test_flock_locks_a_file_and_runs() -> None:
    assert does("flock lock rm a") == ["WRITE lock", "RUN rm a"]
    assert does("flock lock -c 'rm a'") == ["WRITE lock", "SHELL rm a"]


def test_a_packages_program_is_named_and_seen() -> None:
    assert does("npx eslint .")[-2:] == ["EXECUTE <npx>", "RUN eslint ."]
    assert "EXECUTE <eslint>" in does("npx eslint .")


def test_parallel_shows_each_command() -> None:
    assert does("parallel rm ::: a b") == ["EXECUTE <parallel>", "RUN rm a", "RUN rm b"]
    assert does("parallel rm {}.x ::: a") == ["EXECUTE <parallel>", "RUN rm <{}.x>"]


def test_busybox_is_its_applet() -> None:
    assert does("busybox rm a") == ["RUN rm a"]
