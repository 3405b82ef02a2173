"""What answers from elsewhere have in common: signatures with a time, single use, and how far they may reach.

Speaks to nobody and knows no question."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable

from assent.contract.approval import Scope

WINDOW = 300.0  # seconds that a signature is good for, either way
MOST = 20_000  # replies remembered
# Rules that stay are saved where the person's own machine is: on the page or in a terminal.
SCOPES = tuple(scope for scope in Scope if not scope.bounds.lasting)


def nonce() -> str:
    """A word that nobody guesses."""
    return secrets.token_urlsafe(18)


def same(one: str, other: str) -> bool:
    """Whether two secrets are the same; takes as long where they are not."""
    return hmac.compare_digest(one.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass"))


def signature(secret: str, head: str, body: bytes) -> str:
    """The HMAC-SHA256 of a head and a body, in hexadecimal."""
    return hmac.new(secret.encode(), head.encode("ascii", "replace") + body, hashlib.sha256).hexdigest()


def signed(secret: str, head: str, body: bytes, given: str) -> bool:
    """Whether this is the signature. Without a secret nothing is signed."""
    return bool(secret) and same(signature(secret, head, body), given)


def timely(timestamp: str, now: float) -> bool:
    """Whether a time in whole seconds since the epoch is of now, give or take the window."""
    return timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12 and abs(now - int(timestamp)) <= WINDOW


class Once:
    """What was used, for as long as its signature is good. Full, it takes nothing: that refuses, and forgets none."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._used: dict[str, float] = {}

    def use(self, name: str) -> bool:
        """Use something up; False where it was used before, or cannot be remembered."""
        now = self._clock()
        if not name or name in self._used:
            return False
        while self._used and (len(self._used) >= MOST or next(iter(self._used.values())) < now):
            first = next(iter(self._used))
            if self._used[first] >= now:
                return False
            del self._used[first]
        self._used[name] = now + 2 * WINDOW
        return True
