"""A second head of the trail, outside its folder: so that a folder that is gone, or was made anew, is found.

It may lag behind the head by some lines, and is never moved back. Where a trail begins anew though the mark knows of
lines, that mark is put aside and stays, until a person removes it. Reads no lines."""

from __future__ import annotations

import os

from assent.trail.head import LENGTH, Head, decode
from assent.trail.segments import open_own

EVERY = 64  # lines after which a writer moves the mark on


def mark_path(folder: str) -> str:
    return f"{folder.rstrip('/')}.mark"


def lost_path(folder: str) -> str:
    """The mark of a trail that was there before this one."""
    return f"{mark_path(folder)}.lost"


def put_aside(folder: str) -> None:
    """A trail begins: a mark that knows of lines is that of another, which is gone. The first such one is kept."""
    known = read_mark(folder)
    if known is None or not known.count:
        return
    if os.path.lexists(lost_path(folder)):
        os.unlink(mark_path(folder))
    else:
        os.rename(mark_path(folder), lost_path(folder))


def read_mark(folder: str, *, lost: bool = False) -> Head | None:
    """The mark of a trail; None where there is none that can be read. `lost`: of the one before it."""
    try:
        handle = open_own(lost_path(folder) if lost else mark_path(folder), os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        return decode(os.pread(handle, LENGTH * 2, 0))
    finally:
        os.close(handle)


def move_mark(folder: str, head: Head) -> None:
    """Move the mark on to a head. One that is further stays: then lines are missing, and `verify` says so."""
    handle = open_own(mark_path(folder), os.O_RDWR | os.O_CREAT)
    try:
        known = decode(os.pread(handle, LENGTH * 2, 0))
        if known is None or known.count < head.count:
            os.pwrite(handle, head.encode(), 0)
    finally:
        os.close(handle)
