"""The names of branches that a team shares, whatever the repository."""

from __future__ import annotations

SHARED = frozenset(
    "main master trunk develop development production prod release releases stable staging live gh-pages".split()
)
_FAMILIES = ("release/", "releases/", "release-", "stable/", "production/", "hotfix/")


def is_shared(branch: str) -> bool:
    """Whether a branch has the name of a default or commonly protected one."""
    return branch in SHARED or branch.startswith(_FAMILIES)


def branch_of(ref: str) -> str:
    """The branch that a ref name means: git reads `heads/main` and `refs/heads/main` as `main`."""
    return ref.removeprefix("refs/").removeprefix("heads/") if ref.startswith(("refs/heads/", "heads/")) else ref
