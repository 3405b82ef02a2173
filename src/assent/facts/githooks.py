"""Which hooks git would run in a folder's repository when it records, moves or fetches something.

`repository` checks the owner and the settings; it accepts no hook folders but those read here."""

from __future__ import annotations

import os
import posixpath

from assent.facts.gitdir import Repository
from assent.facts.links import Links
from assent.facts.repository import GUARDED_HOOKS, discovered, remotes

_REFS = frozenset({"reference-transaction", "pre-auto-gc", "post-index-change", "fsmonitor-watchman"})
_CHECKOUT = _REFS | {"post-checkout"}
_COMMIT = _CHECKOUT | frozenset(
    """applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg
    post-commit pre-rebase post-merge post-rewrite""".split()
)
_GROUPS = {"refs": _REFS, "checkout": _CHECKOUT, "commit": _COMMIT}


def hook(name: str, links: Links) -> str:
    """Name a hook of a group (`refs:/folder`) that git would run in a folder, or why that is unknown; `""` if there is
    none. `remote=name:/folder` asks whether the name is not a remote of the repository but a local path, from which git
    would fetch."""
    group, _, folder = name.partition(":")
    if group.startswith("remote="):
        return _from_here(group[7:], folder, links)
    counted = _GROUPS.get(group, _COMMIT)
    here = links.canonical(folder)
    if not here:
        return f"where `{folder}` leads is not known"
    found = discovered(here, links) if os.path.isdir(here) else None
    if not isinstance(found, Repository):
        return found or ""
    places = [posixpath.join(found.common, "hooks"), *(posixpath.join(found.top, name) for name in GUARDED_HOOKS)]
    return next((reason for place in places if (reason := _in_folder(place, counted, links))), "")


def _from_here(name: str, folder: str, links: Links) -> str:
    here = links.canonical(folder)
    if not here:
        return f"where `{folder}` leads is not known"
    places = (posixpath.join(here, place) for place in (name, f"{name}.git", f"{name}.bundle"))
    found = next(filter(os.path.lexists, places), "")
    repository = discovered(here, links) if found else None
    if not found or (isinstance(repository, Repository) and name in remotes(repository)):
        return ""
    return f"`{found}` is on this machine, and no remote of the repository"


def _in_folder(folder: str, counted: frozenset[str], links: Links) -> str:
    names: list[str] | None = links.once(("hook names", folder), _names, folder)
    if names is None:
        return f"`{folder}` cannot be read"
    for name in names:
        stem, _, ending = name.lower().partition(".")
        if stem in counted and ending != "sample":
            return f"`{folder}/{name}` is a hook"
    return ""


def _names(folder: str) -> list[str] | None:
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError:
        return None
