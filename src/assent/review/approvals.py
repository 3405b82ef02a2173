"""Approvals that outlive the run that asked: kept by id with what they are bound to, and used once.

For frameworks that pause a run, write it down and go on days later. Asks nobody, and lets nothing run."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

from assent.contract.errors import StoreError
from assent.contract.value import Value
from assent.statefile import state_folder

FILE = "approvals.db"
BUSY = 5.0  # seconds to wait for another process that writes
SCHEMA = """
CREATE TABLE IF NOT EXISTS approvals (
    id TEXT PRIMARY KEY,
    digest TEXT NOT NULL,   -- of the call, its targets and what runs
    session TEXT NOT NULL,
    made REAL NOT NULL,
    until REAL NOT NULL
) WITHOUT ROWID
"""


class Kept(Value):
    """A question that waits for an answer from elsewhere. Times are seconds since the epoch."""

    __slots__ = ("id", "digest", "session", "made", "until")

    def __init__(self, id: str, digest: str, session: str, made: float, until: float) -> None:
        self.id = id
        self.digest = digest
        self.session = session
        self.made = made
        self.until = until


class Approvals:
    """The questions of one state folder that wait beyond their process. Processes may share it."""

    def __init__(self, state: str) -> None:
        self._state = state

    def keep(self, kept: Kept) -> None:
        """Keep a question. Raises StoreError where it would not survive."""
        with self._open() as db:
            db.execute("DELETE FROM approvals WHERE until < ?", (kept.made,))
            row = (kept.id, kept.digest, kept.session, kept.made, kept.until)
            db.execute("INSERT INTO approvals VALUES (?, ?, ?, ?, ?)", row)

    def find(self, id: str) -> Kept | None:
        with self._open() as db:
            row = db.execute("SELECT id, digest, session, made, until FROM approvals WHERE id = ?", (id,)).fetchone()
        return None if row is None else Kept(*row)

    def use(self, id: str) -> bool:
        """Use up the answer to a question: true exactly once, whoever asks."""
        # INVARIANT: one statement takes it away, so it is used once among all processes and restarts.
        with self._open() as db:
            return db.execute("DELETE FROM approvals WHERE id = ?", (id,)).rowcount == 1

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        path = os.path.join(state_folder(self._state), FILE)
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
            with closing(sqlite3.connect(path, timeout=BUSY)) as db, db:
                db.execute(SCHEMA)
                yield db
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"{path}: the store of approvals failed: {error}; see that it can be written") from error
