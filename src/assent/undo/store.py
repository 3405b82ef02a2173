"""The folder of copies: contents by their digest, and one manifest for each copy.

```
undo/objects, undo/batches   contents, see `contents`
undo/copies/TIME.ID.SIZE     a manifest; only what has one can be put back. SIZE is what removing it frees; a
                             name that ends in `.w` is of files that were only written
undo/new/                    files that are being written, and one for each process that adds
undo/lock                    shared while a copy is made or put back, exclusive while old ones are removed
```

A manifest is written after all its contents are on the disk, so a process that dies in between only leaves unreferenced
contents. `clean` removes these."""

from __future__ import annotations

import errno
import fcntl
import os
import posixpath
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from hashlib import sha256

from assent.contract import StoreError, Value
from assent.state.files import read, replace, state_folder
from assent.undo.contents import (
    BATCHES,
    CHUNK,
    FEW,
    NEW,
    OBJECTS,
    ROW,
    SMALL,
    BatchWriter,
    Contents,
    content_at,
    copy_content,
    list_names,
    live,
    new_path,
    object_path,
    read_at,
    remove,
    sync,
    sync_files,
    sync_folders,
    write_at,
)
from assent.undo.copy import About, Copy, Entry, entries_of, head_of, written

FOLDER, COPIES = "undo", "copies"
MOST_MANIFEST = 64 * 1024 * 1024  # bytes
AFTER_CLEANING = 0.8  # of the limit, so that not every copy at the limit removes one
# A copy that answered a question is not evicted by others for so many seconds: later calls cannot remove it.
YOUNG = 86_400.0
WRITTEN = ".w"


class Limits(Value):
    """The limits of the folder: `size` in bytes, `files` of one copy, `age` in seconds."""

    __slots__ = ("size", "files", "age")

    def __init__(self, size: int = 500_000_000, files: int = 50_000, age: float = 14 * 86_400) -> None:
        self.size = size
        self.files = files
        self.age = age


class CopyStore:
    """The copies of one state folder."""

    def __init__(self, state: str) -> None:
        self.folder = posixpath.join(state, FOLDER)

    @contextmanager
    def _locked(self, how: int) -> Iterator[bool]:
        for name in ("", OBJECTS, BATCHES, COPIES, NEW):
            state_folder(posixpath.join(self.folder, name))
        handle = os.open(f"{self.folder}/lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(handle, how)
            except BlockingIOError:
                yield False
                return
            yield True
        finally:
            os.close(handle)

    @contextmanager
    def adding(self) -> Iterator[Addition]:
        """Add contents and a manifest; nothing is removed meanwhile."""
        with self._locked(fcntl.LOCK_SH):
            addition = Addition(self.folder)
            try:
                yield addition
            finally:
                addition.close()

    # ------------------------------------------------------------ existing copies

    def copies(self) -> list[Copy]:
        """The complete copies, newest first. One that cannot be read is left out."""
        found = []
        for name in sorted(self._names(), reverse=True):
            try:
                with open(posixpath.join(self.folder, COPIES, name), "rb") as file:
                    found.append(head_of(file.readline(CHUNK)))
            except (OSError, StoreError):
                continue
        return found

    def named(self, text: str) -> Copy:
        """The copy whose id begins with a text. Raises StoreError if there is none, or more than one."""
        found = [copy for copy in self.copies() if text and copy.id.startswith(text)]
        if len(found) == 1:
            return found[0]
        problem = (
            "is the beginning of several ids; give more of it" if found else "is no copy; `assent undo` lists them"
        )
        raise StoreError(f"`{text}` {problem}")

    def entries(self, copy: Copy) -> tuple[Entry, ...]:
        for name in self._names():
            if name.split(".")[1] == copy.id:
                return self._entries(name)
        raise StoreError(f"the copy `{copy.id}` is gone")

    def contents(self) -> Contents:
        return Contents(self.folder)

    def content(self, entry: Entry) -> int:
        """A handle on the content of a file. Raises OSError."""
        place = self.contents().find(entry.digest)
        if place is None:
            raise OSError(errno.ENOENT, "a content of the copy is gone")
        if place.whole:
            return os.open(place.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        handle = _unnamed(self.folder)
        try:
            write_at(handle, content_at(place), 0)
        except BaseException:
            os.close(handle)
            raise
        return handle

    def _names(self) -> list[str]:
        return [str(name) for name in _names_in(f"{self.folder}/{COPIES}")]

    def _entries(self, name: str) -> tuple[Entry, ...]:
        path = posixpath.join(self.folder, COPIES, name)
        try:
            return entries_of(read(path, MOST_MANIFEST, os.O_NOFOLLOW)[0])
        except OSError as error:
            raise StoreError(f"`{path}` cannot be read: {error.strerror}") from None
        except StoreError as error:
            raise StoreError(f"`{path}`: {error}") from None

    # ------------------------------------------------------------ removal

    def clean(self, limits: Limits, now: float, *, keep: Collection[str] = ()) -> int:
        """Remove the copies that are too old, and others if all together are too large: first those of files that were
        only written, then those that are not recent, and never those with an id of `keep`. Return how many.

        Unreferenced contents are removed too. While copies are made nothing is removed: the next call does it."""
        names = [name for name in map(_Name, self._names()) if name.id not in keep]
        gone = dict.fromkeys(str(name) for name in names if now - name.time > limits.age)
        total = sum(_Name(each).size for each in self._names())
        if not gone and total <= limits.size and not list_names(f"{self.folder}/{NEW}"):
            return 0
        pushed = [name for name in names if name.written] + [name for name in names if name.may_go(now)]
        for name in pushed if total > limits.size else ():
            if total <= limits.size * AFTER_CLEANING:
                break
            total -= name.size if str(name) not in gone else 0
            gone[str(name)] = None
        with self._locked(fcntl.LOCK_EX | fcntl.LOCK_NB) as alone:
            if not alone:
                return 0
            for each in gone:
                remove(f"{self.folder}/{COPIES}/{each}")
            self._sweep()
        return len(gone)

    def _sweep(self) -> None:
        """Remove unreferenced contents, and count each other one for the oldest copy that needs it. An unreadable
        manifest stops this: it may name any content."""
        for file in list_names(f"{self.folder}/{NEW}"):
            remove(f"{self.folder}/{NEW}/{file}")
        owners: dict[str, str] = {}
        sizes: dict[str, int] = {}
        try:
            for name in self._names():
                sizes[name] = os.stat(f"{self.folder}/{COPIES}/{name}").st_size
                for entry in self._entries(name):
                    owners.setdefault(entry.digest, name)
        except (OSError, StoreError):
            return
        for digest, length in live(self.folder, set(owners)):
            sizes[owners[digest]] += length + ROW
        for name, size in sizes.items():
            moment, id, _, *rest = name.split(".")
            after = ".".join((moment, id, str(size), *rest))
            os.rename(f"{self.folder}/{COPIES}/{name}", f"{self.folder}/{COPIES}/{after}")


class Addition:
    """One copy in progress, marked by a file: if that remains, its process was killed."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._contents = Contents(folder)
        self._small: dict[str, bytes] = {}  # by digest, while they are few
        self._batch: BatchWriter | None = None
        self._large: dict[str, str] = {}  # files by digest
        self._added: set[str] = set()  # digests
        self._folders: set[str] = set()  # of contents it needs
        self._mark = new_path(folder)
        os.close(os.open(self._mark, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        self.size = 0  # bytes it adds

    def content(self, source: int, size: int) -> tuple[str, int]:
        """Keep the content of an open file; return its digest and size. Raises OSError, also if it is longer than
        `size`, or changes while it is read."""
        before = os.fstat(source)
        if before.st_size > size:
            raise OSError(errno.EFBIG, "it is too long")
        if before.st_size <= SMALL:
            content = read_at(source, 0, before.st_size)
            digest, length = sha256(content).hexdigest(), len(content)
            self._add_small(digest, content)
        else:
            digest, length = self._add_large(source)
        after = os.fstat(source)
        if length != before.st_size or any(getattr(before, each) != getattr(after, each) for each in SAME):
            raise OSError(errno.EAGAIN, "it changes while it is copied")
        return digest, length

    def text(self, content: bytes) -> str:
        """Keep a small content; return its digest. Raises OSError."""
        digest = sha256(content).hexdigest()
        self._add_small(digest, content)
        return digest

    @contextmanager
    def spare(self) -> Iterator[int]:
        """A temporary empty file to write to."""
        handle = _unnamed(self._folder)
        try:
            yield handle
        finally:
            os.close(handle)

    def _is_new(self, digest: str, length: int) -> bool:
        if digest in self._added:
            return False
        place = self._contents.find(digest)
        if place is not None and place.length == length:
            self._folders.add(posixpath.dirname(place.path))
            return False
        self._added.add(digest)
        self.size += length + ROW
        return True

    def _add_small(self, digest: str, content: bytes) -> None:
        if not self._is_new(digest, len(content)):
            return
        if self._batch is None and len(self._small) < FEW:
            self._small[digest] = content
            return
        if self._batch is None:
            self._batch = BatchWriter(new_path(self._folder))
            for each in self._small.items():
                self._batch.add(*each)
            self._small = {}
        self._batch.add(digest, content)

    def _add_large(self, source: int) -> tuple[str, int]:
        beside = new_path(self._folder)
        handle = os.open(beside, WRITING, 0o600)
        try:
            digest, length = copy_content(source, handle)
        except BaseException:
            remove(beside)
            raise
        finally:
            os.close(handle)
        if self._is_new(digest, length):
            self._large[digest] = beside
        else:
            remove(beside)
        return digest, length

    def finish(
        self, id: str, now: float, about: About, entries: list[Entry], *, written_only: bool = False, room: int = 0
    ) -> Copy:
        """Write the manifest: from then on the copy can be put back. `room` is the limit in bytes for all copies that
        must stay (0: none). Raises OSError or StoreError."""
        count = sum(each.kind not in ("absent", "pack") for each in entries)
        copy = Copy(id, now, about, sum(each.size for each in entries), count, len(entries))
        manifest = written(copy, entries).encode()
        if len(manifest) > MOST_MANIFEST or manifest.find(b"\n") > CHUNK // 2:
            raise StoreError("the list of its files is too long")
        folder, size = f"{self._folder}/{COPIES}", self.size + len(manifest)
        if room and size + sum(each.size for each in _names_in(folder) if each.stays(now, id)) > room:
            raise StoreError("the copies of the last day leave no room for it")
        self._place()
        name = f"{int(now * 1000):015}.{id}.{size}{WRITTEN if written_only else ''}"
        replace(f"{folder}/{name}", manifest, 0o600)
        for other in _names_in(folder):  # an earlier copy for the same call
            if str(other) != name and other.id == id:
                remove(f"{folder}/{other}")
        sync(folder)
        return copy

    def _place(self) -> None:
        """Rename the contents, once they are on the disk."""
        for digest, content in self._small.items():
            self._large[digest] = new_path(self._folder)
            handle = os.open(self._large[digest], WRITING, 0o600)
            try:
                write_at(handle, content, 0)
            finally:
                os.close(handle)
        if self._batch is not None:
            self._batch.finish()
        sync_files(list(self._large.values()), self._folder)
        for digest, path in self._large.items():
            place = object_path(self._folder, digest)
            above = posixpath.dirname(place)
            if not os.path.isdir(above):
                os.makedirs(above, mode=0o700, exist_ok=True)
                self._folders.add(posixpath.dirname(above))
            os.rename(path, place)
            self._folders.add(above)
        if self._batch is not None:
            os.rename(self._batch.path, f"{self._folder}/{BATCHES}/{posixpath.basename(self._batch.path)}")
            self._folders.add(f"{self._folder}/{BATCHES}")
        sync_folders(sorted(self._folders))

    def close(self) -> None:
        """Remove unfinished files."""
        if self._batch is not None:
            self._batch.close()
            remove(self._batch.path)
        for path in (*self._large.values(), self._mark):
            remove(path)


# ---------------------------------------------------------------- files

WRITING = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
SAME = ("st_dev", "st_ino", "st_size", "st_mtime_ns", "st_ctime_ns")


class _Name:
    """The name of a manifest."""

    __slots__ = ("text", "time", "id", "size", "written")

    def __init__(self, text: str) -> None:
        self.text = text
        moment, self.id, size, *rest = text.split(".")
        self.time, self.size, self.written = int(moment) / 1000, int(size), bool(rest)

    def __str__(self) -> str:
        return self.text

    def may_go(self, now: float) -> bool:
        """Whether others may evict it after those that were only written."""
        return not self.written and not 0 <= now - self.time < YOUNG

    def stays(self, now: float, id: str) -> bool:
        return self.id != id and not self.written and not self.may_go(now)


def _names_in(folder: str) -> list[_Name]:
    return [_Name(name) for name in list_names(folder) if _is_manifest(name)]


def _is_manifest(name: str) -> bool:
    parts = name.removesuffix(WRITTEN).split(".")
    return len(parts) == 3 and parts[0].isdecimal() and parts[2].isdecimal()


def _unnamed(folder: str) -> int:
    """A handle on an empty, unnamed file."""
    path = new_path(folder)
    handle = os.open(path, WRITING, 0o600)
    remove(path)
    return handle
