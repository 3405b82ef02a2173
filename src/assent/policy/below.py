"""The reach of an effect below a folder: the targets of links, and files that rules match.

Facts list the content of the folders that matter, within bounds; anything they do not list is not proved."""

from __future__ import annotations

from collections.abc import Iterator

from assent.contract import Below, Effect, Facts, Kind, Lowering, Operation, Target
from assent.policy import match
from assent.policy.globs import PathGlob, wild_at
from assent.policy.policy import PathPrefilter
from assent.policy.rules import Origin, Rule
from assent.policy.ruleset import RuleSet
from assent.programs.traits import has

READING = (Operation.READ, Operation.SEARCH)
UNPROVED = "links below `{}` are followed, and not all of their targets are known"


def followed(effect: Effect, facts: Facts) -> Iterator[Effect]:
    """The same operation on every outside target of the links it follows."""
    seen: set[str] = set()
    for found in _opened(effect, facts).values():
        for leads, folder in found.leads if found is not None else ():
            if leads not in seen:
                seen.add(leads)
                yield Effect(
                    effect.operation,
                    Target(Kind.PATH, leads, f"{effect.target.text} -> {leads}"),
                    effect.where,
                    invocation=effect.invocation,
                    via=effect.via,
                    recursive=folder,
                    stays=True,
                    visible=effect.visible,
                )


def unproved(effect: Effect, facts: Facts) -> str:
    """A folder whose links are followed but not all known; `""` if there is none."""
    return next((root for root, found in _opened(effect, facts).items() if found is None or not found.whole), "")


def _opened(effect: Effect, facts: Facts) -> dict[str, Below | None]:
    target = effect.target
    if target.pattern and not effect.recursive and target.name in facts.expansions:
        return {}  # every name and its target are known
    return {root: facts.below.get(root) for root in effect.opens()}


# ---------------------------------------------------------------- rules on single files


def rules_on(rules: RuleSet, prefilter: PathPrefilter, effect: Effect, facts: Facts) -> Iterator[Rule]:
    """Deny and ask rules on a file below a folder that is read as a whole, or on one that may exist there if the
    content of the folder is unknown. Shipped rules are left out: they match the file by its name."""
    target = effect.target
    if effect.operation not in READING or target.kind is not Kind.PATH:
        return
    roots = (target.name,) if target.name and effect.recursive else target.under if not target.name else ()
    for root in roots:
        found = facts.below.get(root)
        if found is None or not found.listed:
            yield from _possible(rules, effect, match.known_as((root, facts.canonical.get(root, root)), facts))
        else:
            yield from _present(rules, prefilter, effect, found, root)


def _present(rules: RuleSet, prefilter: PathPrefilter, effect: Effect, found: Below, root: str) -> Iterator[Rule]:
    skip = len(root.rstrip("/"))
    for path in found.names:
        if not prefilter.holds(path) or (effect.visible and "/." in path[skip:]):
            continue
        one = Effect(effect.operation, Target(Kind.PATH, path))
        yield from (rule for rule in rules.reaching_effect(one, (path,)) if rule.origin is not Origin.SHIPPED)


def _possible(rules: RuleSet, effect: Effect, names: tuple[str, ...]) -> Iterator[Rule]:
    for glob, rule in rules.paths.every():
        if (
            rule.origin is not Origin.SHIPPED
            and match.speaks_of(rule, effect.operation)
            and not (effect.visible and _is_hidden(glob))
            and any(_may_lie_in(glob, name) for name in names)
        ):
            yield rule


def _may_lie_in(glob: PathGlob, folder: str) -> bool:
    """Whether a glob may match something below a folder."""
    if not glob.text.startswith("/"):
        return True
    start = folder.rstrip("/") + "/"
    if glob.prefix.startswith(start) or glob.prefix == folder:
        return True
    return not glob.literal and start.startswith(glob.prefix + "/") and glob.opens(folder)


def _is_hidden(glob: PathGlob) -> bool:
    """Whether a glob only matches hidden names and paths below them."""
    return any(name[:1] == "." and wild_at(name[:1]) < 0 for name in glob.text[len(glob.prefix) :].split("/"))


# ---------------------------------------------------------------- folders created by the call itself


# Paths where a command may have put links: the position of its effect, its own position, and the paths.
Put = tuple[int, int, tuple[str, ...]]


def puts(lowering: Lowering, facts: Facts) -> list[Put]:
    """Folders that commands copy or move, unless they contain no links. Facts describe the moment before the call."""
    if len(lowering.invocations) < 2:
        return []
    found: list[Put] = []
    for at, effect in enumerate(lowering.effects):
        if effect.target.kind is Kind.TREE:
            found.append((at, effect.invocation, facts.trees.get(effect.target.name, ((), ()))[0]))
        elif (
            effect.operation is Operation.WRITE
            and effect.recursive
            and effect.invocation >= 0
            and has(lowering.invocations[effect.invocation].program, "keeps-names")
            and not _plain(effect.invocation, lowering, facts)
        ):
            found.append((at, effect.invocation, (effect.target.name,)))
    return found


def _plain(invocation: int, lowering: Lowering, facts: Facts) -> bool:
    """Whether facts show no links in any folder that a command copies."""
    sources = [
        facts.below.get(each.target.name)
        for each in lowering.effects
        if each.invocation == invocation and each.operation is Operation.READ and each.target.kind is Kind.PATH
    ]
    return bool(sources) and all(each is not None and each.whole and not each.linked for each in sources)


def overtaken(effect: Effect, at: int, before: list[Put]) -> bool:
    """Whether an earlier command may have put a link at the target of the effect."""
    target = effect.target
    if target.kind is not Kind.PATH or effect.operation is Operation.DELETE:
        return False
    roots = effect.opens()
    places = (target.name, *roots) if target.name else roots
    paths = [path for place, by, put in before if place < at and by != effect.invocation for path in put]
    return any(
        not path or any(_lies_in(place, path) for place in places) or any(_lies_in(path, root) for root in roots)
        for path in paths
    )


def _lies_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
