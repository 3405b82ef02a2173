"""Which submodules a repository's index holds. Reads of the index only what it needs for that."""

from __future__ import annotations

import os
import posixpath

from assent.state.files import read

MAX_INDEX = 256 * 1024 * 1024

_MODE = b"\0\0\xe0\0"  # 0160000, a commit of another repository
_FIXED = (62, 74)  # bytes of an entry before its name: times, device, inode, mode, owner, size, SHA-1 or -256, flags
_VERSIONS = (b"DIRC\0\0\0\2", b"DIRC\0\0\0\3")  # version 4 shortens names by what stands before them
_TO_MODE = 24
_EXTENDED = 0x4000


def gitlinks(gitdir: str) -> tuple[str, ...] | None:
    """The paths of submodules in the index, and possibly some that are none; None where that cannot be told.

    The four bytes of the mode are searched for, so that a large index costs no reading of each entry. They can stand
    elsewhere by chance: then the path is noise, which names nothing that exists."""
    found: list[str] = []
    for path in _indexes(gitdir):
        try:
            raw, _ = read(path, MAX_INDEX)
        except FileNotFoundError:
            continue
        except OSError:
            return None
        paths = _paths(raw)
        if paths is None:
            return None
        found += paths
    return tuple(dict.fromkeys(found))


def _indexes(gitdir: str) -> tuple[str, ...]:
    """The index, and those it may share entries with (`core.splitIndex`)."""
    try:
        shared = sorted(name for name in os.listdir(gitdir) if name.startswith("sharedindex."))
    except OSError:
        shared = []
    return tuple(posixpath.join(gitdir, name) for name in ("index", *shared))


def _paths(raw: bytes) -> list[str] | None:
    at = raw.find(_MODE)
    if at < 0:
        return []
    if raw[:8] not in _VERSIONS:
        return None
    found = []
    while at >= 0:
        for fixed in _FIXED:
            name = _name(raw, at - _TO_MODE + fixed)
            if 0 < len(name) <= 4096:
                found.append(name.decode("utf-8", "surrogateescape"))
        at = raw.find(_MODE, at + 1)
    return found


def _name(raw: bytes, begin: int) -> bytes:
    """The name that follows an entry's fixed part, after the flags of version 3 where they stand."""
    if int.from_bytes(raw[begin - 2 : begin], "big") & _EXTENDED:
        begin += 2
    end = raw.find(b"\0", begin)
    return raw[begin : end if end >= 0 else None]
