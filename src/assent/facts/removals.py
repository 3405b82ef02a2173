"""Harmless removals of a call: files that it makes itself, and single files."""

from __future__ import annotations

import os

from assent.contract import Effect, Kind, Lowering, Operation


def plain(lowering: Lowering) -> tuple[str, ...]:
    """Recursive removals of a single file: `rm -rf package-lock.json`."""
    return tuple(
        effect.target.name
        for effect in lowering.effects
        if effect.operation is Operation.DELETE and effect.recursive and _is_one_file(effect)
        if os.path.isfile(effect.target.name) and not os.path.islink(effect.target.name)
    )


def fresh(lowering: Lowering) -> tuple[str, ...]:
    """The missing files and folders that the call makes and later removes. None if it moves anything, as that could be
    removed instead."""
    removed = [effect for effect in lowering.effects if effect.operation is Operation.DELETE and not effect.lossless]
    if not removed or any(effect.lossless and effect.recursive for effect in lowering.effects):
        return ()
    made: dict[str, int] = {}
    for effect in lowering.effects:
        if effect.operation is Operation.WRITE and _is_one_file(effect):
            made.setdefault(effect.target.name, effect.invocation)
    return tuple(
        dict.fromkeys(
            effect.target.name
            for effect in removed
            if _is_one_file(effect)
            and -1 < made.get(effect.target.name, -1) < effect.invocation
            and not os.path.lexists(effect.target.raw or effect.target.name)
            and not (effect.recursive and _may_be_led(effect.target.name, lowering))
        )
    )


def _may_be_led(path: str, lowering: Lowering) -> bool:
    """Whether the call may make a parent folder of a path a link: it writes one by other means than `mkdir`, or writes
    unnamed files."""
    for effect in lowering.effects:
        if effect.operation is not Operation.WRITE or effect.target.kind is not Kind.PATH:
            continue
        program = lowering.invocations[effect.invocation].program if effect.invocation >= 0 else ""
        if program != "mkdir" and (not _is_one_file(effect) or path.startswith(effect.target.name.rstrip("/") + "/")):
            return True
    return False


def _is_one_file(effect: Effect) -> bool:
    target = effect.target
    return target.kind is Kind.PATH and bool(target.name) and target.certain and not target.pattern
