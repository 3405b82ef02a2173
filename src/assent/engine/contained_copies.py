"""Keeps a copy of uncommitted work before contained runs, which may delete anything in the workspace.

Best effort: files that git does not have, before the first contained run of a session and then at intervals. Not before
each run, because asking git takes as long as the run."""

from __future__ import annotations

import os
import posixpath

from assent.contain.profile import FOLDER
from assent.contract import StoreError
from assent.engine import copies
from assent.engine.containment import ContainedPlan
from assent.engine.engine import Request
from assent.engine.memory import Memory
from assent.facts import gitrun
from assent.facts.gitdir import Repository
from assent.facts.gittrees import repository_of
from assent.facts.links import Links
from assent.policy import undoable
from assent.state.files import replace_text
from assent.undo.copy import About
from assent.undo.store import CopyStore
from assent.undo.take import CannotCopy, take

EVERY = 600.0  # seconds
SECONDS = 2.0  # for one copy
MOST_FILES = 2000
STATUS = ("status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames")


def keep(memory: Memory, request: Request, plan: ContainedPlan, id: str) -> str:
    """`kept`, why there is no copy, or nothing if there is nothing to keep or it was kept recently."""
    undo, judged = request.engine.settings.undo, plan.before
    if not undo["on"] or judged.policy is None or judged.facts is None or plan.profile.frozen:
        return ""
    try:
        if not _is_due(memory, request, plan):
            return ""
        policy, facts = judged.policy, judged.facts
        found = [path for root in plan.profile.roots for path in _uncommitted(root)]
        paths = [path for path in found if _is_single(path) and not undoable.is_secret(path, policy, facts)]
        if not paths:
            return ""
        call, limits = request.call, copies.limits_of(request.engine.settings)
        limits.files = min(limits.files, MOST_FILES)
        about = About(copies.shown(call), call.session, call.cwd, call.runtime)
        most, now = min(copies.MOST_WRITTEN, limits.size), memory.clock()
        take(
            CopyStore(memory.state),
            paths,
            id=id,
            now=now,
            about=about,
            limits=limits,
            most=most,
            seconds=SECONDS,
            deep=False,
        )
    except CannotCopy as error:
        return str(error)
    except Exception as error:  # best effort, not a condition of the run
        return f"copying failed inside: {type(error).__name__}"
    return copies.KEPT


def _is_due(memory: Memory, request: Request, plan: ContainedPlan) -> bool:
    """Whether the session kept no copy recently; notes that it does now."""
    from assent.contract.lean import sha256

    name = "\0".join((memory.known_as(request.call.session), *plan.profile.roots))
    place = os.path.join(memory.state, FOLDER, "copied", sha256(os.fsencode(name)).hexdigest()[:32])
    try:
        if os.lstat(place).st_mtime > memory.clock() - EVERY:
            return False
    except OSError:  # there was none
        os.makedirs(posixpath.dirname(place), mode=0o700, exist_ok=True)
    try:
        replace_text(place, "")
    except StoreError:
        return False
    return True


def _uncommitted(root: str) -> list[str]:
    """Files of a folder that git does not have in their current state. Raises CannotCopy."""
    found = repository_of(root, Links())
    if found is None:
        raise CannotCopy("uncommitted work is not known: the workspace is in no plain git repository")
    repository, here = found
    status, out = gitrun.run(repository, STATUS)
    if status != 0:
        raise CannotCopy("git cannot say what is not committed")
    return [path for path in _named(repository, out) if path.startswith(here + "/") and os.path.lexists(path)]


def _is_single(path: str) -> bool:
    """Whether a file has no other name: that may be the name of a secret."""
    return os.lstat(path).st_nlink == 1


def _named(repository: Repository, out: bytes) -> list[str]:
    """The files that git lists: two letters, a blank and the name of each; a folder is another repository."""
    names = [os.fsdecode(each[3:]) for each in out.split(b"\0") if len(each) > 3 and not each.endswith(b"/")]
    return [posixpath.join(repository.top, name) for name in names]
