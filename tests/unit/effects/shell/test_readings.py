"""The word lists that a command may be."""

from __future__ import annotations

from assent.effects.shell import readings
from assent.effects.shell.command import Arg


def test_every_known_value_makes_a_reading() -> None:
    words = ("make", Arg("$t", ("lint", "test")), Arg("$o", ("a", "b")))
    assert readings.of(words) == (
        ("make", "lint", "a"),
        ("make", "lint", "b"),
        ("make", "test", "a"),
        ("make", "test", "b"),
    )


def test_a_glob_counts_as_it_is_written_unless_it_may_be_an_option() -> None:
    assert readings.of(("eslint", Arg("$f", ("src/*.ts",), pattern=True))) == (("eslint", "src/*.ts"),)
    assert readings.of(("eslint", Arg("$f", ("*.ts",), pattern=True))) == ()
    assert readings.of(("eslint", Arg("$f", ("src/*.ts",), pattern=True, splits=True))) == ()


def test_files_that_were_printed_are_below_their_folder() -> None:
    printed = Arg("$f", kind="paths", under=("/w/src", "/w/src/*.ts"))
    assert readings.of(("eslint", printed)) == (("eslint", "/w/src/*"),)
    assert readings.of(("eslint", Arg("$f", kind="names", under=("/w/src",)))) == ()


def test_a_value_that_a_shell_splits_or_that_nobody_knows_makes_none() -> None:
    assert readings.of(("make", Arg("$t", ("test deploy", "lint"), splits=True))) == ()
    assert readings.of(("make", Arg("$t"))) == ()
    assert readings.of(("make", *(Arg("$t", ("a", "b", "c")) for _ in range(4)))) == ()
