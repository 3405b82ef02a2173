"""Stores held calls from before they are shown until they have ended; an approval is used once."""

from __future__ import annotations

import asyncio
import fcntl
import os
import re
import sqlite3
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

from assent.approval import wire
from assent.approval.commands import Leftover
from assent.contract import PayloadError, StoreError
from assent.contract.approval import Answer, Held, Resolution

VERSION = 1
BUSY = 5.0  # seconds to wait for another process that writes
WIPE_EVERY = 0.25  # seconds between two wipings, each of which waits for the disk


class Store(Protocol):
    """The storage interface of the broker. Times are seconds since the epoch. Any failure raises, and the call is
    denied.

    `hold` returns only once the question would survive the death of this process. `shown`: its clock started.
    `answered` stores an approval; false if the question is not here or has one already. `use` uses up the release:
    true exactly once, whoever asks, also after a crash. `finish` forgets a question that has ended. `leftovers` takes
    over the questions of processes that died, each for one caller only."""

    async def hold(self, held: Held) -> None: ...
    async def shown(self, id: str, deadline: float) -> None: ...
    async def answered(self, id: str, answer: Answer) -> bool: ...
    async def use(self, id: str) -> bool: ...
    async def finish(self, id: str, resolution: Resolution) -> None: ...
    async def leftovers(self) -> tuple[Leftover, ...]: ...
    async def close(self) -> None: ...


SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS held (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,            -- the store object that holds it; its lock file tells whether it lives
    body TEXT NOT NULL,
    deadline REAL NOT NULL,         -- 0 until it is shown
    answer TEXT,                    -- an approval, from when it is given
    used INTEGER NOT NULL DEFAULT 0 -- the release is used up
) WITHOUT ROWID;
PRAGMA user_version = {VERSION};
COMMIT;
"""


class SqliteStore:
    """Questions in one SQLite file, which several processes may share. Only the user can read it.

    Each store has a lock file that the system releases when the process dies: this shows other processes that a
    question is left over. The calls are short and run in the awaiting thread."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.owner = uuid.uuid4().hex
        self._mutex = threading.Lock()
        self._lock = -1
        self._wiped = 0.0  # when the journal was last emptied
        self._wiping: asyncio.TimerHandle | None = None
        with _faults(path):
            _private_file(path)
            self._db = sqlite3.connect(path, timeout=BUSY, isolation_level=None, check_same_thread=False)
            try:
                self._open()
                self._lock = _lock(self._lock_path(self.owner))
            except BaseException:
                self._shut()
                raise

    async def hold(self, held: Held) -> None:
        body = wire.dumps(held)
        self._execute("INSERT INTO held (id, owner, body, deadline) VALUES (?, ?, ?, 0)", held.id, self.owner, body)

    async def shown(self, id: str, deadline: float) -> None:
        self._execute("UPDATE held SET deadline = ? WHERE id = ? AND owner = ?", deadline, id, self.owner)

    async def answered(self, id: str, answer: Answer) -> bool:
        approved = "UPDATE held SET answer = ? WHERE id = ? AND owner = ? AND answer IS NULL AND used = 0"
        return self._execute(approved, wire.dumps(answer), id, self.owner) == 1

    async def use(self, id: str) -> bool:
        # INVARIANT: one statement compares and sets, so an approval is used once across all processes and restarts.
        return self._execute("UPDATE held SET used = 1 WHERE id = ? AND owner = ? AND used = 0", id, self.owner) == 1

    async def finish(self, id: str, resolution: Resolution) -> None:
        self._execute("DELETE FROM held WHERE id = ? AND owner = ?", id, self.owner)
        self._wipe_soon()

    def _execute(self, statement: str, *values: object) -> int:
        """The number of rows that the statement changed."""
        with self._locked() as db:
            return db.execute(statement, values).rowcount

    def _wipe_soon(self) -> None:
        """Wipe at once, unless that was just done; else in a moment, once for many."""
        left = self._wiped + WIPE_EVERY - time.monotonic()
        if self._wiping is None and left > 0:
            self._wiping = asyncio.get_running_loop().call_later(left, self._wipe_now)
        elif self._wiping is None:
            self._wipe_now()

    def _wipe_now(self) -> None:
        self._wiping = None
        with suppress(StoreError), self._locked():
            self._wipe()

    def _wipe(self) -> None:
        """Empty the journal, which still has the contents of ended questions: after this they are in no file. A
        concurrent reader defers it to the next time."""
        self._wiped = time.monotonic()
        self._db.execute("PRAGMA busy_timeout = 20")
        try:
            with suppress(sqlite3.OperationalError):
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            self._db.execute(f"PRAGMA busy_timeout = {int(BUSY * 1000)}")

    async def leftovers(self) -> tuple[Leftover, ...]:
        with self._locked() as db:
            owners = {row[0] for row in db.execute("SELECT DISTINCT owner FROM held")} | self._lockers()
            dead = [owner for owner in owners if owner != self.owner and self._is_dead(owner)]
            return tuple(left for owner in dead for left in self._take(db, owner))

    async def close(self) -> None:
        if self._wiping is not None:
            self._wiping.cancel()
            self._wiping = None
        with self._mutex, _faults(self.path):
            with suppress(sqlite3.Error):
                self._wipe()
            self._shut()

    def __len__(self) -> int:
        with self._locked() as db:
            count: int = db.execute("SELECT count(*) FROM held").fetchone()[0]
            return count

    def _open(self) -> None:
        found: int = self._db.execute("PRAGMA user_version").fetchone()[0]
        if found > VERSION:
            raise StoreError(
                f"{self.path}: written by a newer Assent (form {found}, this one knows {VERSION}); update Assent"
            )
        for setting in ("journal_mode = WAL", "synchronous = NORMAL", "secure_delete = ON"):  # calls may hold secrets
            self._db.execute(f"PRAGMA {setting}")
        if found < VERSION:
            self._db.executescript(SCHEMA)
        self._wipe()  # not wiped by a dead process

    def _take(self, db: sqlite3.Connection, owner: str) -> Iterator[Leftover]:
        with db:
            db.execute("BEGIN IMMEDIATE")
            found = "SELECT id, body, deadline, answer, used FROM held WHERE owner = ? ORDER BY id"
            rows = db.execute(found, (owner,)).fetchall()
            db.execute("UPDATE held SET owner = ? WHERE owner = ?", (self.owner, owner))
        for id, body, deadline, answer, used in rows:
            try:
                held = wire.read_held(wire.loads(body))
                given = None if answer is None else wire.read_answer(wire.loads(answer))
            except PayloadError:  # written by another program: its caller learns that it is unknown
                db.execute("DELETE FROM held WHERE id = ?", (id,))
                continue
            yield Leftover(held, deadline, shown=deadline > 0, answer=given, used=bool(used))

    def _is_dead(self, owner: str) -> bool:
        """Whether nobody holds the lock of a store any more. Then its file is removed too."""
        with suppress(FileNotFoundError):
            file = os.open(self._lock_path(owner), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(self._lock_path(owner))
            except BlockingIOError:
                return False
            finally:
                os.close(file)
        return True

    def _lockers(self) -> set[str]:
        folder, name = os.path.split(self.path)
        lock = re.compile(rf"{re.escape(name)}\.([0-9a-f]{{32}})\.lock")
        return {found[1] for each in os.listdir(folder or ".") if (found := lock.fullmatch(each))}

    def _lock_path(self, owner: str) -> str:
        return f"{self.path}.{owner}.lock"

    def _shut(self) -> None:
        self._db.close()
        if self._lock >= 0:
            with suppress(OSError):
                os.unlink(self._lock_path(self.owner))
            os.close(self._lock)
            self._lock = -1

    @contextmanager
    def _locked(self) -> Iterator[sqlite3.Connection]:
        with self._mutex, _faults(self.path):
            yield self._db


@contextmanager
def _faults(path: str) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise StoreError(
            f"{path}: the store of held calls failed: {error}; see that the file can be written"
        ) from error


def _private_file(path: str) -> None:
    """Create the database before SQLite opens it, so that others can never read it."""
    os.makedirs(os.path.dirname(path) or ".", mode=0o700, exist_ok=True)
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        os.fchmod(file, 0o600)
    finally:
        os.close(file)


def _lock(path: str) -> int:
    """Take a new lock. Another process may remove the file concurrently, as that of a dead one: then try again."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        fcntl.flock(file, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file), os.stat(path)):
                return file
        os.close(file)
