"""The calls of a session that were put to a person. What the person said is final for them: no model is asked again.

Keeps the names of calls, not the calls. Knows nothing of answers."""

from __future__ import annotations

import posixpath

from assent.contract.errors import StoreError
from assent.contract.notation import dumps, loads
from assent.contract.sha import sha256
from assent.statefile import held, read, replace_text, state_folder

FOLDER = "sessions"
MOST = 512  # calls of one session; the oldest are forgotten
_LARGEST = 256 * 1024


def note(state: str, session: str, identity: str) -> None:
    """The call with this identity is put to a person. Raises StoreError."""
    if not session:
        return
    state_folder(state)
    with held(posixpath.join(state_folder(posixpath.join(state, FOLDER)), "persons.lock")):
        known = [each for each in _read(state, session) if each != identity]
        replace_text(_path(state, session), dumps([*known, identity][-MOST:]))


def has(state: str, session: str, identity: str) -> bool:
    """Whether it was, in this session. Raises StoreError where that cannot be told."""
    return bool(session) and identity in _read(state, session)


def _read(state: str, session: str) -> list[str]:
    path = _path(state, session)
    try:
        found = loads(read(path, _LARGEST)[0])
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise StoreError(f"`{path}` cannot be read: {error}") from None
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise StoreError(f"`{path}` is damaged; remove it")
    return found


def _path(state: str, session: str) -> str:
    name = sha256(f"persons\0{session}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return posixpath.join(state, FOLDER, name)
