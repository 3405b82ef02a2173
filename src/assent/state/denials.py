"""How often a person said no in each session, and the offer that followed: one small file for each session.

Processes of one session share it, so changes are made one at a time. A file that cannot be read counts as none."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable
from typing import Any

from assent.contract import StoreError, dumps, loads, sha256
from assent.state.files import locked, read, replace_text

FOLDER = "denials"
MOST = 512  # sessions; the least recently changed are dropped
_LARGEST = 64 * 1024


def change(
    state: str, runtime: str, session: str, do: Callable[[dict[str, Any] | None], dict[str, Any] | None]
) -> None:
    """Replace the row of a session by the result of `do` on the current one (None: there is none); if it returns None,
    nothing changes. Raises StoreError."""
    folder = posixpath.join(state, FOLDER)
    path = posixpath.join(folder, _name(runtime, session))
    with locked(state, f"{FOLDER}/lock"):
        before = _row(path)
        after = do(before)
        if after is None:
            return
        if before is None:
            _make_room(folder)
        replace_text(path, dumps({**after, "runtime": runtime, "session": session}) + "\n")


def find(state: str, runtime: str, session: str) -> dict[str, Any] | None:
    """The row of a session; None if there is none that can be read."""
    return _row(posixpath.join(state, FOLDER, _name(runtime, session)))


def any_in(state: str) -> bool:
    return os.path.isdir(posixpath.join(state, FOLDER))


def rows(state: str, *, since: float = 0.0) -> list[dict[str, Any]]:
    """The rows of all sessions that changed since then, the latest last."""
    folder = posixpath.join(state, FOLDER)
    found = (_row(posixpath.join(folder, name)) for name in _by_age(folder, since))
    return [each for each in found if each is not None]


def forget(state: str, *, older_than: float) -> None:
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


def _row(path: str) -> dict[str, Any] | None:
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
