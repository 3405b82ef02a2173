"""The words for consequences: one table, in which no foreign name can pass for a word of ours."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.contract.approval import Consequence
from assent.contract.display import is_hidden, visible
from assent.facts.consequences import words
from assent.facts.consequences.words import LONGEST, counted, listed, quoted, say, size, those
from tests.examples import examples

SOURCE = Path(words.__file__).parents[2]


def test_every_line_of_the_table_is_used_and_no_other_is() -> None:
    files = [*(SOURCE / "facts/consequences").glob("*.py"), SOURCE / "engine/consequences.py"]
    text = "\n".join(each.read_text(encoding="utf-8") for each in files if each.name != "words.py")
    made = {f"arguments.{each}" for each in ("recipients", "mentions", "amounts", "names")}
    used = set(re.findall(r'"([a-z]+(?:\.[a-z-]+)?)"', text)) | made
    assert set(words.WORDS) - used == set()
    assert {each for each in used if each.partition(".")[0] in KINDS and "." in each} - set(
        words.WORDS
    ) - NOT_WORDS == set()


KINDS = {each.partition(".")[0] for each in words.WORDS}
NOT_WORDS = {"push.default", "branch.merge", "branch.remote", "branch.pushremote"}  # settings of git


@examples(300)
@given(st.text(max_size=300) | st.text(alphabet="`\n\x1b\u202e\u200b;[]<>&a", max_size=120))
def test_no_name_ends_its_quotes_hides_or_starts_a_line(name: str) -> None:
    shown = quoted(name)
    assert shown[0] == shown[-1] == "`"
    assert "`" not in shown[1:-1]
    assert "\n" not in shown
    assert [each for each in shown if is_hidden(each)] == []
    assert visible(shown) == shown
    assert len(shown) <= words.LONGEST_NAME + 12


def test_a_hostile_name_is_written_out() -> None:
    assert quoted("a\x1b[2Jb\u202ec\n`removes nothing`") == "`a\\u{1b}[2Jb\\u{202e}c⏎\\u{60}removes nothing\\u{60}`"


def test_the_end_of_a_long_name_is_shown() -> None:
    shown = quoted("start" + "x" * 5000 + "/.ssh/end")
    assert shown.startswith("`start")
    assert shown.endswith("/.ssh/end`")


def test_a_name_in_braces_is_no_place_of_the_table() -> None:
    found = say("deletion", "delete.unknown", names=quoted("{files} %s {0.__class__}"))
    assert found == Consequence(
        "deletion", "which files `{files} %s {0.__class__}` means is not known, so they are not counted"
    )


def test_many_names_are_the_first_and_a_count() -> None:
    assert listed(["a", "b"]) == "`a`, `b`"
    assert listed(list("abcde")) == "`a`, `b`, `c` and 2 more"
    assert listed(["a"], 1200) == "`a` and 1,199 more"
    assert listed([]) == ""


@pytest.mark.parametrize(
    ("number", "shown"),
    [(0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1000, "1.0 kB"), (9_990, "10 kB"), (38_200_000, "38 MB")],
)
def test_sizes_are_short(number: int, shown: str) -> None:
    assert size(number) == shown


def test_numbers_have_their_noun() -> None:
    assert [counted(each, "file") for each in (0, 1, 1204)] == ["0 files", "1 file", "1,204 files"]
    assert counted(2, "branch", "branches") == "2 branches"
    assert (those(1, 1), those(2, 2), those(1, 3)) == ("it", "all of them", "1 of them")


def test_a_line_is_bounded() -> None:
    found = say("deletion", "delete.repository", names="x" * 5000)
    assert len(found.text) < LONGEST + 60


def test_what_was_cut_short_says_so() -> None:
    found = say("deletion", "delete.least", files="3 files", size="1 kB")
    assert found.cut
    assert found.text.endswith("counting was cut short")
