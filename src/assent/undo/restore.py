"""Puts a copy back, and keeps a copy of the replaced files.

Deletes only paths that were absent or of another kind: files added to a folder since then stay."""

from __future__ import annotations

import base64
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from difflib import unified_diff

from assent.contract import StoreError
from assent.undo.contents import FEW, SMALL, ContentPlace, content_at, copy_content, sync_all, whole, write_at
from assent.undo.copy import About, Copy, Entry
from assent.undo.places import Folders, opened, split
from assent.undo.store import Addition, CopyStore, Limits
from assent.undo.take import take

MOST_SHOWN = 256 * 1024  # bytes of a file whose lines are compared
WRITING = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def put_back(
    store: CopyStore,
    copy: Copy,
    *,
    id: str,
    now: float,
    limits: Limits,
    more: Callable[[Addition], Iterable[Entry]] | None = None,
) -> Copy:
    """Put a copy back; return the copy of the replaced files, which can undo that. Raises StoreError: if no such copy
    can be made, nothing is changed. Packs are left to the caller; `more` as in `take`."""
    entries = tuple(entry for entry in store.entries(copy) if entry.kind != "pack")
    about = copy.about
    undoing = About(f"assent undo {copy.id}", about.session, about.folder, about.runtime, undoes=copy.id)
    try:
        replaced = _replaced(entries)
    except OSError as error:
        raise StoreError(f"`{error.filename}` would be replaced and cannot be read: {error.strerror}") from None
    kept = take(store, replaced, id=id, now=now, about=undoing, limits=limits, deep=False, more=more, undoes=copy.id)
    try:
        with store.adding():  # keeps `clean` from removing contents
            _Restoring(store).all(entries)
    except (OSError, StoreError) as error:
        why = error.strerror if isinstance(error, OSError) else ""
        problem = f"not everything could be put back: {why or error}"
        raise StoreError(f"{problem}; what was there before is the copy `{kept.id}`") from None
    return kept


def _replaced(entries: tuple[Entry, ...]) -> list[str]:
    """The paths that change when entries are put back. If a path is of another kind now, also its whole content;
    nothing below a file or link that replaced a folder."""
    found: dict[str, None] = {}
    hidden = "\0"  # nothing exists below this now
    for entry in sorted(entries, key=lambda entry: _in_order(entry.path)):
        if entry.path.startswith(hidden):
            continue
        found[entry.path] = None
        now = _now(entry.path)
        if entry.kind == "folder" and now not in ("folder", "absent"):
            hidden = f"{entry.path}/"
        elif entry.kind != "folder" and now == "folder":
            for folder, folders, files in os.walk(entry.path, onerror=_fail):
                found.update(dict.fromkeys(f"{folder}/{name}" for name in (*folders, *files)))
    return list(found)


def _fail(error: OSError) -> None:
    raise error


def _in_order(path: str) -> list[str]:
    return path.split("/")  # a folder directly before its content


class _Restoring:
    def __init__(self, store: CopyStore) -> None:
        self._contents = store.contents()
        self._folders = Folders()
        self._one_by_one = True  # each file is synced; many by one call for the file system

    def all(self, entries: tuple[Entry, ...]) -> None:
        try:
            self._all(entries)
        finally:
            self._folders.close()

    def _all(self, entries: tuple[Entry, ...]) -> None:
        """Folders from the outside in, then their content; the modes and times of folders from the inside out."""
        ordered = sorted(entries, key=lambda entry: _in_order(entry.path))
        folders = [entry for entry in ordered if entry.kind == "folder"]
        for entry in ordered:
            if entry.kind == "absent":
                _clear(entry.path)
        for entry in folders:
            _clear(entry.path, folders=False)
            with opened(entry.path, make=True) as handle:
                os.fchmod(handle, 0o700)  # until everything in it is back
        files = [entry for entry in ordered if entry.kind not in ("folder", "absent")]
        self._one_by_one = len(files) <= FEW
        for entry in sorted(files, key=lambda entry: bool(entry.same)):  # the target of a hard link comes first
            self._replace(entry)
        for entry in reversed(folders):
            with opened(entry.path) as handle:
                _set(handle, entry)
        if not self._one_by_one:
            for folder in {split(entry.path)[0] for entry in files[:1] + files[-1:]}:
                sync_all(folder)

    def _replace(self, entry: Entry) -> None:
        """Replace a path by a file, link or pipe, by one rename."""
        folder, name = split(entry.path)
        beside = f".assent-undo-{os.urandom(6).hex()}"
        handle = self._folders.at(folder, make=True)
        _clear_at(handle, name, files=False)
        try:
            self._make(entry, handle, beside)
            os.rename(beside, name, src_dir_fd=handle, dst_dir_fd=handle)
        except BaseException:
            _unlink(beside, handle)
            raise
        if entry.same:
            _unlink(beside, handle)  # if both are names of the same file

    def _make(self, entry: Entry, folder: int, name: str) -> None:
        if entry.same:
            above, first = split(entry.same)
            with opened(above) as handle:
                os.link(first, name, src_dir_fd=handle, dst_dir_fd=folder, follow_symlinks=False)
        elif entry.kind == "link":
            os.symlink(entry.leads, name, dir_fd=folder)
            os.utime(name, ns=(entry.accessed, entry.modified), dir_fd=folder, follow_symlinks=False)
        elif entry.kind == "pipe":
            os.mkfifo(name, 0o600, dir_fd=folder)
            handle = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            try:
                _set(handle, entry)
            finally:
                os.close(handle)
        else:
            self._make_file(entry, folder, name)

    def _make_file(self, entry: Entry, folder: int, name: str) -> None:
        place = self._contents.find(entry.digest)
        if place is None:
            raise StoreError("a content of the copy is gone")
        target = os.open(name, WRITING, 0o600, dir_fd=folder)
        try:
            _fill(target, place, entry.digest)
            if self._one_by_one:
                os.fsync(target)
            _set(target, entry)
        finally:
            os.close(target)


def _fill(target: int, place: ContentPlace, digest: str) -> None:
    """Write a content into an empty file. Raises StoreError if it has changed."""
    if place.length <= SMALL:
        write_at(target, whole(content_at(place), digest), 0)
        return
    source = os.open(place.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if copy_content(source, target)[0] != digest:
            raise StoreError("a content of the copy is damaged")
    finally:
        os.close(source)


def _clear(path: str, *, files: bool = True, folders: bool = True) -> None:
    """Remove the current file at a path, if it is of that kind."""
    folder, name = split(path)
    try:
        with opened(folder) as handle:
            _clear_at(handle, name, files=files, folders=folders)
    except (FileNotFoundError, NotADirectoryError):
        pass


def _clear_at(folder: int, name: str, *, files: bool = True, folders: bool = True) -> None:
    try:
        is_folder = stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return
    if is_folder and folders:
        _open_up(name, folder)
        shutil.rmtree(name, dir_fd=folder)
    elif not is_folder and files:
        os.unlink(name, dir_fd=folder)


def _open_up(name: str, folder: int) -> None:
    """Make every folder of a tree writable by its owner, so that it can be removed."""
    os.chmod(name, 0o700, dir_fd=folder)
    for _, folders, _, handle in os.fwalk(name, dir_fd=folder):
        for each in folders:
            if stat.S_ISDIR(os.stat(each, dir_fd=handle, follow_symlinks=False).st_mode):
                os.chmod(each, 0o700, dir_fd=handle)


def _unlink(name: str, folder: int) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)


def _set(handle: int, entry: Entry) -> None:
    """Give an open file or folder the owner, mode, attributes and times of an entry."""
    status = os.fstat(handle)
    if (status.st_uid, status.st_gid) != (entry.owner, entry.group):
        with suppress(PermissionError):  # it then belongs to the user
            os.fchown(handle, entry.owner, entry.group)
    for name, value in entry.attributes:
        try:
            os.setxattr(handle, name, base64.b64decode(value))
        except OSError:  # the current file system has none
            break
    os.fchmod(handle, entry.mode)
    os.utime(handle, ns=(entry.accessed, entry.modified))


# ---------------------------------------------------------------- differences


def differences(store: CopyStore, copy: Copy) -> Iterator[str]:
    """The changes by putting a copy back, line by line; texts as a diff from the current content."""
    for entry in store.entries(copy):
        yield from _difference(store, entry)


def _difference(store: CopyStore, entry: Entry) -> Iterator[str]:
    if entry.kind == "pack":
        return
    now = _now(entry.path)
    if entry.kind == "absent":
        if now != "absent":
            yield f"remove {now} {entry.path}"
        return
    if now == "absent":
        yield f"put back {entry.kind} {entry.path}" + (f" ({entry.size:,} bytes)" if entry.kind == "file" else "")
    elif now != entry.kind:
        yield f"replace {now} {entry.path} by the {entry.kind}"
    elif entry.kind == "link" and os.readlink(entry.path) != entry.leads:
        yield f"link {entry.path} to {entry.leads} again, not to {os.readlink(entry.path)}"
    elif entry.kind == "file" and entry.digest:
        yield from _in_file(store, entry)
    if now == entry.kind and entry.kind in ("file", "folder"):
        mode = stat.S_IMODE(os.lstat(entry.path).st_mode)
        if mode != entry.mode:
            yield f"change the mode of {entry.path} from {mode:o} to {entry.mode:o}"


def _in_file(store: CopyStore, entry: Entry) -> Iterator[str]:
    try:
        with open(entry.path, "rb") as file, open(store.content(entry), "rb") as kept:
            now, then = file.read(MOST_SHOWN + 1), kept.read(MOST_SHOWN + 1)
    except OSError as error:
        yield f"{entry.path} cannot be read: {error.strerror}"
        return
    if now == then and len(now) <= MOST_SHOWN:
        return
    before, after = _text(now), _text(then)
    if before is None or after is None:
        yield f"replace the content of {entry.path} ({entry.size:,} bytes)"
        return
    names = f"{entry.path} (now)", f"{entry.path} (copy)"
    yield from unified_diff(before.splitlines(), after.splitlines(), *names, lineterm="")


def _text(raw: bytes) -> str | None:
    if len(raw) > MOST_SHOWN or b"\0" in raw:
        return None
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _now(path: str) -> str:
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return "absent"
    kinds = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link", stat.S_IFIFO: "pipe"}
    return kinds.get(stat.S_IFMT(mode), "other")
