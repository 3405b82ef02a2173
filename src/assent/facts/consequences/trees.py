"""Counts the files below paths within a deadline. Follows no link, opens no file, and enters no network mount."""

from __future__ import annotations

import os
from collections.abc import Iterable
from stat import S_ISDIR

from assent.facts.consequences.deadline import Deadline

MOST_KEPT = 100_000  # names


class FileCount:
    """What is below some paths. `names` are the files, absolute, the first of many; `repositories` are folders with a
    `.git` of their own; `remote` are network mounts that were left out; `unread` counts folders that cannot be
    listed."""

    __slots__ = ("files", "size", "names", "repositories", "remote", "unread", "missing", "cut")

    def __init__(self) -> None:
        self.files = 0
        self.size = 0
        self.names: list[str] = []
        self.repositories: list[str] = []
        self.remote: list[str] = []
        self.missing: list[str] = []
        self.unread = 0
        self.cut = False


def count(paths: Iterable[str], deadline: Deadline, *, matching: tuple[str, ...] = (), deep: bool = True) -> FileCount:
    """Count the files at these paths and, if `deep`, below them. `matching` are patterns of file names."""
    found = FileCount()
    for path in paths:
        if deadline.over():
            found.cut = True
            break
        if deadline.is_remote(path):
            found.remote.append(path)
            continue
        try:
            status = os.lstat(path)
        except (OSError, ValueError):
            found.missing.append(path)
            continue
        if S_ISDIR(status.st_mode):
            if deep:
                if os.path.basename(path) == ".git":
                    found.repositories.append(os.path.dirname(path))
                _below(path, found, deadline, matching)
        else:
            _add(found, path, status.st_size)
    return found


def _below(top: str, found: FileCount, deadline: Deadline, matching: tuple[str, ...]) -> None:
    waiting = [top]
    remote = frozenset(deadline.remote_mounts())
    while waiting:
        folder = waiting.pop()
        if folder in remote:
            found.remote.append(folder)
            continue
        try:
            entries = os.scandir(folder)
        except OSError:
            found.unread += 1
            continue
        with entries:
            for entry in entries:
                if deadline.over():
                    found.cut = True
                    return
                path = entry.path
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(path)
                    if entry.name == ".git":
                        found.repositories.append(folder)
                elif not matching or _matches(entry.name, matching):
                    _add(found, path, _size(entry))


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    from fnmatch import fnmatchcase  # loads `re`

    return any(fnmatchcase(name, each) for each in patterns)


def _size(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_size
    except OSError:
        return 0


def _add(found: FileCount, path: str, size: int) -> None:
    found.files += 1
    found.size += size
    if len(found.names) < MOST_KEPT:
        found.names.append(path)
