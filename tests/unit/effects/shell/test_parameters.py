"""What is left of the names that a glob matches."""

from __future__ import annotations

import pytest

from assent.effects.shell.parameters import shortened


@pytest.mark.parametrize(
    ("glob", "pattern", "op", "left"),
    [
        ("docs/*.md", ".md", "%", "docs/*"),
        ("docs/*.md", ".*", "%", "docs/*"),
        ("docs/a*.tar.gz", ".gz", "%", "docs/a*.tar"),
        ("docs/*.md", "*/", "##", "*.md"),
    ],
)
def test_an_ending_or_the_folder_is_taken_off_a_glob(glob: str, pattern: str, op: str, left: str) -> None:
    assert shortened(glob, pattern, op) == left


@pytest.mark.parametrize(
    ("glob", "pattern", "op"),
    [
        ("a.d/*", ".*", "%"),  # of a name without a dot it takes more than that
        ("docs/*", ".md", "%"),
        ("docs/*.md", ".*", "%%"),  # all endings, of which there may be more
        ("docs/*.m?", ".*", "%"),
        ("docs/.md", ".md", "%"),  # nothing would be left
        ("docs/*.md", "/*", "%"),
        ("docs/*.md", "*", "#"),
    ],
)
def test_what_is_not_sure_is_not_known(glob: str, pattern: str, op: str) -> None:
    assert shortened(glob, pattern, op) == ""
