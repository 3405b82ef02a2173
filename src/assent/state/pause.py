"""Whether a person has paused the protection of Assent's own files.

A small file in Assent's folder, trusted only if nobody but its owner can have written it; it expires by itself."""

from __future__ import annotations

import os
import posixpath
from time import time

from assent.state.files import read, replace_text, state_folder

FILE = "pause"
LONGEST = 3600.0  # seconds
_LIMIT = 1000


def lasts(state: str) -> bool:
    return until(state) > 0


def until(state: str, now: float = 0.0) -> float:
    """When the pause ends, in seconds since the epoch; 0 if there is none."""
    path = posixpath.join(state, FILE)
    if not os.access(path, os.F_OK):  # nearly all calls
        return 0.0
    try:
        raw, status = read(path, _LIMIT)
        end = float(raw.split(b"\n")[0])
    except (OSError, ValueError):
        return 0.0
    now = now or time()
    # INVARIANT: a file of another user, or one with a longer time than a person can set, is no pause.
    if status.st_uid != os.geteuid() or status.st_mode & 0o022 or not now < end <= now + LONGEST:
        return 0.0
    return end


def begin(state: str, end: float, who: str) -> None:
    state_folder(state)
    replace_text(posixpath.join(state, FILE), f"{end:.3f}\n{who}\n")


def finish(state: str) -> bool:
    """End a pause; false if there was none."""
    lasted = lasts(state)
    try:  # noqa: SIM105 -- a hook loads this module, and `contextlib` takes longer than it
        os.unlink(posixpath.join(state, FILE))
    except FileNotFoundError:
        pass
    return lasted
