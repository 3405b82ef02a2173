"""The questions of a session that are open in an agent program's own dialog.

A program does not report that a person said yes: it runs the call. So the id of the question is kept for the call."""

from __future__ import annotations

import posixpath

from assent.contract import StoreError, dumps, sha256
from assent.state.files import locked, replace_text, stored

FOLDER = "sessions"
LOCK = f"{FOLDER}/asked.lock"
MOST = 64  # open questions of one session; the oldest are dropped
_LARGEST = 256 * 1024


def note(state: str, session: str, identity: str, id: str) -> None:
    """Note that the program's dialog asks about the call with this identity. Raises StoreError."""
    with locked(state, LOCK):
        open_now = [each for each in _read(state, session) if each[0] != identity]
        _write(state, session, [*open_now, (identity, id)][-MOST:])


def take(state: str, session: str, identity: str) -> str:
    """Close the question about a call and return its id; `""` if there was none. Raises StoreError."""
    with locked(state, LOCK):
        open_now = _read(state, session)
        found = next((id for known, id in open_now if known == identity), "")
        if found:
            _write(state, session, [each for each in open_now if each[1] != found])
    return found


def close(state: str, session: str, id: str) -> bool:
    """Close a question; return whether it was open. Raises StoreError."""
    with locked(state, LOCK):
        open_now = _read(state, session)
        left = [each for each in open_now if each[1] != id]
        if len(left) < len(open_now):
            _write(state, session, left)
    return len(left) < len(open_now)


def find(state: str, session: str, identity: str) -> str:
    return next((id for known, id in _read(state, session) if known == identity), "")


def drop(state: str, session: str) -> tuple[str, ...]:
    """Close all open questions of a session and return their ids. Raises StoreError."""
    if not _read(state, session):
        return ()
    with locked(state, LOCK):
        open_now = _read(state, session)
        _write(state, session, [])
    return tuple(id for _, id in open_now)


def _path(state: str, session: str) -> str:
    return posixpath.join(state, FOLDER, sha256(f"asked\0{session}".encode()).hexdigest()[:32])


def _read(state: str, session: str) -> list[tuple[str, str]]:
    path = _path(state, session)
    try:
        return [(str(identity), str(id)) for identity, id in stored(path, _LARGEST)]
    except (ValueError, TypeError) as error:
        raise StoreError(f"`{path}` cannot be read: {error}; remove it") from None


def _write(state: str, session: str, asked: list[tuple[str, str]]) -> None:
    replace_text(_path(state, session), dumps(asked) + "\n")
