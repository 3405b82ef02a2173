"""Appends to the trail: many processes at once, one whole line at a time, in one chain.

When `append` returns, a line is written: safe from the death of this process, not from a power cut. It is synced to
disk when a segment is full and when the trail is closed. The next writer repairs the trail after one died, see
`recover`."""

from __future__ import annotations

import fcntl
import os
from _thread import allocate_lock
from collections.abc import Callable
from time import monotonic, sleep, time

from assent.contract import Record, StoreError
from assent.trail import line, recover
from assent.trail.segments import (
    CURRENT,
    EVERY,
    HEAD,
    LENGTH,
    LOCK,
    Head,
    decode,
    keep_lost_mark,
    move_mark,
    old_name,
    open_own,
    own_folder,
)

SEGMENT = 64 * 1024 * 1024  # bytes, after which a new segment begins
PATIENCE = 15.0  # seconds to wait for another writer


class TrailBusy(Exception):
    """Another writer holds the lock, or a sync is due, and the caller would not wait."""


class Trail:
    """The trail in a folder, created by the first append. Safe for threads, processes and forks."""

    def __init__(self, folder: str, *, segment: int = SEGMENT, clock: Callable[[], float] = time) -> None:
        self._lock = self._file = self._heads = -1
        self.folder = folder
        self._segment = segment
        self._clock = clock
        self._current = os.path.join(folder, CURRENT)
        self._head_path = os.path.join(folder, HEAD)
        self._lock_path = os.path.join(folder, LOCK)
        self._locked = 0  # the inode of the lock
        self._head = Head()
        self._known = b""  # the bytes of the head last seen by this process
        self._identity = (0, 0)  # the inodes of file and head
        self._fresh()

    def _fresh(self) -> None:
        """Reset the state: at first, and in the child of a fork, which must not share a lock."""
        self._mutex = allocate_lock()
        self._close()
        self._process = os.getpid()

    def append(self, record: Record, *, patient: bool = True) -> str:
        """Write a record and return its hash. Raises StoreError if it cannot be written: then it was not. Without
        `patient` it does not wait for other writers: it raises TrailBusy, and nothing was written."""
        try:
            middle = line.body(record)
        except (ValueError, TypeError, RecursionError) as error:
            raise StoreError(f"a record cannot be written down: {error}") from None
        if os.getpid() != self._process:
            self._fresh()
        if not self._mutex.acquire(patient):
            raise TrailBusy
        try:
            self._take(patient)
            try:
                self._agree()
                if self._head.offset >= self._segment:
                    if not patient:
                        raise TrailBusy
                    self._rotate()
                return self._write(middle)
            finally:
                fcntl.flock(self._lock, fcntl.LOCK_UN)
        except OSError as error:
            self._close()
            raise StoreError(
                f"the trail in `{self.folder}` cannot be written: {error.strerror}; check the disk"
            ) from None
        except StoreError:
            self._close()
            raise
        finally:
            self._mutex.release()

    def __del__(self) -> None:
        """Close the files of a trail that nobody closed."""
        self._close()

    def close(self) -> None:
        """Wait for the disk, and close the files. The next `append` opens them again."""
        if os.getpid() != self._process:
            self._fresh()
        with self._mutex:
            try:
                if self._file >= 0:
                    self._move_mark()
                    os.fsync(self._file)
                    os.fsync(self._heads)
            except OSError as error:
                raise StoreError(f"the trail in `{self.folder}` may not be on disk: {error.strerror}") from None
            finally:
                self._close()

    def __enter__(self) -> Trail:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------ one line

    def _write(self, middle: bytes) -> str:
        head = self._head
        data, found = line.chained(middle, head.count + 1, head.hash)
        after = Head(head.count + 1, found, head.offset + len(data), head.first)
        known = after.encode()
        try:
            if os.write(self._file, data) != len(data) or os.pwrite(self._heads, known, 0) != LENGTH:
                raise StoreError(f"the disk of `{self.folder}` is full; free some of it")
        except BaseException:
            self._take_back(head)
            raise
        self._head, self._known = after, known
        if after.count == 1 or after.count % EVERY == 0:
            self._move_mark()
        return found

    def _move_mark(self) -> None:
        """Advance the mark. If that fails, lost lines are harder to find; the line is written anyway."""
        try:
            if self._head.count:
                move_mark(self.folder, self._head)
            else:
                keep_lost_mark(self.folder)
        except (OSError, StoreError):
            return

    def _take_back(self, head: Head) -> None:
        """Undo a partly written line. If even this fails, the next writer repairs it."""
        try:
            os.ftruncate(self._file, head.offset)
            os.pwrite(self._heads, head.encode(), 0)
        except OSError:
            self._known = b""

    # ------------------------------------------------------------ agreeing with the disk

    def _take(self, patient: bool) -> None:
        """Take the lock on the current lock file."""
        while True:
            if self._lock < 0:
                own_folder(self.folder)
                self._lock = open_own(self._lock_path, os.O_RDWR | os.O_CREAT)
                self._locked = os.fstat(self._lock).st_ino
            self._wait(patient)
            try:
                if os.lstat(self._lock_path).st_ino == self._locked:
                    return
            except FileNotFoundError:
                pass
            self._close()

    def _wait(self, patient: bool) -> None:
        """Wait for the lock, but not forever: a writer that hangs must not hang the others."""
        end, pause = 0.0, 0.0001
        while True:
            try:
                return fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if not patient:
                    raise TrailBusy from None
                end = end or monotonic() + PATIENCE
                if monotonic() > end:
                    raise StoreError(
                        f"`{self._lock_path}` was held by another process for {PATIENCE:.0f} s; end the one that hangs"
                    ) from None
            sleep(pause)
            pause = min(pause * 1.5, 0.005)

    def _agree(self) -> None:
        """Update the state of this process from the disk; the lock is held."""
        if self._file >= 0 and self._known:
            try:
                file, head = os.lstat(self._current), os.lstat(self._head_path)
            except FileNotFoundError:
                pass
            else:
                if (file.st_ino, head.st_ino) == self._identity:
                    known = os.pread(self._heads, LENGTH + 1, 0)
                    if known != self._known and (found := decode(known)) and found.first == self._head.first:
                        self._head, self._known = found, known
                    if known == self._known and file.st_size == self._head.offset:
                        return
        self._reopen()

    def _reopen(self) -> None:
        """Open everything again, repair changes by a dead writer or anybody else, and record that."""
        for handle in (self._file, self._heads):
            if handle >= 0:
                os.close(handle)
        self._file = self._heads = -1
        self._head, events = recover.recover(self.folder, self._clock())
        self._file = open_own(self._current, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        self._heads = open_own(self._head_path, os.O_RDWR | os.O_CREAT)
        self._known = self._head.encode()
        os.pwrite(self._heads, self._known, 0)
        os.ftruncate(self._heads, LENGTH)
        self._identity = (os.fstat(self._file).st_ino, os.fstat(self._heads).st_ino)
        self._move_mark()
        for event in events:
            self._write(line.body(event))

    def _rotate(self) -> None:
        """Begin a new segment; the chain continues. `recover` repairs a crash between the steps."""
        head = self._head
        old = os.path.join(self.folder, old_name(head.first))
        if os.path.lexists(old):
            raise StoreError(f"`{old}` is in the way of the trail; move it away")
        os.fsync(self._file)
        os.rename(self._current, old)
        os.close(self._file)
        self._file = -1
        self._file = open_own(self._current, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL)
        self._head = Head(head.count, head.hash, 0, head.count + 1)
        self._known = self._head.encode()
        os.pwrite(self._heads, self._known, 0)
        os.fsync(self._heads)
        self._identity = (os.fstat(self._file).st_ino, self._identity[1])
        recover.sync_folder(self.folder)

    def _close(self) -> None:
        for handle in (self._file, self._heads, self._lock):
            if handle >= 0:
                os.close(handle)
        self._file = self._heads = self._lock = -1
        self._known = b""
