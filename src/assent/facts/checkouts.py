"""Whether `git checkout NAME` would discard the changes of a file of that name. A commit of that name is checked out
instead, and then git refuses to overwrite anything."""

from __future__ import annotations

import os
import posixpath

from assent.contract import Effect, Kind, Lowering, Operation
from assent.facts.gitdir import Repository
from assent.facts.links import Links
from assent.facts.repository import discovered
from assent.state.files import read

_MOST_REFS = 8 * 1024 * 1024  # bytes of packed refs
_REMOVES_BRANCHES = frozenset("branch update-ref symbolic-ref worktree bisect filter-branch svn".split())
_CHANGING = frozenset({Operation.WRITE, Operation.DELETE, Operation.EXECUTE})
_GITS_OWN = frozenset({Kind.TREE, Kind.REPOSITORY, Kind.HOOKS})


def harmless(lowering: Lowering, links: Links, *, portable: bool) -> tuple[str, ...]:
    """The paths whose changes no checkout of that name discards. `portable`: the host is not read; only files that the
    call makes exist."""
    found = []
    for effect in lowering.effects:
        target = effect.target
        if not effect.dangers or "discard-there" not in effect.dangers or target.kind is not Kind.PATH:
            continue
        if not target.name or target.pattern:
            continue
        if target.certain:
            keeps = portable or not os.path.lexists(target.raw or target.name)
        else:
            keeps = _is_stashed(lowering, effect) or _is_branch(lowering, effect, links)
        found += [target.name] if keeps else []
    return tuple(found)


def _is_stashed(lowering: Lowering, effect: Effect) -> bool:
    """Whether the previous command stashed all changes of tracked files: then there are none to discard."""
    before = [each for each in lowering.effects if each.invocation < effect.invocation and each.operation in _CHANGING]
    last = max((each.invocation for each in before), default=-1)
    own = [each for each in before if each.invocation == last]
    stashes = [each for each in own if each.target.kind is Kind.TREE and each.target.name.startswith("stash:")]
    folder = _folder(lowering, effect)
    return (
        bool(folder)
        and all(each.target.kind in _GITS_OWN for each in own)
        and [each.target.name for each in stashes] == [f"stash:{folder}"]
    )


def _is_branch(lowering: Lowering, effect: Effect, links: Links) -> bool:
    """Whether there is a branch of that name, and no command of the call removes branches."""
    gits = [each for each in lowering.invocations if each.program == "git"]
    if any(not _REMOVES_BRANCHES.isdisjoint(each.subcommand) for each in gits):
        return False
    folder = _folder(lowering, effect)
    here = links.canonical(folder) if folder else ""
    repository = discovered(here, links) if here and os.path.isdir(here) else None
    if not isinstance(repository, Repository):
        return False
    ref = f"refs/heads/{effect.target.text}"
    if os.path.isfile(posixpath.join(repository.common, ref)):
        return True
    try:
        packed = read(posixpath.join(repository.common, "packed-refs"), _MOST_REFS)[0]
    except OSError:
        return False
    return any(line.endswith(b" " + os.fsencode(ref)) for line in packed.split(b"\n"))


def _folder(lowering: Lowering, effect: Effect) -> str:
    """The folder in which git runs, for a command whose changes facts can list."""
    start = f"checkout {effect.target.text}:"
    names = [
        each.target.name
        for each in lowering.effects
        if each.invocation == effect.invocation and each.target.kind is Kind.TREE
    ]
    return names[0].removeprefix(start) if len(names) == 1 and names[0].startswith(start) else ""
