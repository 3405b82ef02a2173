"""In which folders names that differ only in case are one name. Asks the file system, never the platform."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable

_LOOKED_AT = 20  # names tried in one folder

_known: dict[str, bool] = {}


def folding(folders: Iterable[str]) -> tuple[str, ...]:
    """Those of the folders in which case does not tell names apart. Asked once for each folder in a process."""
    return tuple(folder for folder in folders if folder and _folds(folder))


def _folds(folder: str) -> bool:
    known = _known.get(folder)
    if known is None:
        known = _known[folder] = _looks_folding(folder)
    return known


def _looks_folding(folder: str) -> bool:
    """Try names in the folder, then its own name: the folder decides for those inside it, its parent for its own.

    A folder that is not there is taken for what the nearest one above it is."""
    while not os.path.isdir(folder):
        parent = posixpath.dirname(folder)
        if parent == folder:
            return False
        folder = parent
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry, _ in zip(entries, range(_LOOKED_AT), strict=False)]
    except OSError:
        names = []
    for name in names:
        if name.swapcase() != name and name.swapcase() not in names:
            return _is_same(posixpath.join(folder, name), posixpath.join(folder, name.swapcase()))
    above, name = posixpath.split(folder)
    return name.swapcase() != name and _is_same(folder, posixpath.join(above, name.swapcase()))


def _is_same(one: str, other: str) -> bool:
    try:
        return os.path.samestat(os.lstat(one), os.lstat(other))
    except (OSError, ValueError):
        return False
