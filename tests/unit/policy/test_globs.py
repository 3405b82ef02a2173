"""Path globs match what they say, and overlap with shell globs wherever they could."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.contract.errors import PolicyError
from assent.policy import globs
from assent.policy.globs import Glob, overlaps


@pytest.mark.parametrize(
    ("glob", "path", "matches", "covers"),
    [
        ("/etc/*", "/etc/passwd", True, True),
        ("/etc/*", "/etc/ssh/config", False, True),
        ("/etc/**", "/etc/ssh/config", True, True),
        ("/etc/**", "/etc", True, True),
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
    assert (Glob(glob).matches(path), Glob(glob).covers(path)) == (matches, covers)


@pytest.mark.parametrize("glob", ["src/[", "a/[b", "x***y", "a\0b", "[z-a]"])
def test_a_malformed_glob_is_an_error(glob: str) -> None:
    with pytest.raises(PolicyError):
        globs.check(glob)


@pytest.mark.parametrize(
    ("shell", "rule", "meet"),
    [
        ("/home/u/.ss*/id_rsa", "**/.ssh/**", True),
        ("/home/u/.ssh/*", "**/.ssh/**", True),
        ("/home/u/*", "**/.ssh/**", False),
        ("/home/u/.*", "**/.ssh/**", True),
        ("/home/u/*/id_rsa", "**/.ssh/**", False),
        ("/home/u/.s?h/x", "**/.ssh/**", True),
        ("/home/u/.[s]sh/x", "**/.ssh/**", True),
        ("/w/src/*.py", "/w/src/secret.py", True),
        ("/w/src/*.py", "/w/src/secret.rs", False),
        ("/w/*/secret.py", "/w/src/*", True),
        ("/w/docs/*", "/w/src/**", False),
        ("/w/*.pem", "**/*.key", False),
        ("/w/*.pem", "**/*.pem", True),
        ("/**/x", "/a/b/x", True),
    ],
)
def test_a_shell_glob_overlaps_a_rule_where_a_path_could_match_both(shell: str, rule: str, meet: bool) -> None:
    assert overlaps(shell, rule) is meet


NAMES = st.text(alphabet="ab.", min_size=1, max_size=4).filter(lambda name: name not in (".", ".."))
PATHS = st.lists(NAMES, min_size=1, max_size=4).map(lambda names: "/" + "/".join(names))


@given(PATHS, st.data())
def test_what_a_shell_glob_matches_is_an_overlap(path: str, data: st.DataObject) -> None:
    """Blur a path twice; the path itself matches both, so the two overlap."""
    shell = blur(path, data)
    rule = blur(path, data)
    hidden = any(s[:1] in "*?" and p.startswith(".") for s, p in zip(shell.split("/"), path.split("/"), strict=True))
    if not hidden and re.fullmatch(globs.translate(rule), path):
        assert overlaps(shell, rule)


def blur(path: str, data: st.DataObject) -> str:
    names = path.split("/")
    for at in range(1, len(names)):
        choice = data.draw(st.sampled_from(["keep", "star", "tail", "head", "mark"]))
        name = names[at]
        names[at] = {
            "keep": name,
            "star": "*",
            "tail": name[:1] + "*",
            "head": "*" + name[-1:],
            "mark": "?" + name[1:],
        }[choice]
    return "/".join(names)
