"""Paths as text: what a name is without `.`, `..` and doubled slashes."""

from __future__ import annotations

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.effects.paths import normal


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/", "/"),
        ("//", "/"),
        ("///a", "/a"),
        ("/..", "/"),
        ("/../../a", "/a"),
        ("/a/./b/../c/", "/a/c"),
        ("/a/.../.b", "/a/.../.b"),
        ("a/../..", ".."),
        ("", "."),
    ],
)
def test_a_path_in_normal_form(path: str, expected: str) -> None:
    assert normal(path) == expected


@given(st.lists(st.sampled_from(["", ".", "..", "...", "a", ".b", "c d"]), max_size=8))
def test_absolute_paths_are_as_the_library_has_them(names: list[str]) -> None:
    path = "/" + "/".join(names)
    assert normal(path) == "/" + posixpath.normpath(path).lstrip("/")
