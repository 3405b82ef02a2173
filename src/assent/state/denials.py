"""How often a person said no in each session, and the offer that came of it: one small file a session. Counts nothing.

Processes of one session share it, so changes are made one at a time. What cannot be read is as good as none."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from assent.contract import StoreError, dumps, loads, sha256
from assent.state.files import held, read, replace_text, state_folder

if TYPE_CHECKING:
    Row = dict[str, Any]

FOLDER = "denials"
MOST = 512  # sessions; the ones that changed longest ago are forgotten
_LARGEST = 64 * 1024


def change(state: str, runtime: str, session: str, do: Callable[[Row | None], Row | None]) -> None:
    """Let `do` make the new row of a session from the one of now (None: there is none). What it returns is kept; None
    leaves the file as it is. Raises StoreError."""
    state_folder(state)
    folder = state_folder(posixpath.join(state, FOLDER))
    path = posixpath.join(folder, _name(runtime, session))
    with held(posixpath.join(folder, "lock")):
        before = _row(path)
        after = do(before)
        if after is None:
            return
        if before is None:
            _make_room(folder)
        replace_text(path, dumps({**after, "runtime": runtime, "session": session}) + "\n")


def find(state: str, runtime: str, session: str) -> Row | None:
    """The row of a session; None where there is none that can be read."""
    return _row(posixpath.join(state, FOLDER, _name(runtime, session)))


def any_in(state: str) -> bool:
    """Whether any session has a row."""
    return os.path.isdir(posixpath.join(state, FOLDER))


def rows(state: str, *, since: float = 0.0) -> list[Row]:
    """The rows of all sessions that changed since then, the ones that changed last at the end."""
    folder = posixpath.join(state, FOLDER)
    found = (_row(posixpath.join(folder, name)) for name in _by_age(folder, since))
    return [each for each in found if each is not None]


def forget(state: str, *, older_than: float) -> None:
    """Remove what did not change since that time."""
    folder = posixpath.join(state, FOLDER)
    for name in _by_age(folder):
        path = posixpath.join(folder, name)
        try:
            if os.stat(path).st_mtime < older_than:
                os.unlink(path)
        except OSError:
            continue


def _name(runtime: str, session: str) -> str:
    return sha256(f"{runtime}\0{session}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _row(path: str) -> Row | None:
    try:
        found = loads(read(path, _LARGEST)[0])
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _by_age(folder: str, since: float = 0.0) -> list[str]:
    try:
        found = [(each.stat().st_mtime, each.name) for each in os.scandir(folder) if len(each.name) == 32]
    except OSError:
        return []
    return [name for changed, name in sorted(found) if changed >= since]


def _make_room(folder: str) -> None:
    names = _by_age(folder)
    for name in names[: max(0, len(names) - MOST + 1)]:
        try:
            os.unlink(posixpath.join(folder, name))
        except OSError as error:
            raise StoreError(f"`{posixpath.join(folder, name)}` cannot be removed: {error.strerror}") from None
