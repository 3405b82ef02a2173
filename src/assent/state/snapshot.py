"""Caches the compiled configuration for the next process.

A snapshot holds plain text only, and is used only if nobody but its owner can have written it, it was made from the
same sources by the same program, and its checksum matches. Otherwise it is ignored: that costs time, never an
answer."""

from __future__ import annotations

import _imp  # for its fast hash, which shows changed sources
import os
import posixpath
from collections.abc import Iterable, Mapping
from stat import S_ISDIR

from assent.contract import StoreError, dumps, loads, sha256
from assent.state.files import read, replace_text, state_folder

FOLDER = "cache"
FORMAT = 6
LARGEST = 32 * 1024 * 1024  # bytes
KEPT = 64  # snapshots, one for each project
OTHERS_WRITE = 0o022


def key(*given: object) -> str:
    return sha256(dumps([FORMAT, *given]).encode("ascii")).hexdigest()


def states(folders: Iterable[str]) -> list[tuple[str, int, int, int, int]]:
    """The state of the program's files: their sizes, times and inodes."""
    found = []
    for folder in folders:
        for name in sorted(os.listdir(folder)):
            if name.endswith((".py", ".toml")):
                status = os.stat(f"{folder}/{name}")
                found.append((name, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino))
    return found


def load(state: str, project: str, made_of: str) -> dict[str, bytes] | None:
    """The parts of a project's snapshot; None if there is no trusted one."""
    path = _path(state, project)
    try:
        if not all(map(_own_folder, (state, posixpath.dirname(path)))):
            return None
        return _parts(_own_bytes(path), made_of)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def save(state: str, project: str, made_of: str, parts: Mapping[str, str]) -> None:
    """Save a snapshot, in place of the old one. If that fails, the next process has none."""
    path = _path(state, project)
    rest = f"{dumps([(name, len(text)) for name, text in parts.items()])}\n{''.join(parts.values())}"
    try:
        state_folder(state)
        state_folder(posixpath.dirname(path))
        replace_text(path, f"{_head(made_of, rest.encode('ascii')).decode()}\n{rest}")
        _tidy(posixpath.dirname(path))
    except (OSError, StoreError):
        return


def _path(state: str, project: str) -> str:
    return posixpath.join(state, FOLDER, "policy-" + sha256(os.fsencode(project)).hexdigest()[:32])


def _own_folder(path: str) -> bool:
    status = os.stat(path, follow_symlinks=False)
    return S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & OTHERS_WRITE


def _own_bytes(path: str) -> bytes:
    """The bytes of a file that only this user can have written; OSError for any other."""
    data, status = read(path, LARGEST, os.O_NOFOLLOW)
    if status.st_uid != os.geteuid() or status.st_mode & OTHERS_WRITE:
        raise PermissionError(path)
    return data


def _parts(data: bytes, made_of: str) -> dict[str, bytes] | None:
    head, _, rest = data.partition(b"\n")
    if head != _head(made_of, rest):
        return None
    lengths, _, body = rest.partition(b"\n")
    found: dict[str, bytes] = {}
    at = 0
    for name, length in loads(lengths):
        found[name] = body[at : at + length]
        at += length
    return found if at == len(body) else None


def _head(made_of: str, rest: bytes) -> bytes:
    """The sources of a snapshot, and a checksum over the rest, including the names of parts: a renamed part would be a
    missing one. It detects a corrupt file; its owner and mode protect it from people."""
    return b"%b %b" % (made_of.encode("ascii"), _imp.source_hash(FORMAT, rest).hex().encode("ascii"))


def _tidy(folder: str) -> None:
    with os.scandir(folder) as entries:
        found = sorted((each.stat(follow_symlinks=False).st_mtime_ns, each.path) for each in entries)
    for _, path in found[:-KEPT]:
        os.unlink(path)
