"""Which effects of a call are covered by packs that facts prove."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from assent.contract import Effect, Kind, Lowering, Operation

if TYPE_CHECKING:
    from assent.facts.packs.pack_call import PackCall

# The programs of commands that a pack may cover.
PROGRAMS = {
    "branches": frozenset({"git"}),
    "containers": frozenset({"docker", "docker-compose"}),
    "plans": frozenset({"terraform", "tofu", "helm", "alembic"}),
    "installs": frozenset("npm pnpm yarn bun pip pip3 uv poetry bundle go cargo".split()),
}

# One of these words must follow the program.
WORDS = {
    "branches": frozenset({"push"}),
    "installs": frozenset("ci install i sync pip mod fetch --frozen-lockfile --immutable".split()),
}


def concerned(lowering: Lowering, packs: tuple[str, ...]) -> tuple[str, ...]:
    """The packs that may cover a call, without reading the host."""
    return tuple(name for name in packs if _may_be_for(name, lowering))


def _may_be_for(pack: str, lowering: Lowering) -> bool:
    if pack == "rebuild":
        return any(each.operation is Operation.DELETE and each.target.kind is Kind.PATH for each in lowering.effects)
    if pack == "project-code":
        return any(each.operation is Operation.EXECUTE for each in lowering.effects)
    programs, words = PROGRAMS.get(pack, ()), WORDS.get(pack)
    return any(
        each.program in programs and (words is None or len(each.words) < 2 or not words.isdisjoint(each.words[1:2]))
        for each in lowering.invocations
    )


def proved(call: PackCall, packs: tuple[str, ...]) -> dict[Effect, str]:
    """The effects that a pack covers, with its name."""
    return {effect: name for name in packs for effect in _proof(name)(call)}


def _proof(pack: str) -> Callable[[PackCall], Iterable[Effect]]:
    if pack == "rebuild":
        from assent.facts.packs import rebuild  # loaded only for calls that it may cover, as the others

        return rebuild.proved
    if pack == "project-code":
        from assent.facts.packs import project_code

        return project_code.proved
    if pack == "branches":
        from assent.facts.packs import branches

        return branches.proved
    if pack == "installs":
        from assent.facts.packs import installs

        return installs.proved
    if pack == "containers":
        from assent.facts.packs import containers

        return containers.proved
    if pack == "plans":
        from assent.facts.packs import plans

        return plans.proved
    return lambda _: ()
