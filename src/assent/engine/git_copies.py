"""Copies what git discards and restores it: refs without a file of their own, and objects that may be unreachable, in a
pack. Writes nothing into a repository before a person puts a copy back."""

from __future__ import annotations

import os
import posixpath
import time
from collections.abc import Callable, Iterable, Iterator

from assent.contract import StoreError
from assent.facts import gitrun
from assent.facts.gitdir import Repository, opened
from assent.facts.gitlosses import DiscardingTree, GitLoss, discarded
from assent.facts.links import Links
from assent.undo.copy import Copy, Entry
from assent.undo.store import Addition, CopyStore
from assent.undo.take import CannotCopy

SECONDS = 15.0  # for packing what is lost, while a host waits
PATIENCE = 300.0  # for taking it back, while a person waits
EMPTY = 32  # bytes of a pack without objects
# The real commits: no replacements, no cache.
UNREPLACED = {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_GRAFT_FILE": os.devnull}
PACKING = ("-c", "core.commitGraph=false", "pack-objects", "--revs", "--stdout", "-q", "--delta-base-offset")
UNKNOWN = "what git would discard is not known"


def losses(names: Iterable[str]) -> list[GitLoss]:
    """The losses by the git commands of TREE targets. Raises CannotCopy."""
    links = Links()
    found = []
    for name in names:
        loss = discarded(name, links)
        if loss is None:
            raise CannotCopy(UNKNOWN)
        found.append(loss)
    return found


def keeping(found: list[GitLoss]) -> Callable[[Addition], Iterator[Entry]] | None:
    """A function that adds the refs and objects of losses to a copy."""

    def add(addition: Addition) -> Iterator[Entry]:
        for loss in found:
            for path, value in loss.packed:
                yield _ref(addition, path, value)
            if loss.wants:
                yield _pack(addition, loss)

    return add if found else None


def _ref(addition: Addition, path: str, value: str) -> Entry:
    text = f"{value}\n".encode()
    digest = addition.text(text)
    now, owner, group = time.time_ns(), os.geteuid(), os.getegid()
    return Entry(
        path,
        "file",
        mode=0o644,
        owner=owner,
        group=group,
        accessed=now,
        modified=now,
        size=len(text),
        digest=digest,
    )


def _pack(addition: Addition, loss: GitLoss) -> Entry:
    repository, wants = loss.repository, " ".join(loss.wants)
    given = "".join([*(f"{each}\n" for each in loss.wants), *(f"^{each}\n" for each in loss.left)]).encode()
    with addition.spare() as handle:
        status, _ = gitrun.run(repository, PACKING, given=given, more=UNREPLACED, into=handle, seconds=SECONDS)
        size = os.fstat(handle).st_size
        if status != 0 or size < EMPTY:
            raise CannotCopy("git cannot pack the commits that would be lost")
        digest = addition.content(handle, size)[0] if _count(handle) else ""
    path = posixpath.join(repository.common, "objects")
    size = size if digest else 0
    return Entry(path, "pack", size=size, digest=digest, leads=repository.top, attributes=(("wants", wants),))


def _count(handle: int) -> int:
    """The number of objects in a pack."""
    return int.from_bytes(os.pread(handle, 4, 8), "big")


def folders_of(paths: Iterable[str], found: list[GitLoss]) -> list[str]:
    """The folders of files in working trees: git removes those that become empty."""
    tops = {loss.repository.top for loss in found}
    folders: dict[str, None] = {}
    for path in paths:
        folder = posixpath.dirname(path)
        while folder not in folders and any(folder.startswith(top + "/") for top in tops):
            folders[folder] = None
            folder = posixpath.dirname(folder)
    return list(folders)


# ---------------------------------------------------------------- back


def give_back(store: CopyStore, copy: Copy) -> list[GitLoss]:
    """Give the objects of a copy back to git; return the current state that restoring the rest replaces. Raises
    StoreError, and then no ref or file has changed."""
    entries = store.entries(copy)
    packs = [entry for entry in entries if entry.kind == "pack"]
    return [_given(store, copy, pack, [entry.path for entry in entries]) for pack in packs]


def _given(store: CopyStore, copy: Copy, pack: Entry, paths: list[str]) -> GitLoss:
    repository = opened(pack.leads, Links())
    if not isinstance(repository, Repository) or posixpath.join(repository.common, "objects") != pack.path:
        raise StoreError(f"`{pack.leads}` is not the git repository that it was")
    _refuse(repository, paths)
    wants = dict(pack.attributes).get("wants", "").split()
    tree = DiscardingTree(repository, repository.top)
    if pack.digest:
        _unpack(store, repository, pack)
    if missing := tree.missing(wants):
        for other in _others(store, copy, pack):
            _unpack(store, repository, other)
        if missing := tree.missing(missing):
            raise StoreError(f"git no longer has the commit or content `{missing[0][:12]}`")
    return tree.replaced([path for path in paths if path != pack.path], wants)


def drop_refs(entries: Iterable[Entry]) -> None:
    """Remove refs that did not exist: a packed ref has no file of its own to remove. Raises StoreError."""
    entries = tuple(entries)
    for pack in entries:
        repository = opened(pack.leads, Links()) if pack.kind == "pack" else None
        if not isinstance(repository, Repository):
            continue
        start = repository.common + "/"
        names = [entry.path[len(start) :] for entry in entries if entry.kind == "absent"]
        packed = DiscardingTree(repository, repository.top).packed(names)
        for name in packed:
            if gitrun.run(repository, ("update-ref", "--no-deref", "-d", name))[0] != 0:
                raise StoreError(f"git does not remove `{name}`, which was not there; all else is put back")


def _refuse(repository: Repository, paths: list[str]) -> None:
    """Nothing is put back while git works there, nor a branch if others are below its name."""
    lock = posixpath.join(repository.gitdir, "index.lock")
    if os.path.lexists(lock):
        raise StoreError(f"git is at work in `{repository.top}`, or was killed: `{lock}` is there")
    refs = posixpath.join(repository.common, "refs") + "/"
    for path in paths:
        if path.startswith(refs) and any(files for _, _, files in os.walk(path)):
            raise StoreError(f"`{path[len(repository.common) + 1 :]}` cannot be put back: there are others below it")


def _others(store: CopyStore, copy: Copy, pack: Entry) -> Iterator[Entry]:
    """Packs of the same repository in other copies: objects not lost then may be lost since."""
    for other in store.copies():
        for entry in store.entries(other) if other.id != copy.id else ():
            if entry.kind == "pack" and entry.path == pack.path and entry.digest:
                yield entry


def _unpack(store: CopyStore, repository: Repository, pack: Entry) -> None:
    try:
        handle = store.content(pack)
    except OSError as error:
        raise StoreError(f"the commits of the copy cannot be read: {error.strerror}") from None
    try:
        status, _ = gitrun.run(repository, ("index-pack", "--stdin"), source=handle, seconds=PATIENCE)
    finally:
        os.close(handle)
    if status != 0:
        raise StoreError("git does not take back the commits of the copy")
