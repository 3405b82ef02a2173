"""Path globs match what they say, and overlap with shell globs wherever they aim at the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.contract import PolicyError
from assent.policy import globs
from assent.policy.globs import PathGlob, overlaps


@pytest.mark.parametrize(
    ("glob", "path", "matches", "covers"),
    [
        ("/etc/*", "/etc/passwd", True, True),
        ("/etc/*", "/etc/ssh/config", False, True),
        ("/etc/**", "/etc/ssh/config", True, True),
        ("/etc/**", "/etc", True, True),
        ("/etc/**/**", "/etc", True, True),
        ("/etc/**/**/x", "/etc/x", True, True),
        ("/etc", "/etc/passwd", False, True),
        ("/etc", "/etcetera", False, False),
        ("**/.env", "/a/b/.env", True, True),
        ("**/.env", "/a/b/x.env", False, False),
        ("/a/**/c", "/a/c", True, True),
        ("/a/**/c", "/a/b/b/c", True, True),
        ("/a/b?.py", "/a/bx.py", True, True),
        ("/a/b?.py", "/a/b/.py", False, False),
        ("/a/[0-9]", "/a/5", True, True),
        ("/a/[!0-9]", "/a/5", False, False),
        ("/a/[!0-9]", "/a//", False, False),
        ("/a.b", "/axb", False, False),
        ("/a/*", "/a/line\nbreak", True, True),
    ],
)
def test_a_glob_matches_and_covers(glob: str, path: str, matches: bool, covers: bool) -> None:
    assert (PathGlob(glob).matches(path), PathGlob(glob).covers(path)) == (matches, covers)


@pytest.mark.parametrize("glob", ["src/[", "a/[b", "x***y", "a\0b", "[z-a]", "sec[r/]et", "**/a[!/]b"])
def test_a_malformed_glob_is_an_error(glob: str) -> None:
    with pytest.raises(PolicyError):
        globs.check(glob)


@pytest.mark.parametrize(
    ("shell", "rule", "meet"),
    [
        ("/home/u/.ss*/id_rsa", "**/.ssh/**", True),
        ("/home/u/.ssh/*", "**/.ssh/**", True),
        ("/home/u/*", "**/.ssh/**", False),
        ("/home/u/.*", "**/.ssh/**", False),
        ("/home/u/.*/id_rsa", "**/.ssh/**", False),
        ("/home/u/.*/id_rsa", "**/id_rsa", True),
        ("/w/14-*/x-CONTEXT.md", "**/*.kdbx", False),
        ("/w/skills/*", "**/id_rsa", False),
        ("/home/u/*/id_rsa", "**/.ssh/**", False),
        ("/home/u/.s?h/x", "**/.ssh/**", True),
        ("/home/u/.[s]sh/x", "**/.ssh/**", True),
        ("/w/src/*.py", "/w/src/secret.py", True),
        ("/w/src/*.py", "/w/src/secret.rs", False),
        ("/w/*/secret.py", "/w/src/*", True),
        ("/w/src/*", "/w/src/secret.py", True),
        ("/w/docs/*", "/w/src/**", False),
        ("/w/*.pem", "**/*.key", False),
        ("/w/*.pem", "**/*.pem", True),
        ("/**/x", "/a/b/x", True),
    ],
)
def test_a_shell_glob_overlaps_a_rule_where_it_aims_at_what_the_rule_names(shell: str, rule: str, meet: bool) -> None:
    assert overlaps(shell, rule) is meet


NAMES = st.lists(st.sampled_from(["a", "ab", ".b", "b.c", "", "\n"]), min_size=1, max_size=4)
RULES = st.lists(st.sampled_from(["a", "*b", "?", "**", ".*", "[ab]", "[!a]", "b.*", ""]), min_size=1, max_size=4)


@given(NAMES, RULES, st.booleans())
def test_a_rule_overlaps_a_path_without_wildcards_only_where_it_covers_it(
    names: list[str], rule: list[str], anywhere: bool
) -> None:
    path, glob = "/" + "/".join(names), ("**/" if anywhere else "/") + "/".join(rule)
    assert PathGlob(glob).covers(path) or not overlaps(path, glob)
