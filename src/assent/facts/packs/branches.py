"""The pack `branches`: a push without force to a branch of one's own.

Proved: only plain options are given; the remote is one that the repository had at the session's start, with unchanged
settings; every branch that is pushed to is known by name, is not the default branch of that remote (which must
be known) and not one that teams share; nothing that is pushed is a tag; and the repository's settings do not
change this."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator

from assent.contract import Effect, Invocation
from assent.contract.branches import branch_of
from assent.facts.gitconfig import GitConfigError
from assent.facts.gitdir import Repository, only_line
from assent.facts.packs.pack_call import PackCall
from assent.facts.pushes import objection
from assent.facts.repository import discovered, harm, settings_in
from assent.state.files import read

OPTIONS = frozenset("-u --set-upstream -q --quiet -v --verbose --progress --no-progress --porcelain -4 -6".split())
# Settings of a repository that make a push send more, or something else, than is named.
_STEERS = ("remote.mirror", "remote.push", "push.followtags", "push.recursesubmodules", "submodule.recurse")
_PACKED = 16 * 1024 * 1024
_OTHER_REFS = ("refs/", "tags/", "remotes/", "for/", "notes/")  # names that git completes to no branch


def proved(call: PackCall) -> Iterator[Effect]:
    for index, command in call.commands(("git",)):
        if command.words[:2] == ("git", "push") and _is_own(command, call):
            yield from call.runs(index, ("push",))


def _is_own(command: Invocation, call: PackCall) -> bool:
    words = command.words[2:]
    operands = [word for word in words if not word.startswith("-")]
    if any(word.startswith("-") and word not in OPTIONS for word in words) or any(map(_is_steered, operands)):
        return False
    remote, refs = (operands[0], operands[1:]) if operands else ("", [])
    folder = command.cwds[0]
    here = call.links.canonical(folder)
    found = discovered(here, call.links) if here and os.path.isdir(here) else None
    if not isinstance(found, Repository) or harm(folder, call.roots, call.links, call.home):
        return False
    if not call.history.has_remotes_of(found, call.links) or _sends_more(found):
        return False
    if any(each.subcommand[:1] == ("tag",) for each in call.lowering.invocations):
        return False
    chosen = _remote(remote, found)
    if not chosen or not only_line(f"{found.common}/refs/remotes/{chosen}/HEAD").startswith("ref: "):
        return False  # the default branch is unknown
    asked = [f"push=remote {chosen}:{folder}"]
    for ref in refs or [""]:
        source, _, target = ref.partition(":")
        target = branch_of(target or source)
        if _is_tag(source, found) or _is_tag(target, found) or target.startswith(_OTHER_REFS) or (ref and not source):
            return False
        named = "" if target == "HEAD" else target
        asked.append(f"push=branch {chosen} {named}:{folder}")
        if not ref or target == "HEAD":
            if not only_line(f"{found.gitdir}/HEAD").startswith("ref: refs/heads/"):
                return False
            asked.append(f"push=branch  :{folder}")  # by the settings of the branch, too
    return all(objection(each, call.lowering, call.links) == "" for each in asked)


def _is_steered(word: str) -> bool:
    """Whether a word means more than a name: force, a deletion, a pattern, an address."""
    return (
        not word
        or word[0] in "+:^"
        or any(char in word for char in "*?[\\~^@{ \1")
        or word.endswith(":")
        or "//" in word
    )


def _sends_more(found: Repository) -> bool:
    try:
        settings = settings_in(posixpath.join(found.common, "config"))
    except (OSError, GitConfigError):
        return True
    return any(entry.name in _STEERS for entry in settings)


def _remote(named: str, found: Repository) -> str:
    """The name of the remote that a push goes to; `""` if unknown."""
    try:
        settings = settings_in(posixpath.join(found.common, "config"))
    except (OSError, GitConfigError):
        return ""
    names = {entry.subsection for entry in settings if entry.name == "remote.url"}
    if named:
        return named if named in names else ""
    chosen = {
        entry.value or ""
        for entry in settings
        if entry.name in ("remote.pushdefault", "branch.remote", "branch.pushremote")
    }
    return "origin" if "origin" in names and chosen <= {"origin"} else ""


def _is_tag(name: str, found: Repository) -> bool:
    """Whether a name may be a tag of the repository; true if unknown."""
    if name.startswith(("refs/heads/", "heads/")) or name == "HEAD" or not name:
        return False
    if name.startswith(_OTHER_REFS) or os.path.lexists(f"{found.common}/refs/tags/{name}"):
        return True
    try:
        raw = read(f"{found.common}/packed-refs", _PACKED)[0]
    except FileNotFoundError:
        return False
    except (OSError, ValueError):
        return True
    return f" refs/tags/{name}\n".encode() in raw + b"\n"
