"""The questions of a session that an agent program asks in its own dialog, until the program tells what came of them.

A program does not say that a person said yes: it runs the call. So the id of the question waits here for the call."""

from __future__ import annotations

import posixpath

from assent.contract import StoreError, dumps, loads, sha256
from assent.state.files import held, read, replace_text, state_folder

FOLDER = "sessions"
MOST = 64  # open questions of one session; the oldest are given up
_LARGEST = 256 * 1024


def note(state: str, session: str, identity: str, id: str) -> None:
    """A question about the call with this identity was handed to the program's dialog. Raises StoreError."""
    with held(_lock(state)):
        open_now = [each for each in _read(state, session) if each[0] != identity]
        _write(state, session, [*open_now, (identity, id)][-MOST:])


def take(state: str, session: str, identity: str) -> str:
    """The id of the question about a call, which is not open any more; `""` where there was none. Raises StoreError."""
    with held(_lock(state)):
        open_now = _read(state, session)
        found = next((id for known, id in open_now if known == identity), "")
        if found:
            _write(state, session, [each for each in open_now if each[1] != found])
    return found


def close(state: str, session: str, id: str) -> bool:
    """A question is not open any more; whether it was. Raises StoreError."""
    with held(_lock(state)):
        open_now = _read(state, session)
        left = [each for each in open_now if each[1] != id]
        if len(left) < len(open_now):
            _write(state, session, left)
    return len(left) < len(open_now)


def find(state: str, session: str, identity: str) -> str:
    """The same without closing it."""
    return next((id for known, id in _read(state, session) if known == identity), "")


def drop(state: str, session: str) -> tuple[str, ...]:
    """The ids of all open questions of a session, none of which is open any more. Raises StoreError."""
    if not _read(state, session):
        return ()
    with held(_lock(state)):
        open_now = _read(state, session)
        _write(state, session, [])
    return tuple(id for _, id in open_now)


def _lock(state: str) -> str:
    state_folder(state)
    return posixpath.join(state_folder(posixpath.join(state, FOLDER)), "asked.lock")


def _path(state: str, session: str) -> str:
    name = sha256(f"asked\0{session}".encode()).hexdigest()[:32]
    return posixpath.join(state, FOLDER, name)


def _read(state: str, session: str) -> list[tuple[str, str]]:
    path = _path(state, session)
    try:
        found = loads(read(path, _LARGEST)[0])
        return [(str(identity), str(id)) for identity, id in found]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, ValueError, TypeError) as error:
        raise StoreError(f"`{path}` cannot be read: {error}; remove it") from None


def _write(state: str, session: str, asked: list[tuple[str, str]]) -> None:
    replace_text(_path(state, session), dumps(asked) + "\n")
