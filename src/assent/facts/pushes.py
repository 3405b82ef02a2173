"""Whether a `git push` goes to a remote of the repository, and to a branch that is not shared."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable

from assent.contract import Invocation, Lowering
from assent.contract.branches import branch_of, is_shared
from assent.facts.gitconfig import GitConfigError, GitSetting
from assent.facts.gitdir import Repository, only_line
from assent.facts.links import Links
from assent.facts.repository import discovered, settings_in

PREFIX = "push="
_UNKNOWN = "\0"  # an unknown branch; no name contains it
_STEERS = ("remote.", "url.", "push.", "branch.")
_MAKES = frozenset({"init", "clone", "worktree"})
_NEW_BRANCH = frozenset({"-b", "-B", "-c", "-C", "--create", "--force-create", "--orphan"})


def objection(name: str, lowering: Lowering, links: Links) -> str:
    """Why the destination of a push is not proved: `push=remote NAME:/folder` asks for the remote, `push=branch NAME
    BRANCH:/folder` for the branch (none: the current one). `""`: no objection.

    A colon in a name is written as `\\1`."""
    group, _, folder = name.partition(":")
    kind, remote, branch, *more = (*group.removeprefix(PREFIX).replace("\1", ":").split(" "), "", "")
    if any(more) or not folder:
        return "where it goes is not known"
    here = links.canonical(folder)
    if not here:
        return f"where `{folder}` leads is not known"
    before = list(_before_push(lowering.invocations))
    found = discovered(here, links) if os.path.isdir(here) else None
    if not isinstance(found, Repository):
        made = any(_MAKES.intersection(each.subcommand) for each in before)
        return found or ("another part of the command may make the repository" if made else "")
    try:
        settings = settings_in(posixpath.join(found.common, "config"))
    except (OSError, GitConfigError):
        return f"the settings of `{found.top}` cannot be read"
    if kind == "remote":
        return _of_remote(remote, found, settings, before)
    return _of_branch(remote, branch, found, settings, before)


def _before_push(invocations: Iterable[Invocation]) -> Iterable[Invocation]:
    """The commands of git, up to the last push."""
    git = [each for each in invocations if each.program == "git"]
    last = max((place for place, each in enumerate(git) if each.subcommand[:1] == ("push",)), default=len(git))
    return git[:last]


def _of_remote(remote: str, found: Repository, settings: tuple[GitSetting, ...], before: list[Invocation]) -> str:
    if any(map(_changes_remotes, before)):
        return "another part of the command may change the remotes"
    names = {each.subsection for each in settings if each.name == "remote.url"}
    known = names | {each.value or "" for each in settings if each.name in ("remote.url", "remote.pushurl")}
    if remote:
        return "" if remote in known else f"`{remote}` is no remote of the repository"
    current = _current(found)
    chosen = {
        each.value or ""
        for each in settings
        if each.name == "remote.pushdefault"
        or (each.name in ("branch.remote", "branch.pushremote") and each.subsection == current)
    }
    return next((f"`{each}` is no remote of the repository" for each in chosen if each not in known), "")


def _changes_remotes(invocation: Invocation) -> bool:
    match invocation.subcommand[:1]:
        case ("remote",):
            return any(word in ("add", "set-url", "rename") for word in invocation.words[1:4])
        case ("config",):
            return any(word.lower().startswith(_STEERS) for word in invocation.words)
        case ("init",) | ("clone",):
            return True
    return False


def _of_branch(
    remote: str, branch: str, found: Repository, settings: tuple[GitSetting, ...], before: list[Invocation]
) -> str:
    default = _target(posixpath.join(found.common, "refs/remotes", remote or "origin", "HEAD")).rpartition("/")[2]
    branches = {branch} if branch else _may_be_current(_current(found), before)
    for each in sorted(branches):
        if each == _UNKNOWN:
            return "which branch is pushed is not known"
        merged = [
            branch_of(entry.value or "")
            for entry in settings
            if entry.name == "branch.merge" and entry.subsection == each and not branch
        ]
        for name in (each, *merged):
            if is_shared(name) or (default and name == default):
                return f"`{name}` is the default branch, or one that others share"
    if not branch and any(
        each.name == "remote.push" or (each.name == "push.default" and each.value not in ("simple", "current"))
        for each in settings
    ):
        return "the settings of the repository choose what is pushed"
    return ""


def _current(found: Repository) -> str:
    """The branch that is checked out; `""` if there is none."""
    return _target(posixpath.join(found.gitdir, "HEAD")).removeprefix("refs/heads/")


def _target(path: str) -> str:
    line = only_line(path)
    return line[5:].strip() if line.startswith("ref: ") else ""


def _may_be_current(current: str, before: list[Invocation]) -> set[str]:
    """The branches that may be checked out when the push runs. A word of `git checkout` may be a file, too."""
    found = {current} if current else set()
    for each in before:
        verb = each.subcommand[:1]
        if verb not in (("checkout",), ("switch",), ("branch",)) or "--" in each.words:
            continue
        if verb == ("branch",) and not {"-m", "-M"} & set(each.words):
            continue
        names = [word for word in each.words[each.words.index(verb[0]) + 1 :] if word[:1] != "-" or word == "-"]
        name = (names[-1] if verb == ("branch",) else names[0]) if names else ""
        if not name:
            continue
        known = name if name[0] not in "-$`" and "$" not in name and "`" not in name else _UNKNOWN
        made = verb == ("switch",) or not _NEW_BRANCH.isdisjoint(each.words)
        found = {known} if made else found | {known}
    return found
