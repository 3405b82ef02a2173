"""The runner matches globs as the rules do."""

from __future__ import annotations

import pytest

from assent.contain.globs import below_root
from assent.contain.profile import Profile, links, system
from assent.policy.globs import PathGlob
from tests.contain.box import Box

GLOBS = [
    *("**/.husky/**", "**/.github/workflows/**", "**/*.code-workspace", "**/.envrc", "**/.envrc.*", "**/lefthook.y*ml"),
    *("**/mise/config*.toml", "src/secret", "src/secret/**", "src/*/x", "src/**/x", "**/a?c", "**/a[bx]c", "**/a[!b]c"),
    *("**/[a-c]*", "a**c", "**/*.run.xml", "**/.run/*.run.xml", "s*/**/deep", "**/a/**/z", "**/.lefthook*/**", "x*y*z"),
]
PATHS = [
    *(".husky/a", "p/.husky/b/c", ".github/workflows/ci.yml", ".github/x", "p/.github/workflows/x", "w.code-workspace"),
    *(
        ".envrc",
        "p/.envrc",
        ".envrc.local",
        "xenvrc",
        "lefthook.yml",
        "lefthook.yaml",
        "lefthook.toml",
        "mise/config.toml",
    ),
    *(
        "p/mise/config.a.toml",
        "mise/other.toml",
        "src/secret/k",
        "p/src/secret",
        "src/a/x",
        "src/a/b/x",
        "src/x",
        "abc",
    ),
    *("axc", "a/c", "adc/e", "b", "cc/d", "dd", "a/b/c/e", ".run/t.run.xml", "t.run.xml", "src/deep", "s/q/deep/e"),
    *("a/z", "a/q/r/z", "p/a/z/k", ".lefthook-local/x", "xyz", "xaybz", "x/y/z", "p/xyz"),
]


@pytest.mark.parametrize("glob", GLOBS)
def test_what_a_rule_matches_is_found(box: Box, glob: str) -> None:
    """As far as what is above it is not found: that is taken away as a whole."""
    made = sorted({*PATHS})
    files = [each for each in made if not any(other.startswith(f"{each}/") for other in made)]
    command = "".join(f"mkdir -p $(dirname '{each}'); echo > '{each}'; " for each in files)
    below = below_root(glob, str(box.work), str(box.home))
    assert below is not None
    only = Profile([str(box.work)], readable=system(), links=links(), protected=[below], home=str(box.home))
    done = box.inside(command, only)
    assert done.receipt is not None
    pattern = PathGlob(f"{box.work}/{glob}")
    left = {str(each.relative_to(box.work)) for each in box.work.rglob("*") if each.is_file()}
    assert left == {each for each in files if not pattern.covers(f"{box.work}/{each}")}
