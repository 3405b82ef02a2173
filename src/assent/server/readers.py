"""How much of each long question was sent to whom. Sends nothing.

INVARIANT: nobody allows a call on the page or in the inbox of which not all was sent there."""

from __future__ import annotations

from assent.contract.approval import Held
from assent.server.api.shown import INLINE

MOST = 4096  # questions and sessions; the oldest are forgotten, and have to be looked at again


class Readers:
    """What the signed-in sessions of a server have been sent of the questions that do not come in one piece."""

    def __init__(self) -> None:
        self._reached: dict[tuple[str, str, str], int] = {}  # question, digest, session → characters without a hole

    def sent(self, held: Held, session: str, start: int, end: int) -> None:
        """A part was sent. One with a hole before it does not count."""
        key = (held.id, held.digest, session)
        reached = self._reached.pop(key, INLINE)
        self._reached[key] = max(reached, end) if start <= reached else reached
        while len(self._reached) > MOST:
            del self._reached[next(iter(self._reached))]

    def has_all(self, held: Held, session: str) -> bool:
        """Whether all of a question was sent to a session."""
        reached = self._reached.get((held.id, held.digest, session), INLINE)
        return held.preview.whole and reached >= held.preview.length
