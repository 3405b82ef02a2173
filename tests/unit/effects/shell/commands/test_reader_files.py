"""cp, mv, ln, rm, chmod."""

from __future__ import annotations

import pytest

from assent.contract import Operation
from assent.effects.shell.command import Arg
from tests.unit.effects.shell.commands.commands import does, effects_of


def test_copies_are_read_and_written() -> None:
    assert does("cp a b") == ["READ a", "WRITE b", "WRITE b/a"]
    assert does("cp -r a b") == ["READ+ a", "WRITE+ b", "WRITE+ b/a"]
    assert does("cp -T a b") == ["READ a", "WRITE b"]
    assert does("cp a x/b dir/") == ["READ a", "READ x/b", "WRITE dir", "WRITE dir/a", "WRITE dir/b"]


def test_a_target_folder_may_come_first() -> None:
    assert does("cp -t dir a b") == ["WRITE dir", "READ a", "READ b", "WRITE dir/a", "WRITE dir/b"]
    assert does("cp --target-directory=dir a")[-1] == "WRITE dir/a"


def test_a_copy_by_link_writes_its_source() -> None:
    assert does("cp -l a b") == ["READ a", "WRITE a", "WRITE+ b", "WRITE+ b/a"]


def test_a_glob_goes_below_the_target() -> None:
    glob = Arg("src/*.py", ("src/*.py",), pattern=True)
    assert does(("cp", glob, "dir")) == ["READ src/*.py", "WRITE dir", "WRITE dir/*.py"]


def test_an_unknown_last_word_may_hold_sources() -> None:
    assert does(("cp", "a", Arg("x$x", prefix="x", splits=True)))[:3] == ["READ a", "READ ?", "WRITE ?"]


def test_moving_removes_the_source_with_all_it_holds() -> None:
    assert does("mv a b") == ["READ+ a", "DELETE+ a", "WRITE+ b", "WRITE+ b/a"]


def test_a_link_is_a_write_to_its_target() -> None:
    assert does("ln -s /etc/passwd x") == ["READ /etc/passwd", "WRITE+ /etc/passwd", "WRITE x", "WRITE x/passwd"]
    assert does("ln -s ../a sub/x") == ["READ /a", "WRITE+ /a", "READ a", "WRITE+ a", "WRITE sub/x", "WRITE sub/x/a"]
    assert does("ln a b")[:2] == ["READ a", "WRITE+ a"]


def test_removing() -> None:
    assert does("rm a b") == ["DELETE a", "DELETE b"]
    assert does("rm -rf a") == ["DELETE+ a !recursive-delete"]
    assert does("rm -r -- -x") == ["DELETE+ -x !recursive-delete"]
    assert does("rm --recurs /") == ["DELETE+ / !recursive-delete", "EXECUTE <rm> !recursive-delete"]


def test_modes_are_no_files() -> None:
    assert does("chmod 644 a") == ["WRITE a !mode-change"]
    assert does("chmod -x a") == ["WRITE a !mode-change"]
    assert does("chmod -R u+w,g-x d") == ["WRITE+ d !mode-change"]
    assert does("chmod --reference=r a")[-1] == "WRITE a !mode-change"
    assert does("chown -R me:me d") == ["WRITE+ d !mode-change"]


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        ("mv a b", True),
        ("mv a b dir/", True),
        ("mv -t dir a b", True),
        ("rmdir a", True),
        ("mv a /dev/null", False),
        ("mv a /dev/fd/3", False),
        ("rmdir -p a/b", False),
        ("rm a", False),
        ("unlink a", False),
    ],
)
def test_what_is_moved_or_was_empty_is_not_lost(command: str, kept: bool) -> None:
    removed = [effect for effect in effects_of(command).effects if effect.operation is Operation.DELETE]
    assert removed
    assert all(effect.lossless is kept for effect in removed)


def test_what_is_moved_to_an_unknown_place_may_be_lost() -> None:
    removed = [effect for effect in effects_of(("mv", "a", Arg("$X"))).effects if effect.operation is Operation.DELETE]
    assert not any(effect.lossless for effect in removed)
