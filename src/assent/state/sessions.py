"""The project's rules at the first call of a session.

A session may try to loosen the project's file later; the first text still applies together with the current one, and
since such a file can only tighten, both together never allow more. For the same reason the rules of the folder where it
began apply in every other folder: a worktree, or one it created. Files that a session has not used for 30 days are
removed."""

from __future__ import annotations

import os
import posixpath
import time
from collections.abc import Callable

from assent.contract import PolicyError, StoreError, keep, sha256
from assent.state.files import config_text, replace_text, state_folder

FOLDER = "sessions"
MARKER = "swept"
WRITTEN = "written"  # changes of the session, see `ledger`
DAY = 86400.0
KEPT = 30 * DAY  # seconds to keep files of a session after its last call
AT_ONCE = 2000  # files that are removed at a time
REMEMBERED = 256  # names of files


def pinned(state: str, session: str, root: str, text: str | None) -> str | None:
    """Return the project text of the session's first call, saving `text` if this is the first.

    None if there was no file and there is none now; `""` is an empty file."""
    path = path_of(state, f"{session}\0{root}")
    first = config_text(path)
    if first is not None:
        _used(path)
        return first
    _write(path, text or "")
    sweep(state, time.time())
    return text


def began(state: str, session: str, root: str, commit: Callable[[str], tuple[str, ...]] | None = None) -> str:
    """Return the folder of the session's first call, saving `root` if this is the first, with its `commit` then (see
    `baseline`). `/` means no folder and begins nothing; nor does a call while nothing can be written: it can only
    read."""
    path = path_of(state, f"began\0{session}")
    first = config_text(path)
    if first or root == "/":
        _used(path)
        return (first or root).partition("\0")[0]
    late = os.path.lexists(path_of(state, f"{WRITTEN}\0{session}"))  # it has changed something before, in no folder
    known = commit(root) if commit is not None and not late else ()
    try:  # noqa: SIM105 -- a hook loads this module, and `contextlib` takes longer than it
        _write(path, "\0".join((root, *known)) if any(known) else root)
    except StoreError:
        pass
    return root


def baseline(state: str, session: str) -> tuple[str, str]:
    """The working tree around the folder of a session's first call, and the id of its commit then. Empty if there was
    none, or there is no session."""
    top, id, _ = _first(state, session)
    return top, id


def remotes(state: str, session: str) -> str:
    """The digest of the repository's remotes when the session began; `""` if it is not known."""
    return _first(state, session)[2]


def _first(state: str, session: str) -> tuple[str, str, str]:
    if not state or not session:
        return "", "", ""
    try:
        first = config_text(path_of(state, f"began\0{session}"))
    except PolicyError:
        return "", "", ""
    parts = (first or "").split("\0")[1:]
    return (parts[0], parts[1], parts[2] if len(parts) == 3 else "") if len(parts) in (2, 3) else ("", "", "")


def path_of(state: str, name: str) -> str:
    """A file that is kept for a session."""
    return posixpath.join(state, FOLDER, sha256(name.encode()).hexdigest()[:32])


def _write(path: str, text: str) -> None:
    folder = posixpath.dirname(path)
    state_folder(posixpath.dirname(folder))
    state_folder(folder)
    replace_text(path, text)


def sweep(state: str, now: float) -> int:
    """Remove files that no session has used for KEPT seconds, once a day and some at a time; return how many."""
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
    except (OSError, StoreError):  # try another day
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
    """The mode that a person chose for a session; `""` if none was."""
    if not session:
        return ""
    path = _mode_file(state, session)
    try:
        os.lstat(path)
    except FileNotFoundError:  # nearly all calls
        return ""
    except OSError:
        pass
    _used(path)
    return (config_text(path) or "").strip()


def choose_mode(state: str, session: str, mode: str) -> None:
    """Save the mode that a person chose for a session; `""` removes it."""
    _write(_mode_file(state, session), f"{mode}\n" if mode else "")
    sweep(state, time.time())


_mode_files: dict[tuple[str, str], str] = {}


def _mode_file(state: str, session: str) -> str:
    key = (state, session)
    known = _mode_files.get(key)
    if known is None:
        known = path_of(state, f"mode\0{session}")
        keep(_mode_files, key, known, REMEMBERED)
    return known
