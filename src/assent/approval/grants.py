"""The saved answers of a user: `grants.json` in the user's own folder.

A file that cannot be read is a StoreError, never a partial list: callers treat it as no grants at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from stat import S_IMODE

from assent.contract import StoreError, loads
from assent.contract.approval import Grant, Scope
from assent.state.files import held, read, replace_text, state_folder

FILE = "grants.json"
VERSION = 1
LIMIT = 4 * 1024 * 1024
SKEW = 60.0  # seconds by which a clock may be corrected
TEXTS = ("id", "identity", "session", "project", "who", "channel", "shown")
LISTS = ("rules", "answers")
TIMES = ("made", "until")


class GrantBook:
    """The grants in one state folder. Holds nothing in memory: other processes write the same file."""

    __slots__ = ("_folder", "_path")

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._path = os.path.join(folder, FILE)

    def live(self, session: str, project: str, now: float) -> tuple[Grant, ...]:
        """The grants that hold for a session in a project. Raises StoreError."""
        found = self._read()
        here = canonical(project) if found else ""
        timely = (grant for grant in found if not _over(grant, now) and not _unborn(grant, now))
        return tuple(grant for grant in timely if _holds(grant, session, here))

    def all(self, now: float) -> tuple[Grant, ...]:
        """Every grant that has not ended, the oldest first; ended ones are removed from the file. Raises StoreError."""
        found = self._read()
        return self._changed(now, lambda grants: grants) if any(_over(grant, now) for grant in found) else found

    def add(self, grant: Grant) -> Grant:
        """Save an answer and return it as saved: bound to its project's real path, with its end. Raises StoreError if
        it cannot be saved."""
        bound = _bound(grant)
        self._changed(grant.made, lambda grants: [*(each for each in grants if each.id != bound.id), bound])
        return bound

    def revoke(self, id: str, now: float = 0.0) -> Grant:
        """Revoke one grant, named by its id or by a unique prefix of it. Raises StoreError."""
        return self._removed(now, lambda grants: [_named(id, grants)])[0]

    def revoke_all(self, now: float = 0.0) -> tuple[Grant, ...]:
        return tuple(self._removed(now, list))

    def _removed(self, now: float, choose: Callable[[list[Grant]], list[Grant]]) -> list[Grant]:
        gone: list[Grant] = []

        def without(grants: list[Grant]) -> list[Grant]:
            gone.extend(choose(grants))
            return [each for each in grants if not any(each is one for one in gone)]

        self._changed(now, without)
        return gone

    def _changed(self, now: float, change: Callable[[list[Grant]], list[Grant]]) -> tuple[Grant, ...]:
        """Read, change and write under a lock; ended grants are removed."""
        state_folder(self._folder)
        with held(self._path + ".lock"):
            after = change([grant for grant in self._read() if not _over(grant, now)])
            import json

            text = json.dumps({"version": VERSION, "grants": [_row(grant) for grant in after]}, indent=1) + "\n"
            if len(text) > LIMIT:
                raise StoreError(f"`{self._path}` is full; revoke grants with `assent grants revoke`")
            replace_text(self._path, text)
        return tuple(after)

    def _read(self) -> tuple[Grant, ...]:
        try:
            raw, status = read(self._path, LIMIT)
        except (FileNotFoundError, NotADirectoryError):
            return ()
        except OSError as error:
            raise self._broken(f"cannot be read: {error.strerror}") from None
        if status.st_uid != os.geteuid() or S_IMODE(status.st_mode) & 0o022:
            raise self._broken("can be written by others")
        try:
            value = loads(raw)
        except (ValueError, RecursionError):
            raise self._broken("is not JSON") from None
        if not isinstance(value, dict) or not isinstance(value.get("grants"), list):
            raise self._broken("is no list of grants")
        if value.get("version") != VERSION:
            raise self._broken("is of another version of Assent")
        try:
            return tuple(map(_grant, value["grants"]))
        except (KeyError, TypeError, ValueError):
            raise self._broken("holds what is no grant") from None

    def _broken(self, what: str) -> StoreError:
        return StoreError(f"`{self._path}` {what}; repair it, or remove it and no answer is remembered")


def canonical(project: str) -> str:
    """The real path of a project's folder; `""` if it is no folder."""
    return os.path.realpath(project) if project.startswith("/") and "\0" not in project else ""


def _over(grant: Grant, now: float) -> bool:
    return grant.until != 0 and grant.until <= now


def _unborn(grant: Grant, now: float) -> bool:
    """Made in the future: the clock was set back, so the remaining time of the grant is unknown."""
    return grant.until != 0 and grant.made > now + SKEW


def _holds(grant: Grant, session: str, project: str) -> bool:
    bounds = grant.scope.bounds
    if bounds.project and (not project or grant.project != project):
        return False
    return not bounds.session or (grant.session == session and (bool(session) or not bounds.named))


def _bound(grant: Grant) -> Grant:
    """The grant as saved; StoreError if it could never settle anything."""
    scope, bounds = grant.scope, grant.scope.bounds
    project = canonical(grant.project) if bounds.project else ""
    if scope is Scope.ONCE:
        raise StoreError("an answer for once is not remembered; choose a longer scope")
    if not grant.id or not (grant.rules or grant.identity):
        raise StoreError("a grant needs an id, and rules or the identity of a call")
    if bounds.project and not project:
        raise StoreError("a grant for a project needs the project's folder; allow it once, or everywhere")
    if bounds.named and not grant.session:
        raise StoreError("the runtime names no session; allow it for 15 minutes or for this project")
    latest = grant.made + bounds.seconds if bounds.seconds else grant.until
    until = min(grant.until or latest, latest)
    return Grant(
        grant.id,
        scope,
        rules=grant.rules,
        identity="" if grant.rules else grant.identity,
        answers=grant.answers,
        session=grant.session if bounds.session else "",
        project=project,
        made=grant.made,
        until=until,
        who=grant.who,
        channel=grant.channel,
        shown=grant.shown,
        files=grant.files,
    )


def _named(id: str, grants: Iterable[Grant]) -> Grant:
    found = [grant for grant in grants if id and grant.id.startswith(id)]
    exact = [grant for grant in found if grant.id == id]
    if len(exact or found) == 1:
        return (exact or found)[0]
    if found:
        raise StoreError(f"`{id}` begins {len(found)} grants; write more of the id")
    raise StoreError(f"there is no grant `{id}`; `assent grants` lists them")


def _row(grant: Grant) -> dict[str, object]:
    row: dict[str, object] = {name: getattr(grant, name) for name in (*TEXTS, *TIMES)}
    row |= {name: list(getattr(grant, name)) for name in LISTS}
    return {**row, "scope": grant.scope.value, "files": [list(pair) for pair in grant.files]}


def _grant(row: dict[str, object]) -> Grant:
    """A grant from its row in the file. Raises if it is malformed. A row without `files` is from a version that did not
    bind grants to them: it settles nothing that runs a file."""
    if {*row, "files"} != {*TEXTS, *LISTS, *TIMES, "scope", "files"}:
        raise ValueError("other fields than a grant has")
    files = [[_text(each) for each in _list(pair)] for pair in _list(row.get("files", []))]
    texts = {name: _text(row[name]) for name in TEXTS}
    lists = {name: tuple(_text(each) for each in _list(row[name])) for name in LISTS}
    times = {name: _time(row[name]) for name in TIMES}
    scope = Scope(row["scope"])
    if scope is Scope.ONCE or (scope.bounds.seconds and times["until"] == 0):
        raise ValueError("a grant without the end that its scope has")
    return Grant(
        texts["id"],
        scope,
        rules=lists["rules"],
        identity=texts["identity"],
        answers=lists["answers"],
        session=texts["session"],
        project=texts["project"],
        made=times["made"],
        until=times["until"],
        who=texts["who"],
        channel=texts["channel"],
        shown=texts["shown"],
        files=tuple((path, content) for path, content in files),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not text")
    return value


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError("not a list")
    return value


def _time(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e12:
        raise ValueError("not a time")
    return float(value)
