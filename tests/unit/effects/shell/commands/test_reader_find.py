"""find and fd."""

from __future__ import annotations

import pytest

from assent.effects.shell.command import EVERY, Arg
from tests.unit.effects.shell.commands.commands import does, effects_of

FOUND = Arg("{}", kind="paths", under=("/w/src/", EVERY))
REGULAR = Arg("{}", kind="files", under=("/w/src/", EVERY))


@pytest.mark.parametrize(
    "command",
    [
        "find src",
        "find src -name '*.py'",
        "find src -type f -o -name x",
        "find src ! -type f",
        "find src ( -type f )",
        "find -L src -type f",
        "find src -follow -type f",
        "find src -type l",
        "find src ( -name a -o -name b ) -not -path './x/*' -print0",
        "find -L src -maxdepth 2 -newermt 2024-01-01 -prune -o -print",
    ],
)
def test_looking_lists_the_roots(command: str) -> None:
    assert does(command) == ["LIST+ src"]
    assert (effects_of(command).prints, effects_of(command).under[0]) == ("paths", "/w/src")


@pytest.mark.parametrize(
    "command", ["find src -type f", "find src -name '*.py' -type f", "find src -type f ( -name a -o -name b )"]
)
def test_regular_files_are_no_links(command: str) -> None:
    assert effects_of(command).prints == "files"
    assert effects_of("fd -t f x src").prints == "filenames"
    assert effects_of("fd -L -t f x src").prints == "names"
    assert effects_of("fd -t f -t l x src").prints == "names"


def test_a_command_before_the_test_of_the_type_gets_links_too() -> None:
    assert effects_of("find src -exec cat {} + -type f").runs[0].argv == ("cat", FOUND)
    assert effects_of("find src -type f -o -exec cat {} +").runs[0].argv == ("cat", FOUND)
    assert effects_of("find src -type f -exec cat {} +").runs[0].argv == ("cat", REGULAR)


def test_a_name_that_is_looked_for_is_told_with_the_roots() -> None:
    assert effects_of("find src -name .env").under == ("/w/src", "/w/src/.env")
    assert effects_of("find a b -iname X.Y").under == ("/w/a", "/w/b", "/w/a/X.Y", "/w/a/x.y", "/w/b/X.Y", "/w/b/x.y")
    assert effects_of("find . ! -name .env -not -path './x/*'").under == ("/w", EVERY)
    assert effects_of("find src -path '*/.env' -exec cat {} +").runs[0].argv == (
        "cat",
        Arg("{}", kind="paths", under=("/w/src/", "/w/src/.env/")),
    )


def test_without_a_root_it_is_the_current_folder() -> None:
    assert does("find -name x") == ["LIST+ /w"]


def test_a_command_is_run_on_names_below_the_roots() -> None:
    found = effects_of("find src -type f -exec grep -l y {} +")
    assert found.runs[0].argv == ("grep", "-l", "y", REGULAR)
    assert found.prints == ""
    assert does("find src -exec rm {} ;") == ["LIST+ src", "RUN rm <{}>"]
    assert effects_of("find src -execdir rm {} ;").runs[0].argv == ("rm", FOUND)
    assert does("find src -execdir rm a{} ;") == ["LIST+ src", "RUN rm <a{}> in ?"]


def test_what_is_found_is_exact_for_the_command_but_not_for_a_script() -> None:
    script = effects_of(("sh", "-c", 'cat "$1"', "_", FOUND)).runs[0]
    assert script.positional == ("_", Arg("{}", kind="paths", under=("/w/src", EVERY)))
    assert effects_of(("env", "-C", "/etc", "cat", FOUND)).runs[0].argv == (
        "cat",
        Arg("{}", kind="paths", under=("/w/src", EVERY)),
    )


def test_a_format_may_print_anything() -> None:
    assert effects_of("fd x").prints == "names"
    assert effects_of("fd --format=/etc/passwd").prints == ""
    assert effects_of("find . -printf /etc/passwd").prints == ""


def test_two_commands_are_both_seen() -> None:
    assert does("find src -exec ls {} ; -exec rm {} ;") == ["LIST+ src", "RUN ls <{}>", "RUN rm <{}>"]


def test_asking_first_or_an_open_end_is_executed() -> None:
    assert does("find src -ok rm {} ;") == ["LIST+ src", "EXECUTE <find>", "RUN rm <{}>"]
    assert does("find src -exec rm {}") == ["LIST+ src", "EXECUTE <find>", "RUN rm <{}>"]


def test_delete_deletes_below_the_roots() -> None:
    assert does("find a b -name x -delete") == [
        "LIST+ a",
        "LIST+ b",
        "DELETE+ a !recursive-delete",
        "DELETE+ b !recursive-delete",
    ]


def test_files_are_written_and_read() -> None:
    assert does("find src -fprint out -fls o2 -fprintf o3 %p") == ["LIST+ src", "WRITE out", "WRITE o2", "WRITE o3"]
    assert does("find -files0-from list") == ["LIST+ /w", "READ list", "LIST+ ?"]


def test_a_predicate_that_is_not_known_is_executed() -> None:
    assert does("find src -frob") == ["LIST+ src", "EXECUTE <find>"]


def test_an_unknown_word_may_be_an_action() -> None:
    assert does(("find", Arg("$x"))) == ["LIST+ ?", "EXECUTE <find>"]
    assert does(("find", Arg("*", ("*",), pattern=True)))[-1] == "EXECUTE <find>"
    assert does(("find", Arg("s$x", prefix="s"), "-name", Arg('"$y"'))) == ["LIST+ ?"]
    assert does(("find", ".", "-name", Arg("*.py", ("*.py",), pattern=True))) == ["LIST+ /w"]
    assert does(("find", ".", "-name", Arg("$y", splits=True)))[-1] == "EXECUTE <find>"


def test_fd_lists_and_runs() -> None:
    assert does("fd -e py pattern src") == ["LIST+ src"]
    assert does("fd pattern") == ["LIST+ /w"]
    assert does("fd -x rm") == ["LIST+ /w", "RUN rm <{}>"]
    assert does("fd -tf pattern -X grep x {} ; src")[-1] == "RUN grep x <{}>"
    assert does("fd -Hxrm") == ["LIST+ /w", "RUN rm <{}>"]


def test_all_names_are_meant_unless_a_name_a_place_an_age_or_a_size_is_asked_for() -> None:
    for line in (
        "find src",
        "find src -type f",
        "find src ! -name a1",
        "find src -name '*'",
        "find src -name a1 -o -true",
    ):
        assert EVERY in effects_of(line).under, line
    for line in (
        "find src -name a1",
        "find src -path './a1/*'",
        "find src -mtime +9",
        "find src -empty",
        "find src -size 0",
    ):
        assert EVERY not in effects_of(line).under, line
