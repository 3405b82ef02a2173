"""Decisions that take longer than a hook waits for its first answer: it comes back for them. Decides nothing."""

from __future__ import annotations

import asyncio
import hmac
import secrets

from assent.contract import AccessError
from assent.engine.request import Settled

KEPT = 120.0  # seconds that a decision waits for its hook


class SlowDecisions:
    """The decisions of a server that are still being made, or have not been fetched."""

    def __init__(self) -> None:
        self._tasks: dict[str, tuple[str, asyncio.Task[Settled], float]] = {}

    def keep(self, task: asyncio.Task[Settled]) -> tuple[str, str]:
        """Keep a decision; return the id and the secret to come back with."""
        id, digest = f"slow-{secrets.token_hex(16)}", secrets.token_hex(16)
        loop = asyncio.get_running_loop()
        self._tasks[id] = (digest, task, loop.time())
        task.add_done_callback(lambda _: loop.call_later(KEPT, self.drop, id))
        return id, digest

    def knows(self, id: str) -> bool:
        return id in self._tasks

    def find(self, id: str, digest: str) -> tuple[asyncio.Task[Settled], float]:
        """The decision of a hook that is back, and since when it is made. Raises AccessError where this is not its
        own."""
        known, task, since = self._tasks[id]
        if not hmac.compare_digest(known.encode(), digest.encode("utf-8", "surrogatepass")):
            raise AccessError("this is the digest of another call", code="not-yours")
        return task, since

    def drop(self, id: str) -> None:
        known = self._tasks.pop(id, None)
        if known is not None and known[1].done() and not known[1].cancelled():
            known[1].exception()  # it was looked at, where nobody came back
