"""Marks of rows, for words with only a known beginning."""

from __future__ import annotations

import pytest

from assent.programs.row import Mark


@pytest.mark.parametrize(
    ("glob", "prefix", "may"),
    [("@*", "src/", False), ("@*", "", True), ("@*", "@", True), ("file://*", "fi", True), ("*=*", "src/", True)],
)
def test_a_word_may_be_meant_where_both_begin_alike(glob: str, prefix: str, may: bool) -> None:
    assert Mark(glob, frozenset({"acts"})).may_match(prefix) is may
