"""Copies the files that a call destroys before it runs, and settles the questions that a copy answers."""

from __future__ import annotations

import os
import posixpath

from assent.contract import Call, Outcome
from assent.engine import journal
from assent.engine.engine import Judged
from assent.engine.memory import Memory
from assent.policy import undoable
from assent.policy.settings import Settings
from assent.policy.undoable import Loss
from assent.state import ledger
from assent.undo.copy import About, Copy
from assent.undo.seek import seek
from assent.undo.store import CopyStore, Limits
from assent.undo.take import CannotCopy, take

# A host ends a hook that takes too long, and may then run the call without an answer; the shortest gives it 50 seconds.
# Limits are in files and bytes: 50,000 files take about 3 seconds.
SECONDS = 25.0
MOST_SHOWN = 500  # characters of a call in the list of copies
# Files that a call writes are copied only if that is cheap: a growing log would be copied with every line.
MOST_WRITTEN = 20_000_000
KEPT = "kept"


def keep(memory: Memory, settings: Settings, call: Call, judged: Judged, found: Loss, id: str) -> tuple[Judged, str]:
    """Copy the files that a call destroys. Return the judgement, in which a complete copy answers questions, and the
    trail's note on the copy: `kept`, why there is none, or nothing if nothing is lost."""
    decision = judged.decision
    try:
        there = any(map(os.path.lexists, found.deleted)) or any(map(_is_file, found.written))
        if not there and not (found.unknown or found.git or found.sought):
            return judged, ""
        problem = found.unknown or _copied(memory, settings, call, found, judged, id)
    except Exception as error:  # for example a name with a zero byte: it costs a question
        problem = f"copying failed inside: {type(error).__name__}"
    if judged.policy is not None and found.destroys() and undoable.may_lift(decision, judged.policy):
        why = problem or _moves(memory, call, found, id)
        after = undoable.not_undoable(decision, why) if why else undoable.lifted(decision)
        return judged.but(after), problem or KEPT
    if problem and settings.undo["required"] and decision.outcome is Outcome.ALLOW:
        return judged.but(undoable.refused(decision, problem)), problem
    return judged, problem or KEPT


def _moves(memory: Memory, call: Call, found: Loss, id: str) -> str:
    """Why the call may delete more files than were copied."""
    if found.other:
        return f"the call also changes `{found.other}`, and may delete something else then"
    if ledger.load(memory.state, memory.known_as(call.session), id).job:
        return "a process that the session started may move files there first"
    return ""


def limits_of(settings: Settings) -> Limits:
    undo = settings.undo
    return Limits(size=int(undo["max_size"]), files=int(undo["max_files"]), age=float(undo["keep"]))


def _copied(memory: Memory, settings: Settings, call: Call, found: Loss, judged: Judged, id: str) -> str:
    """Make the copy; return why there is none."""
    assert judged.policy is not None
    assert judged.facts is not None
    policy, facts = judged.policy, judged.facts

    def secret(path: str) -> bool:
        return undoable.is_secret(path, policy, facts)

    about = About(shown(call), call.session, call.cwd, call.runtime)
    limits = limits_of(settings)
    most = 0 if found.destroys() else min(MOST_WRITTEN, limits.size)
    # A moved file is not lost, but leaves its place: putting back the file it replaced would lose it.
    paths = [*map(_real, (*found.deleted, *found.moved)), *map(_real, filter(_is_no_folder, found.written))]
    store, now = CopyStore(memory.state), memory.clock()
    try:
        more, folders = None, []
        for folder, names in found.sought:
            paths += seek(folder, names)
        if found.git:
            from assent.engine import git_copies

            lost = git_copies.losses(found.git)
            paths += [_real(path) for loss in lost for path in loss.files]
            folders = git_copies.folders_of(found.deleted, lost)
            more = git_copies.keeping(lost)
        take(
            store,
            paths,
            id=id,
            now=now,
            about=about,
            limits=limits,
            most=most,
            folders=folders,
            seconds=SECONDS,
            secret=secret,
            more=more,
            written_only=not found.destroys(),
        )
    except CannotCopy as error:
        return str(error)
    return ""


def undo(memory: Memory, copy: Copy, limits: Limits, *, who: str = "", channel: str = "") -> tuple[Copy, str]:
    """Put a copy back, git commits first, and record it; return the copy of the replaced files, and why it could not be
    recorded. Raises StoreError."""
    from assent.engine import git_copies
    from assent.undo.restore import put_back

    store = CopyStore(memory.state)
    more = git_copies.keeping(git_copies.give_back(store, copy))
    kept = put_back(store, copy, id=journal.new_id(), now=memory.clock(), limits=limits, more=more)
    git_copies.drop_refs(store.entries(copy))
    record = journal.of_undo(copy.id, kept.id, time=memory.clock(), who=who or memory.who, channel=channel)
    return kept, memory.record(record)


def _is_file(path: str) -> bool:
    return os.path.lexists(path) and _is_no_folder(path)


def _is_no_folder(path: str) -> bool:
    return os.path.islink(path) or not os.path.isdir(path)


def _real(path: str) -> str:
    """A path with its folder resolved; the last name may be a link."""
    folder, name = posixpath.split(path)
    return posixpath.join(os.path.realpath(folder), name)


def shown(call: Call) -> str:
    """The call in the list of copies, without secrets."""
    from assent.trail import redact

    command = call.input.get("command")
    path = call.input.get("file_path") or call.input.get("path") or ""
    return redact.text(command if isinstance(command, str) else f"{call.tool} {path}")[:MOST_SHOWN]
