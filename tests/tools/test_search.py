"""Glob and grep: below the folder, through no link, within time and size."""

from __future__ import annotations

import contextlib
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.tools import search
from assent.tools.finder import pattern_of
from tests.tools.world import World


@pytest.fixture
def tree(world: World) -> World:
    world.file("a.py", "KEY = 1\nother\n")
    world.file("src/b.py", "use(KEY)\n")
    world.file("src/deep/c.txt", "key\n")
    world.file(".git/config", "KEY\n")
    (world.outside / "d.py").write_text("KEY outside\n")
    (world.project / "way").symlink_to(world.outside)
    (world.project / "link.py").symlink_to(world.outside / "d.py")
    return world


def test_names_are_found_below_the_folder(tree: World) -> None:
    assert tree.told("glob", pattern="**/*.py") == ("a.py\nlink.py\nsrc/b.py", False)
    assert tree.told("glob", pattern="*.{py,txt}", path="src") == ("b.py", False)
    assert tree.told("glob", pattern="**", path="src") == ("b.py\ndeep/c.txt", False)
    assert tree.told("glob", pattern="*.rs") == ("[no file has such a name]", False)
    assert tree.asked == []


def test_lines_are_found_below_the_folder_and_through_no_link(tree: World) -> None:
    assert tree.told("grep", pattern="KEY") == ("a.py:1: KEY = 1\nsrc/b.py:1: use(KEY)", False)
    assert tree.told("grep", pattern="key", ignore_case=True, glob="*.txt") == ("src/deep/c.txt:1: key", False)
    assert tree.told("grep", pattern="KEY", files_only=True) == ("a.py\nsrc/b.py", False)
    assert tree.told("grep", pattern="KEY", path="src/b.py") == ("b.py:1: use(KEY)", False)
    assert tree.told("grep", pattern="nowhere") == ("[no line matches]", False)


@pytest.mark.parametrize("path", ["..", "/etc", "way", "src/../..", "~"])
def test_nothing_leads_out_of_the_folder(tree: World, path: str) -> None:
    for name in ("glob", "grep"):
        text, error = tree.told(name, pattern="*" if name == "glob" else "KEY", path=path)
        assert error
        assert "outside" in text


@pytest.mark.parametrize("pattern", ["/etc/*", "../*", "src/../../*", "~/x", "{..,src}/*", "{a,../b}"])
def test_no_pattern_leaves_the_folder(tree: World, pattern: str) -> None:
    text, error = tree.told("glob", pattern=pattern)
    assert error
    assert "leaves the folder" in text


def test_a_pattern_that_cannot_be_read_is_told(tree: World) -> None:
    text, error = tree.told("grep", pattern="(")
    assert error
    assert text.startswith("the pattern cannot be read")


def test_a_pattern_without_end_is_ended(tree: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "SECONDS", 1)
    tree.file("bad.txt", "a" * 60 + "!\n")
    started = time.monotonic()
    text, error = tree.told("grep", pattern="^(a+)+$")
    assert error
    assert text.startswith("it took longer than 1 seconds")
    assert time.monotonic() - started < 15


def test_much_is_cut_with_a_note(world: World) -> None:
    for number in range(600):
        world.file(f"many/{number:04}.txt", "hit\n")
    text, _ = world.told("glob", pattern="**/*.txt")
    assert len(text.splitlines()) == 501
    assert text.endswith("[more than 500 files; use a narrower pattern]")
    text, _ = world.told("grep", pattern="hit")
    assert text.endswith("[there are more; use a narrower pattern, or search a smaller folder]")


def test_what_may_not_be_read_without_asking_is_not_told_by_a_search(tmp_path: Path) -> None:
    world = World(tmp_path, deny=["read(closed/**)"])
    world.file(".env", "TOKEN=t0ken\n")
    world.file("closed/a", "TOKEN=s3cret\n")
    world.file("open", "TOKEN\n")
    text, _ = world.told("grep", pattern="TOKEN")
    assert text == (
        "open:1: TOKEN\n[left out, since they may not be read without asking: `.env`, `closed/a`; use `read` for one]"
    )
    text, error = world.told("grep", pattern="TOKEN", path="closed/a")
    assert error or "s3cret" not in text
    world.close()


def test_a_search_does_not_count_as_a_read(tree: World) -> None:
    tree.call("grep", pattern="KEY")
    assert tree.told("edit", file_path="a.py", old_string="1", new_string="2")[1]


@given(st.text(alphabet="ab*?[]{},/!^.-\\", max_size=20))
def test_any_pattern_is_an_expression_or_an_error_of_one(text: str) -> None:
    with contextlib.suppress(re.error):
        pattern_of(text)


@given(st.from_regex(r"[a-c/.]{1,12}", fullmatch=True))
def test_a_pattern_without_signs_is_itself(text: str) -> None:
    assert pattern_of(text).match(text)
    assert not pattern_of(text).match(text + "x")


@pytest.mark.parametrize(
    ("pattern", "fits", "misses"),
    [
        ("*.py", ["a.py"], ["a/b.py", "a.pyc"]),
        ("**/*.py", ["a.py", "a/b.py", "a/b/c.py"], ["a/b.txt"]),
        ("src/**", ["src/a", "src/a/b"], ["lib/src/a"]),
        ("a?c", ["abc"], ["a/c", "ac"]),
        ("[!a]x", ["bx"], ["ax", "/x"]),
        ("[a-c]x", ["bx"], ["dx"]),
        ("{a,b/c}.{x,y}", ["a.x", "b/c.y"], ["b.x"]),
        ("[", ["["], ["a"]),
        ("a{b", ["a{b"], ["ab"]),
    ],
)
def test_patterns_mean_what_they_mean_elsewhere(pattern: str, fits: list[str], misses: list[str]) -> None:
    found = pattern_of(pattern)
    assert [each for each in fits if not found.match(each)] == []
    assert [each for each in misses if found.match(each)] == []


def test_names_cannot_steer_a_screen_or_forge_lines(world: World) -> None:
    for name in ("a\x1b[2J.txt", "b\nc.txt: 1: forged", "d\u202etxt.exe", "e\u200b.txt"):
        (world.project / name).write_text("needle \x1b]0;x\x07here\r\n")
    for tool, asked in (("glob", {"pattern": "*"}), ("grep", {"pattern": "needle"})):
        text, _ = world.told(tool, **asked)
        assert all(each.isprintable() for each in text.split("\n"))
        assert "a\\u{1b}[2J.txt" in text
        assert "b\\u{a}c.txt: 1: forged" in text
        assert len(text.split("\n")) == 4
