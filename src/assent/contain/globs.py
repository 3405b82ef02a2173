"""Globs of rules as the runner understands them: relative to a root, without the `**` at their end."""

from __future__ import annotations

import os
from collections.abc import Iterable

TREES = ("/etc", "/opt", "/usr")  # visible inside, with files on the floor
WILD = "*?["


def below_root(glob: str, root: str, home: str) -> str | None:
    """A glob relative to a root; `""` if it names the whole root, None if it names nothing in it.

    A match protects everything below it, so `a/**` is `a`."""
    if glob.startswith("~/"):
        glob = f"{home}{glob[1:]}"
    bare = glob.removeprefix("./").rstrip("/")
    while bare.endswith("/**"):
        bare = bare[:-3]
    if not bare.startswith("/"):
        return bare if bare != "**" else ""
    return _relative(bare.split("/")[1:], root.split("/")[1:])


def _relative(names: list[str], folders: list[str]) -> str | None:
    """Consume the folders of a root, name by name."""
    if not names:
        return ""  # a folder above the root, or the root itself
    if names[0] == "**":
        return "/".join(names)
    if not folders:
        return "/".join(names)
    if not _may_match(names[0], folders[0]):
        return None
    return _relative(names[1:], folders[1:])


def _may_match(glob: str, name: str) -> bool:
    from fnmatch import fnmatchcase

    return glob == name or fnmatchcase(name, glob)


def system_matches(globs: Iterable[str]) -> list[str]:
    """Files and folders in visible trees of the system that globs name, if this user can read them."""
    found: list[str] = []
    for each in globs:
        bare = each.removesuffix("/**")
        if bare.startswith(tuple(f"{tree}/" for tree in TREES)):
            found += [path for path in _expand(bare) if os.access(path, os.R_OK)]
    return found


def _expand(glob: str) -> list[str]:
    """The existing paths that an absolute glob names."""
    folder, _, name = glob.rpartition("/")
    if not any(letter in glob for letter in WILD):
        return [glob] if os.path.lexists(glob) else []
    if any(letter in folder for letter in WILD):
        return [path for above in _expand(folder) for path in _expand(f"{above}/{name}")]
    try:
        return [f"{folder}/{each}" for each in sorted(os.listdir(folder)) if _may_match(name, each)]
    except OSError:
        return []
