"""Contents of copies by their digest: each once, in its own file, or many small ones together in a batch.

```
objects/ab/cdef…   one content
batches/NAME       small contents in sequence, and at the end an index by digest: offset and length of each
```

INVARIANT: a file in one of these folders was complete on the disk before one rename put it there."""

from __future__ import annotations

import bisect
import errno
import fcntl
import mmap
import os
import posixpath
from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import sha256

from assent.contract import StoreError, Value

OBJECTS, BATCHES, NEW = "objects", "batches", "new"
SMALL = 256 * 1024  # bytes of a content that goes into a batch
FEW = 32  # contents that get their own files, synced one by one
CHUNK = 1 << 20
CLONE = 0x40049409  # FICLONE: the file system shares the blocks of two files until one changes
MAGIC = b"assent-1"
ROW = 32 + 8 + 8  # digest, offset, length
END = 8 + 8 + 32  # the number of rows, MAGIC, the digest of all rows


class ContentPlace(Value):
    """Where a content is: `length` bytes of a file from `start`. `whole`: the file has no other content."""

    __slots__ = ("path", "start", "length", "whole")

    def __init__(self, path: str, start: int, length: int, *, whole: bool) -> None:
        self.path = path
        self.start = start
        self.length = length
        self.whole = whole


class Contents:
    """The contents below one folder, while nothing is removed."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._batches: dict[str, ContentBatch] | None = None
        self._all: dict[bytes, tuple[str, int]] = {}  # digest → batch and row, built after a few look-ups
        self._asked = 0

    def find(self, digest: str) -> ContentPlace | None:
        """Where a content is; None if there is none. Raises OSError."""
        path = object_path(self.folder, digest)
        with suppress(FileNotFoundError):
            return ContentPlace(path, 0, os.stat(path, follow_symlinks=False).st_size, whole=True)
        return self._in_batch(bytes.fromhex(digest))

    def _in_batch(self, digest: bytes) -> ContentPlace | None:
        if self._batches is None:
            self._batches = dict(_readable(f"{self.folder}/{BATCHES}"))
        self._asked += 1
        if self._asked == FEW:
            for name, batch in self._batches.items():
                self._all.update((batch.digest(row), (name, row)) for row in range(batch.count))
        if self._asked >= FEW:
            name, row = self._all.get(digest, ("", 0))
            return self._batches[name].place(row) if name else None
        for batch in self._batches.values():
            row = batch.row_of(digest)
            if row >= 0:
                return batch.place(row)
        return None


class ContentBatch:
    """One file of many contents. Raises OSError if it is incomplete."""

    def __init__(self, path: str) -> None:
        self.path = path
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            self._file = mmap.mmap(handle, 0, prot=mmap.PROT_READ)  # few of its rows are read
        except ValueError:
            raise OSError(errno.EINVAL, "it is empty") from None
        finally:
            os.close(handle)
        end = len(self._file) - END
        self.count = int.from_bytes(self._file[max(end, 0) : end + 8], "big")
        self._rows = end - self.count * ROW
        if self._file[end + 8 : end + 16] != MAGIC or self._rows < 0:
            raise OSError(errno.EINVAL, "it is no batch")

    def check(self) -> None:
        """Compare the index with its digest. Raises OSError."""
        end = len(self._file) - END
        if sha256(self._file[self._rows : end]).digest() != self._file[end + 16 :]:
            raise OSError(errno.EINVAL, "its index is damaged")

    def digest(self, row: int) -> bytes:
        at = self._rows + row * ROW
        return self._file[at : at + 32]

    def row_of(self, digest: bytes) -> int:
        """The row of a content; -1 if there is none."""
        row = bisect.bisect_left(range(self.count), digest, key=self.digest)
        return row if row < self.count and self.digest(row) == digest else -1

    def place(self, row: int) -> ContentPlace:
        at = self._rows + row * ROW + 32
        numbers = (int.from_bytes(self._file[each : each + 8], "big") for each in (at, at + 8))
        return ContentPlace(self.path, *numbers, whole=False)


class BatchWriter:
    """A batch that is being written."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        self._rows: list[bytes] = []
        self._waiting: list[bytes] = []
        self._much = 0  # buffered bytes
        self._at = 0

    def add(self, digest: str, content: bytes) -> None:
        numbers = (self._at + self._much).to_bytes(8, "big") + len(content).to_bytes(8, "big")
        self._rows.append(bytes.fromhex(digest) + numbers)
        self._waiting.append(content)
        self._much += len(content)
        if self._much >= CHUNK:
            self._write()

    def _write(self) -> None:
        write_at(self._handle, b"".join(self._waiting), self._at)
        self._at, self._much, self._waiting = self._at + self._much, 0, []

    def finish(self) -> None:
        """Write the index, and wait until everything is on the disk."""
        rows = b"".join(sorted(self._rows))
        self._waiting += [rows, len(self._rows).to_bytes(8, "big"), MAGIC, sha256(rows).digest()]
        self._write()
        os.fsync(self._handle)

    def close(self) -> None:
        os.close(self._handle)


def _readable(folder: str) -> Iterator[tuple[str, ContentBatch]]:
    for name in list_names(folder):
        with suppress(OSError):
            yield name, ContentBatch(f"{folder}/{name}")


def live(folder: str, named: set[str]) -> Iterator[tuple[str, int]]:
    """Remove the contents that are not `named`; yield digest and length of the others. A batch with less than half left
    is rewritten."""
    for above, _, files in os.walk(f"{folder}/{OBJECTS}"):
        for file in files:
            digest = posixpath.basename(above) + file
            if digest in named:
                with suppress(OSError):
                    yield digest, os.stat(f"{above}/{file}", follow_symlinks=False).st_size
            else:
                remove(f"{above}/{file}")
    for name in list_names(f"{folder}/{BATCHES}"):
        yield from _live_in(folder, name, named)


def _live_in(folder: str, name: str, named: set[str]) -> Iterator[tuple[str, int]]:
    path = f"{folder}/{BATCHES}/{name}"
    try:
        batch = ContentBatch(path)
        batch.check()
    except OSError:
        remove(path)  # no copy can use it
        return
    places = {batch.digest(row).hex(): batch.place(row) for row in range(batch.count)}
    kept = {digest: place for digest, place in places.items() if digest in named}
    if not kept:
        remove(path)
        return
    if sum(place.length for place in kept.values()) * 2 < sum(place.length for place in places.values()):
        with suppress(OSError):  # for example a full disk: it stays unchanged
            _write_again(folder, kept)
            remove(path)
    yield from ((digest, place.length) for digest, place in kept.items())


def _write_again(folder: str, kept: dict[str, ContentPlace]) -> None:
    beside = new_path(folder)
    writer = BatchWriter(beside)
    try:
        for digest, place in kept.items():
            writer.add(digest, content_at(place))
        writer.finish()
    finally:
        writer.close()
    os.rename(beside, f"{folder}/{BATCHES}/{posixpath.basename(beside)}")
    sync(f"{folder}/{BATCHES}")


# ---------------------------------------------------------------- one content


def content_at(place: ContentPlace) -> bytes:
    """A small content. Raises OSError."""
    handle = os.open(place.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        return read_at(handle, place.start, place.length)
    finally:
        os.close(handle)


def read_at(handle: int, start: int, length: int) -> bytes:
    """So many bytes of a file, or as many as it has."""
    found = []
    while length > 0 and (chunk := os.pread(handle, min(length, CHUNK), start)):
        found.append(chunk)
        start, length = start + len(chunk), length - len(chunk)
    return found[0] if len(found) == 1 else b"".join(found)


def write_at(handle: int, content: bytes, at: int) -> None:
    """Write a whole content: on a nearly full disk the system writes a part of it without an error."""
    view = memoryview(content)
    while view:
        count = os.pwrite(handle, view, at)
        view, at = view[count:], at + count


def copy_content(source: int, target: int) -> tuple[str, int]:
    """Copy a file's content, with its holes, into an empty file; the file system shares the blocks if it can. Return
    digest and length of the target's content."""
    try:
        fcntl.ioctl(target, CLONE, source)
        return _digest(target)
    except OSError:  # another file system, or one that cannot
        pass
    length, at, found = os.fstat(source).st_size, 0, sha256()
    for start, end in _data(source, length):
        _add_zeros(found, start - at)
        at = start
        while at < end and (chunk := os.pread(source, min(CHUNK, end - at), at)):
            write_at(target, chunk, at)
            found.update(chunk)
            at += len(chunk)
        if at < end:
            raise OSError(errno.EAGAIN, "it changes while it is copied")
    _add_zeros(found, length - at)
    os.ftruncate(target, length)
    return found.hexdigest(), length


def _add_zeros(found: object, count: int) -> None:
    zeros = bytes(min(count, CHUNK))
    while count > 0:
        found.update(zeros[:count])  # type: ignore[attr-defined]  # hashlib names no type for its objects
        count -= len(zeros)


def _data(handle: int, length: int) -> Iterator[tuple[int, int]]:
    """The parts of a file that are not holes."""
    at = 0
    while at < length:
        try:
            start = os.lseek(handle, at, os.SEEK_DATA)
            end = os.lseek(handle, start, os.SEEK_HOLE)
        except OSError as error:
            if error.errno == errno.ENXIO:  # a hole up to the end
                return
            yield at, length  # a file system without holes
            return
        if start >= length:
            return
        yield start, min(end, length)
        at = end


def _digest(handle: int) -> tuple[str, int]:
    found, at = sha256(), 0
    while chunk := os.pread(handle, CHUNK, at):
        found.update(chunk)
        at += len(chunk)
    return found.hexdigest(), at


# ---------------------------------------------------------------- files


def object_path(folder: str, digest: str) -> str:
    if len(digest) != 64 or not digest.isalnum():
        raise OSError(errno.EINVAL, "not a digest")
    return f"{folder}/{OBJECTS}/{digest[:2]}/{digest[2:]}"


def new_path(folder: str) -> str:
    return f"{folder}/{NEW}/{os.getpid()}-{os.urandom(6).hex()}"


def list_names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except FileNotFoundError:
        return []


def sync_files(paths: list[str], folder: str) -> None:
    """Wait until files below a folder are on the disk. Raises OSError."""
    if len(paths) > FEW and sync_all(folder):
        return
    for path in paths:
        sync(path)


def sync_all(folder: str) -> bool:
    """Sync the file system of a folder by one call: one call for each of thousands of files takes seconds."""
    import ctypes  # most copies have few files

    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return bool(ctypes.CDLL(None, use_errno=True).syncfs(handle) == 0)
    except (AttributeError, OSError):
        return False
    finally:
        os.close(handle)


def sync(path: str) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_folders(folders: Iterable[str]) -> None:
    for folder in dict.fromkeys(folders):
        sync(folder)


def remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)


def whole(content: bytes, digest: str) -> bytes:
    """A content, checked against its digest. Raises StoreError."""
    if sha256(content).hexdigest() != digest:
        raise StoreError("a content of the copy is damaged")
    return content
