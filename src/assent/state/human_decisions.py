"""The calls of a session that were put to a person. What the person said is final for them: no model is asked again.

Keeps the names of calls and of their commands, not these. Knows nothing of answers. Calls without a session are those
of one."""

from __future__ import annotations

import posixpath
from collections.abc import Collection
from contextlib import AbstractContextManager

from assent.contract import StoreError, dumps, loads, sha256
from assent.state.files import held, read, replace_text, state_folder

FOLDER = "sessions"
MOST = 2048  # names of one session; of what was decided the oldest are forgotten
PERSONS, WAITING = "persons", "waiting"
_LARGEST = 512 * 1024


def note(state: str, session: str, names: Collection[str]) -> None:
    """What has these names is a person's from now on. Raises StoreError."""
    with _held(state):
        known = [each for each in _read(state, session, PERSONS) if each not in names]
        replace_text(_path(state, session, PERSONS), dumps([*known, *names][-MOST:]))


def wait(state: str, session: str, names: Collection[str]) -> None:
    """What has these names is before a person, until `end`. Raises StoreError, also where too many wait: kept apart,
    so that questions which an agent takes back push out nothing that a person decided."""
    with _held(state):
        known = [*_read(state, session, WAITING), *names]
        if len(known) > MOST:
            raise StoreError("too many commands of this session wait for a person")
        replace_text(_path(state, session, WAITING), dumps(known))


def end(state: str, session: str, names: Collection[str]) -> None:
    """One question with these names ended. Raises StoreError."""
    with _held(state):
        known = _read(state, session, WAITING)
        for name in names:
            if name in known:
                known.remove(name)
        replace_text(_path(state, session, WAITING), dumps(known))


def has(state: str, session: str, names: Collection[str]) -> bool:
    """Whether anything of these names was, in this session. Raises StoreError where that cannot be told."""
    known = {*_read(state, session, PERSONS), *_read(state, session, WAITING)}
    return not known.isdisjoint(names)


def _held(state: str) -> AbstractContextManager[None]:
    """One process at a time between reading and writing."""
    state_folder(state)
    return held(posixpath.join(state_folder(posixpath.join(state, FOLDER)), "persons.lock"))


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
    name = sha256(f"{kind}\0{session}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return posixpath.join(state, FOLDER, name)
