"""Makes a copy of paths, whole or not at all."""

from __future__ import annotations

import base64
import errno
import os
import stat
import time
from collections.abc import Callable, Iterable

from assent.contract import StoreError
from assent.undo.copy import About, Copy, Entry
from assent.undo.places import FOLDER, Folders, split
from assent.undo.store import Addition, CopyStore, Limits

READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
DEEPEST = 200  # depth of nested folders
ATTRIBUTES = ("user.", "system.posix_acl_")


class CannotCopy(StoreError):
    """A path that cannot be copied whole; the text says which and why."""


def take(
    store: CopyStore,
    paths: Iterable[str],
    *,
    id: str,
    now: float,
    about: About,
    limits: Limits,
    most: int = 0,
    deep: bool = True,
    folders: Iterable[str] = (),
    seconds: float = 0.0,
    secret: Callable[[str], bool] | None = None,
    more: Callable[[Addition], Iterable[Entry]] | None = None,
    written_only: bool = False,
    undoes: str = "",
) -> Copy:
    """Copy the current state of absolute paths, folders with their content if `deep`; a path that does not exist counts
    as absent. For `folders` only mode and times are kept. Raises CannotCopy, also if a path is `secret` or all are more
    than `most` bytes (0: the limit of the folder), and then nothing is kept. `more` adds contents and entries for them,
    which replace those of their paths. A copy that takes more than so many `seconds` (0: no limit) is not made.
    `written_only`: these files are only written. `undoes` is the id of a copy that a person puts back: it stays, and
    there is always room for this one."""
    try:
        store.clean(limits, now, keep=(undoes,))
        with store.adding() as addition:
            walk = _Walk(addition, limits.files, most or limits.size, seconds=seconds, secret=secret)
            try:
                for entry in more(addition) if more is not None else ():
                    walk.keep(entry)
                for path in dict.fromkeys(paths):
                    walk.add(path, deep=deep)
                for path in dict.fromkeys(folders):
                    walk.add(path, deep=False)
            finally:
                walk.close()
            room = 0 if undoes else limits.size
            entries = list(walk.entries.values())
            copy = addition.finish(id, now, about, entries, written_only=written_only, room=room)
        store.clean(limits, now, keep=(id, undoes))
        return copy
    except CannotCopy:
        raise
    except OSError as error:
        raise CannotCopy(f"the copy cannot be written: {error.strerror or error}") from None
    except StoreError as error:
        raise CannotCopy(str(error)) from None


class _Walk:
    def __init__(
        self, addition: Addition, files: int, most: int, *, seconds: float, secret: Callable[[str], bool] | None
    ) -> None:
        self.entries: dict[str, Entry] = {}
        self._addition = addition
        self._files = files
        self._most = most
        self._deep = True
        self._seconds = seconds
        self._end = time.monotonic() + seconds
        self._secret = secret
        self._size = 0
        self._folders = Folders()
        self._names: dict[tuple[int, int], str] = {}  # files that have several names, by inode

    def add(self, path: str, *, deep: bool) -> None:
        self._deep = deep
        try:
            folder, name = split(path)
            self._path(self._folders.at(folder), name, path)
        except NotADirectoryError:
            pass  # below a file: nothing can be created there
        except FileNotFoundError:
            self._keep(Entry(path, "absent"))
        except OSError as error:
            raise CannotCopy(f"`{path}` cannot be copied: {error.strerror or error}") from None

    def close(self) -> None:
        self._folders.close()

    def keep(self, entry: Entry) -> None:
        self._size += entry.size
        if self._size > self._most:
            raise CannotCopy(f"it is more than {self._most // 1_000_000:,} MB")
        self._keep(entry)

    def _keep(self, entry: Entry) -> None:
        self.entries.setdefault(entry.path, entry)
        if len(self.entries) > self._files:
            raise CannotCopy(f"these are more than {self._files:,} files")
        if self._seconds and time.monotonic() > self._end:
            raise CannotCopy(f"copying takes more than {self._seconds:.0f} seconds")

    def _path(self, folder: int, name: str, path: str) -> None:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        match stat.S_IFMT(status.st_mode):
            case stat.S_IFREG:
                self._file(folder, name, path, status)
            case stat.S_IFDIR:
                self._folder(folder, name, path, status)
            case stat.S_IFLNK:
                self._keep(_entry(path, "link", status, leads=os.readlink(name, dir_fd=folder)))
            case stat.S_IFIFO:
                self._keep(_entry(path, "pipe", status))
            case _:
                raise CannotCopy(f"`{path}` is a socket or a device")

    def _file(self, folder: int, name: str, path: str, status: os.stat_result) -> None:
        if path in self.entries:
            return
        if self._secret is not None and (status.st_nlink > 1 or self._secret(path)):  # another name may be a key's
            raise CannotCopy(f"`{path}` may hold secrets, which are not copied")
        first = self._names.setdefault((status.st_dev, status.st_ino), path) if status.st_nlink > 1 else path
        if first != path:
            self._keep(_entry(path, "file", status, same=first))
            return
        if self._size + status.st_size > self._most:
            raise CannotCopy(f"it is more than {self._most // 1_000_000:,} MB")
        quiet = os.O_NOATIME if status.st_uid == os.geteuid() else 0  # reading must not change the access time
        handle = os.open(name, READING | quiet, dir_fd=folder)
        try:
            now = os.fstat(handle)
            if (now.st_dev, now.st_ino) != (status.st_dev, status.st_ino) or not stat.S_ISREG(now.st_mode):
                raise OSError(errno.EAGAIN, "it changes while it is copied")
            status = now
            digest, size = self._addition.content(handle, self._most - self._size)
            attributes = _attributes(handle)
        finally:
            os.close(handle)
        self._size += size
        self._keep(_entry(path, "file", status, digest=digest, size=size, attributes=attributes))

    def _folder(self, folder: int, name: str, path: str, status: os.stat_result) -> None:
        if path.count("/") > DEEPEST:
            raise CannotCopy(f"`{path[:200]}…` is too deep")
        handle = os.open(name, FOLDER, dir_fd=folder)
        try:
            self._keep(_entry(path, "folder", status, attributes=_attributes(handle)))
            for inner in sorted(os.listdir(handle)) if self._deep else ():
                self._path(handle, inner, f"{path}/{inner}")
        finally:
            os.close(handle)


def _entry(
    path: str,
    kind: str,
    status: os.stat_result,
    *,
    leads: str = "",
    same: str = "",
    digest: str = "",
    size: int = 0,
    attributes: tuple[tuple[str, str], ...] = (),
) -> Entry:
    return Entry(
        path,
        kind,
        mode=stat.S_IMODE(status.st_mode),
        owner=status.st_uid,
        group=status.st_gid,
        accessed=status.st_atime_ns,
        modified=status.st_mtime_ns,
        size=size,
        digest=digest,
        leads=leads,
        same=same,
        attributes=attributes,
    )


def _attributes(handle: int) -> tuple[tuple[str, str], ...]:
    """The extended attributes that a user can set, their values in base64."""
    try:
        names = [name for name in os.listxattr(handle) if name.startswith(ATTRIBUTES)]
        return tuple((name, base64.b64encode(os.getxattr(handle, name)).decode()) for name in sorted(names))
    except OSError as error:
        if error.errno in (errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS):  # a file system without them
            return ()
        raise
