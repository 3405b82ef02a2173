"""The workspace folders of a session: those of the host and the configuration, and worktrees of the same repository.

Computed once at a session's start and then fixed: no data of a call reaches this module."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from assent.facts.gitdir import linked_worktrees, opened
from assent.facts.links import Links

# Folders that are never a root themselves, though a folder inside one can be.
_SHARED = frozenset(
    "/ /home /root /users /users/shared /export /export/home /var/home /var/root /tmp /private /private/tmp "
    "/private/var/tmp /private/var/folders /var/tmp /var/folders /var/www /usr/src /usr/local/src /opt /srv /mnt "
    "/media /volumes /run/media /snap /nix /private/var/root".split()
)
# Folders whose children are homes.
_HOMES = frozenset({"/home", "/users", "/export/home", "/var/home"})
# Trees in which no folder is a root, except below _WORK.
_SYSTEM = (
    "/etc /usr /bin /sbin /lib /lib32 /lib64 /libx32 /var /dev /proc /sys /boot /run /lost+found /nix /snap /system "
    "/library /applications /cores /private/etc /private/var /opt/homebrew /opt/local"
).split()
_SERVICE_HOMES = ("/var/lib/", "/var/root", "/private/var/root", "/usr/home/")  # homes that are in such a tree
_WORK = (
    "/usr/src /usr/local/src /var/home /var/tmp /var/www /var/folders /private/var/tmp /private/var/folders /run/media"
).split()


def workspace_roots(folders: Iterable[str], *, extra: Iterable[str] = (), home: str = "") -> tuple[str, ...]:
    """Return the roots of a session: each folder's lexical and canonical form and its repository's worktrees.

    `folders` are the host's project folders, `extra` the configured ones, which may begin with `~/`. Folders that
    may not be a root are left out silently: a smaller workspace only adds prompts."""
    links = Links()
    homes = {home, links.canonical(home)}
    roots: dict[str, None] = {}
    for folder in (*folders, *(_expanded(text, home) for text in extra)):
        if not folder.startswith("/"):
            continue
        for found in (_normal(folder), *_worktrees(folder, links)):
            forms = (found, links.canonical(found))
            if all(is_possible_root(form, own) for form in forms for own in homes):
                roots.update(dict.fromkeys(forms))
    return tuple(roots)


def is_possible_root(path: str, home: str = "") -> bool:
    """Whether a normal absolute path may be a workspace folder. `/`, homes, their ancestors and system trees may not,
    nor may folders that many share."""
    folded, own = path.casefold(), home.casefold().rstrip("/")
    if folded in _SHARED or not folded.startswith("/") or _is_windows_system(folded):
        return False
    if posixpath.dirname(folded) in _HOMES or (own and (folded == own or own.startswith(folded + "/"))):
        return False
    inside = own.startswith(_SERVICE_HOMES) and folded.startswith(own + "/")
    if inside or any(folded.startswith(work + "/") for work in _WORK):
        return True
    return not any(folded == tree or folded.startswith(tree + "/") for tree in _SYSTEM)


def _is_windows_system(folded: str) -> bool:
    """A drive, its home folders and its system trees, as WSL mounts them (`/mnt/c/Users/x`)."""
    names = folded.split("/")[1:]
    if len(names) < 2 or names[0] != "mnt" or len(names[1]) != 1:
        return False
    first = names[2] if names[2:] else ""
    system = ("", "windows", "program files", "program files (x86)", "programdata")
    return first in system or (first == "users" and len(names) <= 4)


def _worktrees(folder: str, links: Links) -> tuple[str, ...]:
    """The other worktrees of the repository whose top is this folder. Each must name the repository back."""
    repository = opened(links.canonical(folder) or folder, links)
    return () if repository is None or isinstance(repository, str) else linked_worktrees(repository, links)


def _expanded(text: str, home: str) -> str:
    if text == "~" or text.startswith("~/"):
        return home + text[1:] if home.startswith("/") else ""
    return text


def _normal(path: str) -> str:
    out = posixpath.normpath(path)
    return out[1:] if out.startswith("//") else out
