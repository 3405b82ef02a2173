"""Tickets for contained runs, and the receipts of these runs. The runner (runner.c) reads tickets and writes receipts.

Both are lists of keys and values, each ended by NUL; a complete one has the key `end` last."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator

from assent.contain import words
from assent.contain.profile import FOLDER, INSTALLED, OWN_CACHES, PROXY_PORT, NotContained, Profile
from assent.contract import StoreError, Value

LIFETIME = 15 * 60  # seconds
KEPT = 24 * 3600  # seconds to keep a receipt; a run's quarantine is kept 30 times as long
MOST_RECEIPTS = 500
LARGEST = 4 << 20  # bytes of either
PARTS = ("tickets", "claimed", "running", "receipts", "quarantine", "caches")
_HEXADECIMAL = frozenset("0123456789abcdef")


class Receipt(Value):
    """How a contained run ended. `started`: the command ran; otherwise `why` says what prevented it. `status` is its
    exit status, `signal` the signal that ended it (0: none). `refused` are hosts, `quarantined` protected paths that
    the run created and that were moved away, `left` those that could not be. `changed` are the files it wrote or
    removed and the folders it created, except git's own data, and `removed` the folders that are gone or replaced.
    `complete`: both lists are complete, as for a run that was not started."""

    __slots__ = (
        *("id", "digest", "started", "status", "signal", "seconds", "timed_out"),
        *("refused", "quarantined", "left", "changed", "removed", "complete", "why"),
    )

    def __init__(
        self,
        id: str,
        digest: str = "",
        *,
        started: bool = False,
        status: int = 0,
        signal: int = 0,
        seconds: float = 0.0,
        timed_out: bool = False,
        refused: tuple[str, ...] = (),
        quarantined: tuple[str, ...] = (),
        left: tuple[str, ...] = (),
        changed: tuple[str, ...] = (),
        removed: tuple[str, ...] = (),
        complete: bool = False,
        why: str = "",
    ) -> None:
        self.id = id
        self.digest = digest
        self.started = started
        self.status = status
        self.signal = signal
        self.seconds = seconds
        self.timed_out = timed_out
        self.refused = refused
        self.quarantined = quarantined
        self.left = left
        self.changed = changed
        self.removed = removed
        self.complete = complete
        self.why = why

    @property
    def failed(self) -> bool:
        return not self.started or self.status != 0 or self.timed_out


def issue(
    state: str, profile: Profile, *, command: str, shell: str, cwd: str, digest: str, session: str, now: float
) -> str:
    """Write a ticket for one run of a command; return its id. Raises NotContained if the call cannot be passed on,
    StoreError if the ticket cannot be written."""
    if "\0" in command + shell + cwd + digest + session:
        raise NotContained("the command contains a NUL byte")
    if not shell.startswith("/"):
        raise NotContained("the shell of the call is not known")
    folders(state, profile.cache)
    _clear_cache(profile)
    id = os.urandom(16).hex()
    fields = [
        ("assent-contain", "1"),
        ("id", id),
        ("expires", str(int(now) + LIFETIME)),
        *(("digest", digest), ("session", session)),
        *(("shell", shell), ("command", command), ("cwd", os.path.realpath(cwd))),
        *_profile_fields(profile),
        ("end", ""),
    ]
    data = b"".join(os.fsencode(key) + b"\0" + os.fsencode(value) + b"\0" for key, value in fields)
    if len(data) > LARGEST:
        raise NotContained("the call is too long to be contained")
    _write(os.path.join(state, FOLDER, "tickets"), id, data)
    _forget(os.path.join(state, FOLDER), now)
    return id


def _profile_fields(profile: Profile) -> Iterator[tuple[str, str]]:
    yield "bwrap", words.bubblewrap()
    yield from (("memory", str(profile.memory)), ("processes", str(profile.processes)))
    yield "seconds", str(profile.seconds)
    yield from (("word", word) for word in words.words(profile))
    yield from (("root", each) for each in (*profile.roots, *profile.writable))
    yield from (("frozen", each) for each in profile.roots if profile.frozen)
    yield from (("writes", each) for each in words.written(profile))
    yield from (("visible", each) for each in (*profile.roots, *profile.writable, *profile.readable))
    yield from (("open", each) for each in profile.opened)
    yield from (("hide", each) for each in profile.concealed)
    yield from (("protect", each) for each in profile.protected)
    yield from (("protect-file", each) for each in profile.protected_files)
    if not profile.installs:
        yield from (("installed", f"**/{each}") for each in INSTALLED)
        yield from (("cache", each) for each in OWN_CACHES)
    else:  # packages contain files with protected names that have no effect there
        yield from (("ignore", f"**/{each}") for each in INSTALLED)
    if profile.network:
        yield "proxy_port", str(PROXY_PORT)
        yield from (("proxy", word) for word in words.proxy_words(profile.network))


def folders(state: str, cache: str = "") -> None:
    """Make the folders of tickets and receipts, open to their owner only."""
    base = os.path.join(state, FOLDER)
    try:
        for path in (state, base, *(os.path.join(base, part) for part in PARTS), *([cache] if cache else [])):
            if not os.path.isdir(path):
                os.makedirs(path, mode=0o700, exist_ok=True)
    except OSError as error:
        raise StoreError(f"`{base}` cannot be made: {error.strerror}") from None


def _clear_cache(profile: Profile) -> None:
    """Remove links that runs left in the project's cache at the mount point of a user's cache: bubblewrap would create
    folders at their targets."""
    cache = f"{profile.home}/.cache/"
    for path in (each for each in profile.readable if profile.cache and each.startswith(cache)):
        place = profile.cache
        for name in path[len(cache) :].split("/"):
            place = os.path.join(place, name)
            if os.path.islink(place):
                os.unlink(place)


def _write(folder: str, id: str, data: bytes) -> None:
    """Complete before anybody knows the id; after a crash of the machine the runner refuses a partial one."""
    path = os.path.join(folder, id)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(handle, "wb") as file:
            file.write(data)
    except OSError as error:
        raise StoreError(f"`{path}` cannot be written: {error.strerror}") from None


def _forget(base: str, now: float) -> None:
    """Remove tickets that expired, and old receipts."""
    for part, kept in (("tickets", LIFETIME), ("claimed", LIFETIME), ("receipts", KEPT)):
        try:
            with os.scandir(os.path.join(base, part)) as entries:
                found = sorted((each.stat(follow_symlinks=False).st_mtime, each.path) for each in entries)
            old = [path for at, path in found if at < now - kept] + [path for _, path in found[:-MOST_RECEIPTS]]
            for path in dict.fromkeys(old):
                os.unlink(path)
        except OSError:
            continue


def command_line(state: str, id: str) -> str:
    """The command line that runs in place of the command."""
    return shlex.join((words.runner(state), id))


def id_of(state: str, command: str) -> str:
    """The ticket that a command line runs; `""` if it is no such line."""
    before, _, id = command.strip().rpartition(" ")
    known = len(id) == 32 and _HEXADECIMAL.issuperset(id)
    return id if known and before == shlex.join((words.runner(state),)) else ""


def receipt(state: str, id: str) -> Receipt | None:
    """How the run of a ticket ended; None if no runner has reported it."""
    if len(id) != 32 or not _HEXADECIMAL.issuperset(id):
        return None
    path = os.path.join(state, FOLDER, "receipts", id)
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(handle, "rb") as file:
            status, data = os.fstat(handle), file.read(LARGEST + 1)
    except OSError:
        return None
    fields = os.fsdecode(data).split("\0")
    if status.st_uid != os.geteuid() or len(fields) % 2 == 0 or fields[-3:] != ["end", "", ""]:
        return None
    found: dict[str, list[str]] = {}
    for key, value in zip(fields[:-1:2], fields[1::2], strict=True):
        found.setdefault(key, []).append(value)
    return _receipt(id, found)


def _receipt(id: str, found: dict[str, list[str]]) -> Receipt | None:
    try:
        return Receipt(
            id,
            found["digest"][0],
            started=found["started"] == ["1"],
            status=int(found["status"][0]),
            signal=int(found["signal"][0]),
            seconds=int(found["milliseconds"][0]) / 1000,
            timed_out=found["timed_out"] == ["1"],
            refused=tuple(dict.fromkeys(found.get("refused", ()))),
            quarantined=tuple(found.get("quarantined", ())),
            left=tuple(found.get("left", ())),
            changed=tuple(found.get("changed", ())),
            removed=tuple(found.get("removed", ())),
            complete=found.get("complete") == ["1"],
            why=found["why"][0],
        )
    except (KeyError, ValueError):
        return None
