"""Who may do what: one-time codes, the sessions of persons, the token of callers. Speaks no HTTP.

Callers (the hooks of agents) may only ask. A person proves with a code, shown where no agent reads, to be one. A
session is two secrets: the cookie, which a browser also sends to other ports of this host, where an agent may serve
something; and the key of the page, which it does not. Both are kept in memory only, as hashes."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import sys
import time
from collections.abc import Callable
from enum import IntEnum

from assent.contract import AccessError, StoreError, Value

ALPHABET = "BCDFGHJKMNPQRSTVWXYZ23456789"  # nothing that is read as something else, and no words
CODE_LENGTH = 8
CODE_LIFE = 600.0
TRIES, TRY_EVERY = 8, 5.0  # wrong codes at once, then one in so many seconds
MOST_PEERS = 256  # whose tries are counted
IDLE, ABSOLUTE = 8 * 3600.0, 24 * 3600.0
MOST_SESSIONS = 32
TOKEN_FILE, SCRAPE_FILE = "caller.token", "metrics.token"

WEB, INBOX = "web", "inbox"  # where persons sign in

Clock = Callable[[], float]


def steady() -> float:
    """Seconds on a clock that nobody sets and that goes on while the machine sleeps, so that a code ends then."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if sys.platform == "linux" else time.monotonic()


class Role(IntEnum):
    """What somebody may do; each may do what those before it may."""

    NOBODY = 0  # see the sign-in page and whether the server lives
    CALLER = 1  # check, submit calls, come back for their own
    PERSON = 2  # see and answer what waits, change modes, read the trail


class Codes:
    """The one-time code of the moment. It is short, so wrong ones cost time: those who typed them, and nobody else."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._hash = b""
        self._until = 0.0
        self._tries: dict[str, Bucket] = {}  # of each peer

    def fresh(self) -> str:
        """A new code; the one before is void."""
        code = "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))
        self._hash, self._until = _hash(code), self._clock() + CODE_LIFE
        return f"{code[:4]}-{code[4:]}"

    @property
    def live(self) -> bool:
        return bool(self._hash) and self._clock() < self._until

    def redeem(self, typed: str, peer: str = "") -> None:
        """Use up the code. Raises AccessError where this is not it. `peer` is whose tries they are.

        INVARIANT: nobody's wrong codes keep another from signing in. There are so many codes that the tries of all
        users of a machine together find none."""
        tries = self._tries.pop(peer, None) or Bucket(self._clock, TRIES, TRY_EVERY)
        self._tries[peer] = tries
        while len(self._tries) > MOST_PEERS:
            del self._tries[next(iter(self._tries))]
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
    """So many at once, then one in so many seconds."""

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


class Person(Value):
    """A signed-in person: who, by which session, until when at the latest, and where: on the page or in the inbox."""

    __slots__ = ("who", "session", "until", "channel")

    def __init__(self, who: str, session: str, until: float, channel: str = WEB) -> None:
        self.who = who
        self.session = session
        self.until = until
        self.channel = channel


class _Session:
    __slots__ = ("person", "key", "seen")

    def __init__(self, person: Person, key: bytes, seen: float) -> None:
        self.person = person
        self.key = key
        self.seen = seen


class Sessions:
    """Who is signed in. Gone with the process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._sessions: dict[bytes, _Session] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def open(self, who: str, channel: str = WEB) -> tuple[str, str, Person]:
        """A new session: its cookie, the key of its page, and the person."""
        cookie, key, now = secrets.token_urlsafe(32), secrets.token_urlsafe(32), self._clock()
        self._drop_old(now)
        while len(self._sessions) >= MOST_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        person = Person(who, secrets.token_hex(4), now + ABSOLUTE, channel)
        self._sessions[_hash(cookie)] = _Session(person, _hash(key), now)
        return cookie, key, person

    def find(self, cookie: str, key: str) -> Person | None:
        """The person behind a cookie and a key, if both are right and the session has not ended."""
        name, now = _hash(cookie), self._clock()
        session = self._sessions.get(name)
        if session is None:
            return None
        if now >= session.person.until or now >= session.seen + IDLE:
            del self._sessions[name]
            return None
        if not hmac.compare_digest(session.key, _hash(key)):
            return None
        session.seen = now
        return session.person

    def awake(self, cookie: str) -> bool:
        """Whether a session goes on; to ask keeps it from ending for want of use."""
        session, now = self._sessions.get(_hash(cookie)), self._clock()
        if session is None or now >= session.person.until:
            return False
        session.seen = now
        return True

    def close(self, cookie: str) -> None:
        """Sign out."""
        self._sessions.pop(_hash(cookie), None)

    def close_all(self) -> None:
        """Sign everybody out, and void nothing else."""
        self._sessions.clear()

    def _drop_old(self, now: float) -> None:
        over = [name for name, each in self._sessions.items() if now >= min(each.person.until, each.seen + IDLE)]
        for name in over:
            del self._sessions[name]


class Access:
    """Everything that says who somebody is. `token` is what callers show where there is no socket to tell them by,
    `scrape` what a collector of counters shows, which may read those and nothing else."""

    def __init__(self, clock: Clock, *, who: str, token: str, scrape: str = "") -> None:
        self.codes = Codes(clock)
        self.sessions = Sessions(clock)
        self.who = who
        self._token = _hash(token)
        self._shown = b"Bearer " + token.encode()  # as callers mostly write it
        self._scrape = _hash(scrape) if scrape else b""

    def sign_in(self, code: str, channel: str = WEB, peer: str = "") -> tuple[str, str, Person]:
        """A session for the right code: cookie, key, person. `peer` is who tries. Raises AccessError."""
        self.codes.redeem(code, peer)
        return self.sessions.open(self.who, channel)

    def is_shown(self, header: bytes) -> bool:
        """Whether a header for authorization shows the token of callers, in its usual spelling."""
        return hmac.compare_digest(header, self._shown)

    def is_caller(self, token: str) -> bool:
        return bool(token) and hmac.compare_digest(_hash(token), self._token)

    def is_scraper(self, token: str) -> bool:
        return bool(token) and hmac.compare_digest(_hash(token), self._scrape)


def caller_token(state: str) -> str:
    """The token of callers on TCP, made the first time. Whoever has it may ask, and no more."""
    return _token(os.path.join(state, TOKEN_FILE))


def scrape_token(state: str) -> str:
    """The token of what collects counters, made the first time."""
    return _token(os.path.join(state, SCRAPE_FILE))


def _token(path: str) -> str:
    try:
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            return _read_token(path)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(token := secrets.token_urlsafe(32))
        return token
    except OSError as error:
        raise StoreError(f"`{path}` cannot be used: {error.strerror}; remove it, and start again") from None


def _read_token(path: str) -> str:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(handle, encoding="ascii", errors="replace") as file:
        status = os.fstat(handle)
        token = file.read(200).strip()
    if status.st_uid != os.geteuid() or status.st_mode & 0o077 or len(token) < 32:
        raise StoreError(f"`{path}` is open to others or cut short; remove it, and start again")
    return token


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
