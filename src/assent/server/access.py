"""Access: one-time codes, the sessions of persons, the token of callers. Contains no HTTP.

Callers (the hooks of agents) may only ask. A person signs in with a code that is not shown to agents. A session has two
secrets, the cookie and the key of the page: a browser also sends the cookie to other ports of this host, where an agent
may serve pages, but not the key. Both are kept in memory only, as hashes."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from assent.contract import AccessError, StoreError, keep

ALPHABET = "BCDFGHJKMNPQRSTVWXYZ23456789"  # no characters that look alike, and no vowels, so no words
CODE_LENGTH = 8
CODE_LIFE = 600.0
TRIES, TRY_EVERY = 8, 5.0  # wrong codes at once, then one in so many seconds
MOST_PEERS = 256  # users whose tries are counted
IDLE, ABSOLUTE = 8 * 3600.0, 24 * 3600.0
MOST_SESSIONS = 32
TOKEN_FILE, SCRAPE_FILE = "caller.token", "metrics.token"

WEB, INBOX = "web", "inbox"  # where persons sign in

Clock = Callable[[], float]


def steady() -> float:
    """Seconds on a monotonic clock that also runs while the machine sleeps: codes expire then too."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if sys.platform == "linux" else time.monotonic()


class Role(IntEnum):
    """What a sender may do. Each role includes those before it."""

    NOBODY = 0  # see the sign-in page and whether the server runs
    CALLER = 1  # check and submit calls, and come back for them
    PERSON = 2  # see and answer questions, change modes, read the trail


class Codes:
    """The current one-time code. It is short, so wrong tries are limited per user."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._hash = b""
        self._until = 0.0
        self._tries: dict[str, Bucket] = {}  # by peer

    def fresh(self) -> str:
        """A new code, which replaces the last one."""
        code = "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))
        self._hash, self._until = _hash(code), self._clock() + CODE_LIFE
        return f"{code[:4]}-{code[4:]}"

    @property
    def live(self) -> bool:
        return bool(self._hash) and self._clock() < self._until

    def redeem(self, typed: str, peer: str = "") -> None:
        """Use up the code. Raises AccessError if `typed` is wrong. `peer` is the user whose tries are counted.

        INVARIANT: wrong codes of one user do not lock out another. There are too many codes for all users of a machine
        together to guess one."""
        tries = self._tries.pop(peer, None) or Bucket(self._clock, TRIES, TRY_EVERY)
        keep(self._tries, peer, tries, MOST_PEERS)
        wait = tries.take()
        if wait > 0:
            raise AccessError(f"too many tries; wait {wait:.0f} seconds, then type the code again", code="slow-down")
        code = "".join(character for character in typed[:64].upper() if character.isalnum())
        right = hmac.compare_digest(_hash(code), self._hash or _hash("")) and bool(self._hash)
        if not right or not self.live:
            raise AccessError("this code is wrong, used or older than 10 minutes; ask for a new one", code="bad-code")
        self._hash = b""
        tries.fill()


class Bucket:
    """A rate limit: `size` at once, then one in `every` seconds."""

    def __init__(self, clock: Clock, size: int, every: float) -> None:
        self._clock, self._size, self._every = clock, size, every
        self._left, self._at = float(size), clock()

    def take(self) -> float:
        """Take one; return 0, or the seconds to wait for one."""
        now = self._clock()
        self._left = min(self._size, self._left + (now - self._at) / self._every)
        self._at = now
        if self._left < 1:
            return (1 - self._left) * self._every
        self._left -= 1
        return 0.0

    def fill(self) -> None:
        self._left = float(self._size)


@dataclass(frozen=True, slots=True)
class Person:
    """A signed-in person; `until` is the latest end of the session, `channel` the surface that they use."""

    who: str
    session: str
    until: float
    channel: str = WEB


@dataclass(slots=True)
class _Session:
    person: Person
    key: bytes
    seen: float


class Sessions:
    """Who is signed in. Kept in memory only."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._sessions: dict[bytes, _Session] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def open(self, who: str, channel: str = WEB) -> tuple[str, str, Person]:
        """A new session: its cookie, the key of its page, and the person."""
        cookie, key, now = secrets.token_urlsafe(32), secrets.token_urlsafe(32), self._clock()
        live = {name: each for name, each in self._sessions.items() if now < min(each.person.until, each.seen + IDLE)}
        self._sessions = live
        while len(self._sessions) >= MOST_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        person = Person(who, secrets.token_hex(4), now + ABSOLUTE, channel)
        self._sessions[_hash(cookie)] = _Session(person, _hash(key), now)
        return cookie, key, person

    def find(self, cookie: str, key: str) -> Person | None:
        """The person of a cookie and a key, if both are right and the session has not ended."""
        name, now = _hash(cookie), self._clock()
        session = self._sessions.get(name)
        if session is not None and now >= min(session.person.until, session.seen + IDLE):
            del self._sessions[name]
            return None
        if session is None or not hmac.compare_digest(session.key, _hash(key)):
            return None
        session.seen = now
        return session.person

    def awake(self, cookie: str) -> bool:
        """Whether a session is open. Asking counts as use, so the session does not expire."""
        session, now = self._sessions.get(_hash(cookie)), self._clock()
        if session is None or now >= session.person.until:
            return False
        session.seen = now
        return True

    def close(self, cookie: str) -> None:
        self._sessions.pop(_hash(cookie), None)

    def close_all(self) -> None:
        self._sessions.clear()


class Access:
    """Codes, sessions and tokens. `token` is for callers that do not use the socket, `scrape` for metrics collectors,
    which may read only metrics."""

    def __init__(self, clock: Clock, *, who: str, token: str, scrape: str = "") -> None:
        self.codes = Codes(clock)
        self.sessions = Sessions(clock)
        self.who = who
        self._token = _hash(token)
        self._usual = b"Bearer " + token.encode()  # as most callers send it
        self._scrape = _hash(scrape) if scrape else b""

    def sign_in(self, code: str, channel: str = WEB, peer: str = "") -> tuple[str, str, Person]:
        """A session for the right code: cookie, key, person. Raises AccessError. `peer`: as in `Codes.redeem`."""
        self.codes.redeem(code, peer)
        return self.sessions.open(self.who, channel)

    def is_shown(self, header: bytes) -> bool:
        """Whether an Authorization header has the token of callers in its usual form: the quick comparison."""
        return hmac.compare_digest(header, self._usual)

    def is_caller(self, token: str) -> bool:
        return bool(token) and hmac.compare_digest(_hash(token), self._token)

    def is_scraper(self, token: str) -> bool:
        return bool(token) and hmac.compare_digest(_hash(token), self._scrape)


def load_token(state: str, name: str = TOKEN_FILE) -> str:
    """The token in a file of the state folder, created on first use. TOKEN_FILE's admits callers on TCP only."""
    path = os.path.join(state, name)
    try:
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            return _read_token(path)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(made := secrets.token_urlsafe(32))
        return made
    except OSError as error:
        raise StoreError(f"`{path}` cannot be used: {error.strerror}; remove it, and start the server again") from None


def _read_token(path: str) -> str:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(handle, encoding="ascii", errors="replace") as file:
        status = os.fstat(handle)
        found = file.read(200).strip()
    if status.st_uid != os.geteuid() or status.st_mode & 0o077 or len(found) < 32:
        raise StoreError(f"`{path}` is open to others or cut short; remove it, and start the server again")
    return found


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
