"""The calls of a session that a person was asked about. The answer is final for them: no model is asked again.

Keeps the names of calls and commands, not their text. Calls without a session share one."""

from __future__ import annotations

import posixpath
from collections.abc import Collection

from assent.contract import StoreError, dumps, loads, sha256
from assent.state.files import locked, read, replace_text

FOLDER = "sessions"
LOCK = f"{FOLDER}/persons.lock"
MOST = 2048  # names of one session; the oldest decided ones are dropped
PERSONS, WAITING = "persons", "waiting"
_LARGEST = 512 * 1024


def note(state: str, session: str, names: Collection[str]) -> None:
    """Note that a person decided these names. Raises StoreError."""
    with locked(state, LOCK):
        known = [each for each in _read(state, session, PERSONS) if each not in names]
        replace_text(_path(state, session, PERSONS), dumps([*known, *names][-MOST:]))


def wait(state: str, session: str, names: Collection[str]) -> None:
    """Note that these names wait for a person, until `end`. Raises StoreError, also if too many wait. Kept apart from
    decisions, so that questions an agent withdraws evict none of them."""
    with locked(state, LOCK):
        known = [*_read(state, session, WAITING), *names]
        if len(known) > MOST:
            raise StoreError("too many commands of this session are waiting for a person")
        replace_text(_path(state, session, WAITING), dumps(known))


def end(state: str, session: str, names: Collection[str]) -> None:
    """Note that one question with these names ended. Raises StoreError."""
    with locked(state, LOCK):
        known = _read(state, session, WAITING)
        for name in names:
            if name in known:
                known.remove(name)
        replace_text(_path(state, session, WAITING), dumps(known))


def has(state: str, session: str, names: Collection[str]) -> bool:
    """Whether a person was asked about one of these names in this session. Raises StoreError."""
    return not {*_read(state, session, PERSONS), *_read(state, session, WAITING)}.isdisjoint(names)


def _read(state: str, session: str, kind: str) -> list[str]:
    path = _path(state, session, kind)
    try:
        found = loads(read(path, _LARGEST)[0])
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise StoreError(f"`{path}` cannot be read: {error}") from None
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise StoreError(f"`{path}` is damaged; remove it")
    return found


def _path(state: str, session: str, kind: str) -> str:
    return posixpath.join(state, FOLDER, sha256(f"{kind}\0{session}".encode("utf-8", "surrogatepass")).hexdigest()[:32])
