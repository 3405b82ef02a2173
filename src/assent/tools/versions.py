"""Which version of each file an agent has read, by the hash of its bytes. Opens no file."""

from __future__ import annotations

from hashlib import sha256
from threading import Lock

MOST = 2000  # files remembered


class Versions:
    """Safe for threads. The oldest are forgotten first: they only have to be read again."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._lock = Lock()

    def saw(self, path: str, raw: bytes) -> None:
        with self._lock:
            self._known.pop(path, None)
            self._known[path] = digest(raw)
            while len(self._known) > MOST:
                del self._known[next(iter(self._known))]

    def known(self, path: str) -> bool:
        return path in self._known

    def current(self, path: str, raw: bytes) -> bool:
        """Whether these bytes are the version that was read."""
        return self._known.get(path) == digest(raw)


def digest(raw: bytes) -> str:
    return sha256(raw).hexdigest()
