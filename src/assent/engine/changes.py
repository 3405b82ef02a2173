"""The possible changes of a call, for the ledger of its session. Decides nothing."""

from __future__ import annotations

from collections.abc import Mapping

from assent.contract import READ_ONLY, Call, Effect, Facts, Kind, Lowering, Operation
from assent.engine.engine import Judged
from assent.engine.memory import Memory
from assent.policy import concerns
from assent.programs.traits import has
from assent.state import ledger

CHANGING = (Operation.WRITE, Operation.DELETE)
ELSEWHERE = frozenset((*READ_ONLY, Operation.FETCH, Operation.DELEGATE, Operation.DESTROY))  # changes no file by itself
IN_BACKGROUND = frozenset({"runinbackground", "isbackground", "background", "async", "detach", "detached"})
ANYWHERE = "/"


def note(memory: Memory, call: Call, judged: Judged, id: str, within: tuple[str, ...] = ()) -> None:
    """Note the possible changes of a call that runs, or that a person may allow: they stay noted after a no. `within`
    are the folders it can write to if it runs contained."""
    if judged.lowering is None or judged.facts is None:
        return
    entry = entry_of(call, judged.lowering, judged.facts)
    if entry is not None and judged.decision.contained:
        entry = contained_entry(entry, within)
    if entry is not None:
        ledger.note(memory.state, memory.known_as(call.session), id, entry)


def entry_of(call: Call, lowering: Lowering, facts: Facts) -> ledger.LedgerEntry | None:
    """The possible changes of a call; None if it changes no file."""
    paths: dict[str, None] = {}
    below: dict[str, None] = {ANYWHERE: None} if lowering.has_own_gaps() else {}
    ran = bool(lowering.gaps)  # code that runs, or another unknown change
    for effect in lowering.effects:
        if effect.operation in ELSEWHERE:
            continue
        if effect.operation in CHANGING and effect.target.kind is Kind.PATH:
            anywhere = ANYWHERE in below
            _changed(effect, facts, paths, below)
            if effect.operation is Operation.DELETE and not anywhere and below.pop(ANYWHERE, 0) is None:
                ran = True  # removes unknown files, and writes nothing
        elif effect.target.kind is Kind.TREE and effect.target.name in facts.trees:
            paths.update(dict.fromkeys(path for part in facts.trees[effect.target.name] for path in part))
        elif effect.operation in CHANGING and concerns.harmless(effect, facts):
            continue  # a repository; other effects name the files of its working tree
        elif not (effect.operation is Operation.EXECUTE and concerns.harmless(effect, facts)):
            ran = True
    if not paths and not below and not ran:
        return None
    unnamed = ANYWHERE in below
    if ran:
        below[ANYWHERE] = None
    moves = {effect.invocation for effect in lowering.effects if effect.lossless}
    moved: dict[str, None] = {}
    for effect in lowering.effects if moves else ():
        if effect.operation is Operation.WRITE and effect.target.kind is Kind.PATH and effect.invocation in moves:
            _changed(effect, facts, moved, {})
    job = lowering.job or is_in_background(call.input) or _detaches(lowering)
    return ledger.LedgerEntry(tuple(paths), tuple(below), moved=tuple(moved), unnamed=unnamed, job=job)


def contained_entry(entry: ledger.LedgerEntry, within: tuple[str, ...]) -> ledger.LedgerEntry:
    """The possible changes of a contained call: only these folders, and no process outlives it."""
    if ANYWHERE not in entry.below:
        return ledger.LedgerEntry(entry.paths, entry.below, moved=entry.moved)
    below = tuple(each for each in entry.below if each != ANYWHERE)
    return ledger.LedgerEntry(entry.paths, below, moved=entry.moved, within=within)


def _changed(effect: Effect, facts: Facts, paths: dict[str, None], below: dict[str, None]) -> None:
    target = effect.target
    if not target.name or not target.certain:
        below.update(dict.fromkeys(target.under or (ANYWHERE,)))
        return
    found = facts.expansions.get(target.raw or target.name) if target.pattern else (target.name, target.raw)
    for name in found if found is not None else ():
        leads = facts.canonical.get(name, name) if name else ""
        for each in dict.fromkeys((name, leads)):
            if each:
                paths[each] = None
                if effect.recursive:
                    below[each] = None
    if found is None:
        below[ANYWHERE] = None


def is_in_background(given: Mapping[str, object]) -> bool:
    """Whether the arguments say that the tool does not wait for the command."""
    return any(
        value not in (False, None, 0, "", "false", "False", "no", "0")
        for key, value in given.items()
        if str(key).replace("_", "").replace("-", "").lower() in IN_BACKGROUND
    )


def _detaches(lowering: Lowering) -> bool:
    return any(has(command.program, "detaches") for command in lowering.invocations)
