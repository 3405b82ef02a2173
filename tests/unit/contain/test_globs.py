"""Globs of rules below a root."""

from __future__ import annotations

import pytest

from assent.contain.globs import below_root

ROOT, HOME = "/home/me/app", "/home/me"


@pytest.mark.parametrize(
    ("glob", "below"),
    [
        ("**/.husky/**", "**/.husky"),
        ("**/.envrc", "**/.envrc"),
        (".git/**", ".git"),
        ("./x/", "x"),
        ("~/app/x/**", "x"),
        ("~/app/**/x", "**/x"),
        ("/home/*/app/x", "x"),
        ("/home/**/x", "**/x"),
        ("~/.config/**", None),
        ("/etc/**", None),
        ("/home/me/apple", None),
        ("~/**", ""),
        ("/home/me/app", ""),
        ("/**", ""),
        ("**", ""),
        ("**/**", ""),
        ("", ""),
    ],
)
def test_a_glob_below_a_root(glob: str, below: str | None) -> None:
    assert below_root(glob, ROOT, HOME) == below
