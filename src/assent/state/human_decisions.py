"""The calls of a session that were put to a person. What the person said is final for them: no model is asked again.

Keeps the names of calls and of their commands, not these. Knows nothing of answers. Calls without a session are those
of one."""

from __future__ import annotations

import posixpath

from assent.contract.errors import StoreError
from assent.contract.notation import dumps, loads
from assent.contract.sha import sha256
from assent.state.files import held, read, replace_text, state_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

FOLDER = "sessions"
MOST = 2048  # names of one session; the oldest are forgotten
_LARGEST = 256 * 1024


def note(state: str, session: str, names: Collection[str]) -> None:
    """What has these names is put to a person. Raises StoreError."""
    state_folder(state)
    with held(posixpath.join(state_folder(posixpath.join(state, FOLDER)), "persons.lock")):
        replace_text(_path(state, session), dumps([*_read(state, session), *names][-MOST:]))


def forget(state: str, session: str, names: Collection[str]) -> None:
    """Take back one note of each of these names: the question ended, and no person said no. Raises StoreError."""
    with held(posixpath.join(state_folder(posixpath.join(state, FOLDER)), "persons.lock")):
        known = _read(state, session)
        for name in names:
            if name in known:
                known.remove(name)
        replace_text(_path(state, session), dumps(known))


def has(state: str, session: str, names: Collection[str]) -> bool:
    """Whether anything of these names was, in this session. Raises StoreError where that cannot be told."""
    return not set(names).isdisjoint(_read(state, session))


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
