"""Approvals that outlive the run that asked: stored by id with their binding, and used once.

For frameworks that pause a run, save it and resume days later."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass

from assent.contract import StoreError
from assent.state.files import state_folder

FILE = "approvals.db"
BUSY = 5.0  # seconds to wait for another process that writes
SKEW = 60.0  # seconds by which a clock may be corrected
BOOT_FILE = "/proc/sys/kernel/random/boot_id"
SCHEMA = """
CREATE TABLE IF NOT EXISTS waiting (
    id TEXT PRIMARY KEY,
    digest TEXT NOT NULL,   -- of the call, its targets and what runs
    session TEXT NOT NULL,
    made REAL NOT NULL,
    until REAL NOT NULL,
    boot TEXT NOT NULL,     -- which start of the machine, and the seconds since then
    since REAL NOT NULL
) WITHOUT ROWID
"""


def moment() -> tuple[str, float]:
    """The time by a clock that cannot be set: the boot id, and the seconds since then, sleep included."""
    try:
        with open(BOOT_FILE, encoding="ascii") as file:
            boot = file.read().strip()
    except (OSError, ValueError):
        boot = ""
    return boot, time.clock_gettime(time.CLOCK_BOOTTIME)


@dataclass(frozen=True, slots=True)
class PausedQuestion:
    """A question whose run is paused. Times are seconds since the epoch; `at` is the `moment` of asking."""

    id: str
    digest: str
    session: str
    made: float
    until: float
    at: tuple[str, float]

    def over(self, now: float, at: tuple[str, float]) -> bool:
        """Whether it is too late for an answer, by either clock. Setting a clock back extends nothing."""
        by_boot = bool(at[0]) and at[0] == self.at[0] and at[1] - self.at[1] > self.until - self.made
        return now > self.until or now < self.made - SKEW or by_boot


class Approvals:
    """The questions of one state folder that wait beyond their process. Processes may share it."""

    def __init__(self, state: str) -> None:
        self._state = state

    def keep(self, question: PausedQuestion) -> None:
        """Raises StoreError if the question would not survive."""
        *row, at = astuple(question)
        with self._open() as db:
            db.execute("DELETE FROM waiting WHERE until < ?", (question.made,))
            db.execute("INSERT INTO waiting VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, *at))

    def find(self, id: str) -> PausedQuestion | None:
        with self._open() as db:
            row = db.execute("SELECT * FROM waiting WHERE id = ?", (id,)).fetchone()
        if row is None:
            return None
        id, digest, session, made, until, boot, since = row
        return PausedQuestion(id, digest, session, made, until, (boot, since))

    def use(self, id: str) -> bool:
        """Use up the answer to a question: true exactly once, whoever asks."""
        # INVARIANT: one statement removes it, so it is used once across all processes and restarts.
        with self._open() as db:
            return db.execute("DELETE FROM waiting WHERE id = ?", (id,)).rowcount == 1

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
