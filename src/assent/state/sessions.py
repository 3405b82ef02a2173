"""The project's rules as they were when a session first called.

A session may try to loosen the project's file half-way; the first text still applies beside the current one, and since
such a file can only tighten, both together never allow more. For the same reason the rules of the folder in which it
began apply wherever it goes: into a worktree, or a folder that it made itself. What a session has not used for 30 days
is removed."""

from __future__ import annotations

import os
import posixpath
import time

from assent.contract import StoreError, keep, sha256
from assent.state.files import config_text, replace_text, state_folder

FOLDER = "sessions"
MARKER = "swept"
DAY = 86400.0
KEPT = 30 * DAY  # seconds after its last call that something of a session is kept
AT_ONCE = 2000  # files that are removed at a time
REMEMBERED = 256  # names of files


def pinned(state: str, session: str, root: str, text: str | None) -> str | None:
    """Return the project text of the session's first call, keeping `text` where this is the first time.

    None where there was no file and there is none now; `""` is an empty file."""
    path = _path(state, f"{session}\0{root}")
    first = config_text(path)
    if first is not None:
        _used(path)
        return first
    _write(path, text or "")
    sweep(state, time.time())
    return text


def began(state: str, session: str, root: str) -> str:
    """Return the folder in which the session first called, keeping `root` where this is the first time. `/` stands for
    no folder, and begins nothing; nor does a call while nothing can be written, which can only read."""
    path = _path(state, f"began\0{session}")
    first = config_text(path)
    if first or root == "/":
        _used(path)
        return first or root
    try:  # noqa: SIM105 -- a hook loads this module, and `contextlib` takes longer than it
        _write(path, root)
    except StoreError:
        pass
    return root


def _path(state: str, name: str) -> str:
    return posixpath.join(state, FOLDER, sha256(name.encode()).hexdigest()[:32])


def _write(path: str, text: str) -> None:
    folder = posixpath.dirname(path)
    state_folder(posixpath.dirname(folder))
    state_folder(folder)
    replace_text(path, text)


def sweep(state: str, now: float) -> int:
    """Remove what no session has used for KEPT seconds, once a day and some at a time; return how many."""
    folder = posixpath.join(state, FOLDER)
    marker = posixpath.join(folder, MARKER)
    try:
        if abs(now - os.stat(marker).st_mtime) < DAY:
            return 0
    except OSError:
        pass
    gone = 0
    try:
        for name in os.listdir(folder):
            if name != MARKER and _removed(posixpath.join(folder, name), now):
                gone += 1
                if gone >= AT_ONCE:
                    return gone
        replace_text(marker, "")
    except (OSError, StoreError):  # another day, then
        pass
    return gone


def _removed(path: str, now: float) -> bool:
    try:
        if now - os.lstat(path).st_mtime <= KEPT:
            return False
        os.unlink(path)
    except FileNotFoundError:  # another process sweeps too
        return False
    return True


def _used(path: str) -> None:
    try:
        if time.time() - os.stat(path).st_mtime > DAY:
            os.utime(path)
    except OSError:
        pass


def chosen_mode(state: str, session: str) -> str:
    """The mode that a person chose for a session; `""` where none was."""
    if not session:
        return ""
    path = _mode_file(state, session)
    try:
        os.lstat(path)
    except FileNotFoundError:  # the way of nearly all calls
        return ""
    except OSError:
        pass
    _used(path)
    return (config_text(path) or "").strip()


def choose_mode(state: str, session: str, mode: str) -> None:
    """Keep the mode that a person chose for a session; `""` takes the choice back."""
    _write(_mode_file(state, session), f"{mode}\n" if mode else "")
    sweep(state, time.time())


_mode_files: dict[tuple[str, str], str] = {}


def _mode_file(state: str, session: str) -> str:
    key = (state, session)
    known = _mode_files.get(key)
    if known is None:
        known = _path(state, f"mode\0{session}")
        keep(_mode_files, key, known, REMEMBERED)
    return known
