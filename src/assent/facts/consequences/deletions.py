"""What a deletion removes: files and bytes, untracked files, and uncommitted changes."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator

from assent.contract import Facts, Kind, Lowering, Operation
from assent.contract.approval import Consequence
from assent.facts.consequences import trees
from assent.facts.consequences.deadline import Deadline
from assent.facts.consequences.repositories import MeasuredRepository, NotMeasured, repository_at
from assent.facts.consequences.trees import FileCount
from assent.facts.consequences.words import counted, listed, quoted, say, size

KIND = "deletion"
ANYWHERE = "/**/"
_WALKING = 0.6  # the share of the time for counting; git needs the rest
_MOST_ASKED = 5000  # names that git is asked about (ignored or not)


class Deletion:
    """What a call deletes: known `paths`, `sought` folders that it searches for files that match `patterns` (none:
    any), and `unknown` words that do not certainly name a file."""

    __slots__ = ("paths", "sought", "patterns", "unknown")

    def __init__(self) -> None:
        self.paths: dict[str, None] = {}
        self.sought: dict[str, None] = {}
        self.patterns: dict[str, None] = {}
        self.unknown: dict[str, None] = {}

    def __bool__(self) -> bool:
        return bool(self.paths or self.sought or self.unknown)


def deleted(lowering: Lowering, facts: Facts) -> Deletion:
    """What a call deletes, by its effects. Files that it moved or made itself are not lost."""
    found = Deletion()
    by_git = {each.invocation for each in lowering.effects if each.target.kind is Kind.TREE}  # measured with git
    effects = [
        each
        for each in lowering.effects
        if each.operation is Operation.DELETE and not each.lossless and each.invocation not in by_git
    ]
    seeking = {each.invocation for each in effects if not each.target.name and each.target.under}
    for effect in effects:
        target = effect.target
        if target.kind is not Kind.PATH or target.name in facts.fresh:
            continue
        if not target.name and target.under:
            found.sought.update(dict.fromkeys(target.under))
        elif target.pattern and effect.invocation in seeking:
            if not effect.recursive:
                found.patterns[posixpath.basename(target.name)] = None
        elif target.pattern and ANYWHERE in target.name:  # `find -delete` of one name
            folder, _, name = target.name.rpartition(ANYWHERE)
            found.sought[folder] = None
            found.patterns[name] = None
        elif not target.name or (target.pattern and _expanded(target.raw or target.name, facts) is None):
            found.unknown[target.text] = None
        elif target.pattern:
            found.paths.update(dict.fromkeys(_expanded(target.raw or target.name, facts) or ()))
        else:
            found.paths[target.raw or target.name] = None
    return found


def _expanded(name: str, facts: Facts) -> tuple[str, ...] | None:
    return facts.expansions.get(name)


def measure(found: Deletion, facts: Facts, deadline: Deadline) -> Iterator[Consequence]:
    if found.unknown:
        yield say(KIND, "delete.unknown", names=listed(list(found.unknown)))
    if found.sought:
        yield from _sought(found, facts, deadline)
    if found.paths:
        yield from of_paths(list(found.paths), facts, deadline)


def of_paths(paths: list[str], facts: Facts, deadline: Deadline) -> Iterator[Consequence]:
    """The loss by removing whole paths."""
    walking = deadline.part(_WALKING)
    counted_files = trees.count(paths, walking)
    yield from _files(counted_files, facts)
    for place in counted_files.remote[:1]:
        yield say(KIND, "delete.remote", names=quoted(place))
    if counted_files.unread:
        yield say(KIND, "delete.unread", count=counted(counted_files.unread, "folder"))
    if counted_files.repositories:
        yield say(
            KIND,
            "delete.repository",
            names=listed(_in_workspace(counted_files.repositories, facts)),
            cut=counted_files.cut,
        )
    if counted_files.files:
        yield from _known_to_git(paths, counted_files, facts, deadline)


def _in_workspace(paths: Iterable[str], facts: Facts) -> list[str]:
    """Paths as shown to a person: those in the workspace relative to it."""
    starts = [root.rstrip("/") + "/" for root in facts.roots]
    return [next((path[len(start) :] for start in starts if path.startswith(start)), path) for path in paths]


def _files(found: FileCount, facts: Facts) -> Iterator[Consequence]:
    values = {"files": counted(found.files, "file"), "size": size(found.size)}
    if found.files or found.cut:
        yield say(KIND, "delete.least" if found.cut else "delete.files", values, cut=found.cut)
    elif found.missing and not found.remote:
        yield say(KIND, "delete.nothing", names=listed(_in_workspace(found.missing, facts)))
    elif not found.remote:
        yield say(KIND, "delete.files", values)


def _sought(found: Deletion, facts: Facts, deadline: Deadline) -> Iterator[Consequence]:
    below = trees.count(found.sought, deadline.part(_WALKING), matching=tuple(found.patterns))
    values = {
        "files": counted(below.files, "file"),
        "size": size(below.size),
        "names": listed(_in_workspace(found.sought, facts)),
    }
    yield say(KIND, "delete.most", values, cut=below.cut)
    if below.cut:
        yield say(KIND, "late", cut=True)


def _known_to_git(paths: list[str], found: FileCount, facts: Facts, deadline: Deadline) -> Iterator[Consequence]:
    inside = tuple(f"{each}/.git/" for each in found.repositories)
    names = [name for name in found.names if not name.startswith(inside)]
    if not names:
        return
    try:
        groups = _by_repository(paths, facts, deadline)
        if not groups:
            yield say(KIND, "delete.no-git")
            return
        held: set[str] = set()
        changed: list[str] = []
        for repository, below in groups:
            held.update(posixpath.join(repository.top, each) for each in repository.tracked(below))
            changed += [posixpath.join(repository.top, each) for each in repository.uncommitted(below)]
        there = set(names)
        lost, absent = [each for each in changed if each in there], [each for each in names if each not in held]
        yield from _absent(absent, groups, cut=found.cut or len(found.names) < found.files)
        if lost:
            files = counted(len(lost), "file")
            yield say(KIND, "lost.changes", files=files, names=listed(_shown(lost, groups)), cut=found.cut)
        elif not absent:
            yield say(KIND, "delete.in-git", cut=found.cut)
    except NotMeasured as error:
        yield say(KIND, "delete.git-unknown", why=str(error), cut=deadline.cut)


Groups = list[tuple[MeasuredRepository, list[str]]]


def _by_repository(paths: list[str], facts: Facts, deadline: Deadline) -> Groups:
    """The repositories that paths are in, each with their names there; paths in none are left out."""
    found: dict[str, tuple[MeasuredRepository, list[str]]] = {}
    tops: dict[str, MeasuredRepository | None] = {}
    for path in paths:
        folder = posixpath.dirname(path.rstrip("/")) or "/"
        if folder not in tops:
            away = deadline.is_remote(folder) or not os.path.isdir(folder)
            tops[folder] = None if away else repository_at(folder, facts, deadline)
        repository = tops[folder]
        if repository is None:
            continue
        name = repository.relative(posixpath.join(repository.here, posixpath.basename(path.rstrip("/"))))
        if name:
            found.setdefault(repository.top, (repository, []))[1].append(name)
    return list(found.values())


def _absent(absent: list[str], groups: Groups, *, cut: bool) -> Iterator[Consequence]:
    if not absent:
        return
    ignored: set[str] = set()
    if len(absent) <= _MOST_ASKED:
        for repository, _ in groups:
            names = [each for each in map(repository.relative, absent) if each]
            ignored.update(posixpath.join(repository.top, each) for each in repository.ignored(names))
    kept = [each for each in absent if each not in ignored]
    values = {
        "count": f"at least {len(absent):,}" if cut else f"{len(absent):,}",
        "names": listed(_shown(kept or absent, groups), len(absent)),
    }
    if ignored:
        some = f"{len(ignored):,}" if kept else "all"
        yield say(KIND, "delete.ignored", values, ignored=some, cut=cut)
    else:
        yield say(KIND, "delete.not-in-git", values, cut=cut)


def _shown(paths: list[str], groups: Groups) -> list[str]:
    """Paths as shown to a person: relative to their repository, the shortest first."""
    tops = [repository.top + "/" for repository, _ in groups]
    named = [next((path[len(top) :] for top in tops if path.startswith(top)), path) for path in paths]
    return sorted(named, key=lambda name: (name.count("/"), name))
