"""Lowering → Facts: observes the host state that a call depends on, just before it runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from assent.contract import MUTATION, READ_ONLY, Below, Effect, Facts, Kind, Lowering, Operation, Server, Target, keep
from assent.facts.links import Links, folding
from assent.facts.workspace import is_possible_root

if TYPE_CHECKING:
    from assent.facts.session_history import SessionHistory

SOUGHT = frozenset((Operation.READ, Operation.SEARCH))
_LOOKED_AT = frozenset((Kind.REPOSITORY, Kind.HOOKS, Kind.SETTINGS))
_SETTLED_KINDS = frozenset((Kind.REPOSITORY, Kind.HOOKS, Kind.MODULES, Kind.SETTINGS, Kind.CODE))


def observe(
    lowering: Lowering,
    *,
    roots: tuple[str, ...],
    home: str,
    cwd: str,
    own: tuple[str, ...] = (),
    state: str = "",
    given: Mapping[str, str] | None = None,
    paused: bool = False,
    server: Server | None = None,
    history: SessionHistory | None = None,
    untouched: tuple[str, ...] = (),
    packs: tuple[str, ...] = (),
    moment: Links | None = None,
    seeks: Callable[[], bool] = lambda: False,
) -> Facts:
    """Return the facts that a decision on a call needs. Observations of a `moment` are cached. `seeks`
    says whether rules may match single files below a folder that is read as a whole. `history` is that of the call's
    session; with `given` links these are the files that are `untouched`. `packs` are those that may cover the call.

    With `given` links the host is not observed: there are no other links, no glob is expanded, and of repositories
    only a root itself is known to be the session's. `canonical` has `""` for a path that cannot be resolved, and no
    entry for a path that leads to itself."""
    portable = given is not None
    links = moment if moment is not None and not portable else Links(given)
    roots = (
        _possible_roots(roots, home, links)
        if portable
        else _once(_roots, (roots, home), _possible_roots, roots, home, links)
    )
    observed = _Observation(links, roots, home, lowering, history, portable=portable)
    folders: dict[str, None] = {}
    for invocation in lowering.invocations:
        for folder in invocation.cwds:
            if folder:
                folders[folder] = None
    if cwd and cwd not in folders:
        observed.path(cwd)
    for folder in folders:
        observed.path(folder)
    marked = removes = False
    for effect in lowering.effects:
        match effect.target.kind:
            case Kind.PATH:
                observed.target(effect.target, read=effect.operation in READ_ONLY)
            case Kind.REPOSITORY:
                observed.repository(effect.target)
            case Kind.HOOKS:
                observed.hook(effect.target)
            case Kind.MODULES:
                observed.module(effect.target)
            case Kind.SETTINGS:
                observed.setting(effect.target)
            case Kind.CODE:
                observed.file_of_code(effect.target)
            case Kind.TREE:
                observed.tree(effect)
        marked = marked or bool(effect.dangers)
        removes = removes or effect.operation is Operation.DELETE
    own = _with_canonical(own, links) if portable else _once(_own, own, _with_canonical, own, links)
    folds = () if portable else _once(_folds, (roots, home), folding, (*roots, home, "/"))
    if folds:
        roots, own = _folded(roots), _folded(own)
    fresh, plain = _removed(lowering) if removes and not portable else ((), ())
    return Facts(
        canonical=observed.canonical,
        roots=roots,
        home=home,
        aliases=_aliases(observed, home, state, links) if observed.paths else (),
        own=own,
        folds_case=folds,
        repositories=observed.repositories,
        elsewhere=tuple(observed.elsewhere),
        linked=() if portable or not removes else _linked(lowering, observed.canonical, roots, cwd),
        hooks=observed.hooks,
        modules=observed.modules,
        settings=observed.settings,
        code=observed.code,
        trees=observed.trees,
        expansions=observed.expansions,
        below=_walked(lowering, observed, links, seeks) if observed.paths else {},
        absent=_absent(lowering, links, portable=portable) if marked else (),
        fresh=fresh,
        plain=plain,
        missing=() if portable else _missing(lowering, folders, observed.canonical, roots),
        untouched=_untouched(lowering, links, history, untouched) if lowering.read or lowering.manifests else (),
        routine=_routine(lowering, roots, home, links, history, packs) if packs and history is not None else None,
        paused=paused,
        server=server,
    )


def _linked(lowering: Lowering, canonical: Mapping[str, str], roots: tuple[str, ...], cwd: str) -> tuple[str, ...]:
    """The linked worktrees among the roots that the call removes, except those in which the session works."""
    named = {effect.target.name for effect in lowering.effects if effect.operation is Operation.DELETE}
    named |= {canonical.get(name, name) for name in named}
    here = {roots[0], canonical.get(roots[0], roots[0])} if roots else set[str]()
    return tuple(
        root
        for root in roots
        if root in named
        and root not in here
        and not any(place == root or place.startswith(root + "/") for place in (cwd, canonical.get(cwd, cwd)))
        and os.path.isfile(f"{root}/.git")
    )


def _routine(
    lowering: Lowering, roots: tuple[str, ...], home: str, links: Links, history: SessionHistory, packs: tuple[str, ...]
) -> dict[Effect, str]:
    from assent.facts.packs.pack_call import PackCall  # of calls that a pack may be for
    from assent.facts.routine import proved

    return proved(PackCall(lowering, roots, home, links, history), packs)


def _untouched(
    lowering: Lowering, links: Links, history: SessionHistory | None, given: tuple[str, ...]
) -> tuple[str, ...]:
    from assent.facts.session_history import unproved  # most calls run no file of code

    if history is not None:
        return history.untouched(lowering, links)
    return tuple(path for path, _ in unproved(lowering, links, portable=True) if path in given) if given else ()


def _walked(lowering: Lowering, observed: _Observation, links: Links, seeks: Callable[[], bool]) -> dict[str, Below]:
    """What is below the folders that effects reach into: if links may be followed, if rules may match files that are
    read there, or if folders are copied and read later."""
    roots: dict[str, None] = {}
    sought: dict[str, None] = {}
    copies = _copies(lowering) if len(lowering.invocations) > 1 else frozenset()
    for effect in lowering.effects:
        target = effect.target
        if target.kind is not Kind.PATH:
            continue
        if not target.pattern or effect.recursive or target.name not in observed.expansions:
            roots.update(dict.fromkeys(effect.opens()))
        if effect.operation in SOUGHT and (effect.recursive or not target.name):
            wanted = roots if target.name and effect.invocation in copies else sought
            wanted.update(dict.fromkeys((target.name,) if target.name else target.under))
    if not roots and not (sought and seeks()):
        return {}
    from assent.facts.below import Budget, below, fixed  # of calls that reach into folders

    names = seeks()
    if names:
        roots.update(sought)
    budget = Budget(names=names)
    return {root: below(fixed(root) if root in observed.globs else root, links, budget) for root in roots}


def _copies(lowering: Lowering) -> frozenset[int]:
    return frozenset(
        effect.invocation
        for effect in lowering.effects
        if effect.operation is Operation.WRITE and effect.recursive and effect.target.kind is Kind.PATH
    )


def _aliases(observed: _Observation, home: str, state: str, links: Links) -> tuple[tuple[str, str], ...]:
    """Other names of guarded places, and the read files that are hard links to them."""
    from assent.facts.guarded import aliases, hard_link  # of calls that name files

    found = links.once(("guarded", home, state), aliases, home, state, links)
    if observed.portable:
        return found
    linked = [(path, other) for path in observed.read if (other := hard_link(path, home, links))]
    return (*found, *linked) if linked else found


def _absent(lowering: Lowering, links: Links, *, portable: bool) -> tuple[str, ...]:
    """The paths that a command would overwrite if they existed: `git checkout name` may mean a branch or a file."""
    if not any("discard-there" in effect.dangers for effect in lowering.effects if effect.dangers):
        return ()
    from assent.facts import checkouts  # few calls check anything out

    return checkouts.harmless(lowering, links, portable=portable)


def _removed(lowering: Lowering) -> tuple[tuple[str, ...], tuple[str, ...]]:
    from assent.facts import removals  # of calls that remove something

    return removals.fresh(lowering), removals.plain(lowering)


def _missing(
    lowering: Lowering, folders: Iterable[str], canonical: dict[str, str], roots: tuple[str, ...]
) -> tuple[str, ...]:
    """The missing folders outside the workspace that commands would run in and that the call does not make."""
    outside = [folder for folder in folders if not _lies_in(canonical.get(folder, folder), roots)]
    if not outside:
        return ()
    made = [
        effect.target.name
        for effect in lowering.effects
        if effect.operation is Operation.WRITE and effect.target.kind is Kind.PATH
    ]
    if "" in made:
        return ()
    return tuple(
        folder for folder in outside if not os.path.lexists(folder) and not any(_touch(folder, name) for name in made)
    )


def _lies_in(path: str, roots: tuple[str, ...]) -> bool:
    return path in roots or any(path.startswith(root + "/") for root in roots)


def _touch(one: str, other: str) -> bool:
    return one == other or one.startswith(other.rstrip("/") + "/") or other.startswith(one.rstrip("/") + "/")


_REMEMBERED = 256
# Constant for the life of a process. A session's roots and their targets are fixed at its start: a root that moves
# later is outside. Assent's own files keep their place, and folders their case sensitivity.
_roots: dict[tuple[tuple[str, ...], str], tuple[str, ...]] = {}
_possible: dict[tuple[str, str], bool] = {}
_own: dict[tuple[str, ...], tuple[str, ...]] = {}
_folds: dict[tuple[tuple[str, ...], str], tuple[str, ...]] = {}


def _once(cache: dict[Any, Any], key: object, compute: Callable[..., Any], *given: object) -> Any:
    found = cache.get(key)
    if found is None:
        found = compute(*given)
        keep(cache, key, found, _REMEMBERED)
    return found


def _possible_roots(roots: tuple[str, ...], home: str, links: Links) -> tuple[str, ...]:
    forms = _with_canonical(roots, links)
    return tuple(root for root in forms if _once(_possible, (root, home), is_possible_root, root, home))


def _with_canonical(paths: tuple[str, ...], links: Links) -> tuple[str, ...]:
    return tuple(path for path in dict.fromkeys((*paths, *map(links.canonical, paths))) if path)


def _folded(paths: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*paths, *(path.lower() for path in paths))))


class _Observation:
    __slots__ = (
        "canonical",
        "repositories",
        "elsewhere",
        "hooks",
        "modules",
        "settings",
        "code",
        "trees",
        "expansions",
        "globs",
        "paths",
        "read",
        "portable",
        "_links",
        "_roots",
        "_home",
        "_lowering",
        "_history",
    )

    def __init__(
        self,
        links: Links,
        roots: tuple[str, ...],
        home: str,
        lowering: Lowering,
        history: SessionHistory | None,
        *,
        portable: bool,
    ) -> None:
        self.canonical: dict[str, str] = {}
        self.repositories: dict[str, str] = {}
        self.elsewhere: dict[str, None] = {}
        self.hooks: dict[str, str] = {}
        self.modules: dict[str, str] = {}
        self.settings: dict[str, str] = {}
        self.code: dict[str, str] = {}
        self.trees: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
        self.expansions: dict[str, tuple[str, ...]] = {}
        self.paths = False  # the call names some
        self.read: list[str] = []
        self.globs: set[str] = set()
        self._links = links
        self._roots = roots
        self._home = home
        self.portable = portable
        self._lowering = lowering
        self._history = history

    def path(self, path: str) -> None:
        """Note where a path leads, unless that is its own name."""
        leads = self._links.canonical(path)
        if leads != path:
            self.canonical[path] = leads

    def target(self, target: Target, *, read: bool) -> None:
        self.paths = True
        for folder in target.under:
            self.path(folder)
        if not target.name:
            return
        self.path(target.name)
        if target.raw:  # a tool may collapse `..` before it opens a path, and the kernel after: both are noted
            self.path(target.raw)
        if target.pattern:
            self.globs.add(target.name)
        if target.pattern and not self.portable:
            self._expand(target)
        elif read:
            self.read.append(target.raw or target.name)

    def _expand(self, target: Target) -> None:
        from assent.facts.globs import expand  # most calls hold no glob

        pattern = target.raw or target.name
        matches: tuple[str, ...] | None = self._links.once(("glob", pattern), expand, pattern, self._links)
        if matches is not None:
            self.expansions[pattern] = self.expansions[target.name] = matches
            self.read += matches
        for match in matches or ():
            self.path(match)

    def repository(self, target: Target) -> None:
        from assent.facts.repository import harm  # most calls hold no git

        folder = target.raw or target.name
        if folder and (folder not in self.repositories or target.name not in self.repositories):
            reason = harm(
                folder, self._roots, self._links, self._home, portable=self.portable, stays=self._makes_nothing
            )
            self.repositories[folder] = self.repositories[target.name] = reason
            if reason and not self.portable and self._makes_nothing():
                from assent.facts.repository import is_quiet

                if is_quiet(folder, self._roots, self._links, self._home):
                    self.elsewhere[target.name] = None

    def _makes_nothing(self) -> bool:
        """Whether nothing in the call can make a folder before git looks at it."""
        return all(
            effect.operation in READ_ONLY or effect.operation is Operation.FETCH or effect.target.kind in _SETTLED_KINDS
            for effect in self._lowering.effects
        )

    def hook(self, target: Target) -> None:
        from assent.facts.githooks import hook  # most calls hold no git

        if target.name.startswith("push=") and target.name not in self.hooks:
            from assent.facts.pushes import objection  # few calls push

            self.hooks[target.name] = "" if self.portable else objection(target.name, self._lowering, self._links)
        if target.name and target.name not in self.hooks:
            reason = "another part of the command may make it" if self._makes_remote(target.name) else ""
            self.hooks[target.name] = reason or ("" if self.portable else hook(target.name, self._links))

    def _makes_remote(self, name: str) -> bool:
        """Whether the call itself may make the path of a remote, `remote=name:/folder`."""
        remote, _, folder = name.removeprefix("remote=").partition(":")
        place = f"{folder}/{remote}"
        written = (
            e.target for e in self._lowering.effects if e.operation is Operation.WRITE and e.target.kind is Kind.PATH
        )
        return name.startswith("remote=") and any(
            not t.name or not t.certain or t.pattern or t.name.startswith(place) or place.startswith(t.name + "/")
            for t in written
        )

    def tree(self, effect: Effect) -> None:
        """Which files a git command would change; notes nothing if git or the call could do more."""
        name = effect.target.name
        folder = name.partition(":")[2]
        own = [each for each in self._lowering.effects if each.invocation == effect.invocation]
        for each in own:
            if each.target.kind is Kind.REPOSITORY:
                self.repository(each.target)
            elif each.target.kind is Kind.HOOKS:
                self.hook(each.target)
        hooked = any(self.hooks.get(each.target.name) != "" for each in own if each.target.kind is Kind.HOOKS)
        if self.portable or not folder or self.repositories.get(folder) != "" or hooked:
            return
        from assent.facts.gitlosses import would_change  # few calls change a tree
        from assent.facts.gittrees import nowhere

        if nowhere(folder, self._links):
            self.trees[name] = ((), ())
            return
        found = None if self._else_changes(effect) else would_change(name, self._links)
        if found is not None:
            self.trees[name] = found
            for path in (*found[0], *found[1]):
                self.path(path)

    def _else_changes(self, effect: Effect) -> bool:
        """Whether another part of the call changes anything in the workspace or in git's store: git may then do
        something other than it reports now."""
        return any(
            each.operation in MUTATION
            and each.invocation != effect.invocation
            and not (each.operation is Operation.EXECUTE and each.target.kind in _LOOKED_AT)
            and not self._lies_outside(each.target)
            for each in self._lowering.effects
        )

    def _lies_outside(self, target: Target) -> bool:
        if target.kind is not Kind.PATH or not target.name or not target.certain or target.pattern:
            return False
        self.path(target.name)
        return not _lies_in(self.canonical.get(target.name, target.name), self._roots)

    def module(self, target: Target) -> None:
        from assent.facts.modules import posing  # most calls hold no code

        if target.name:
            folder = (target.raw or target.name).removeprefix("pure:")
            self.modules[target.name] = posing(
                folder, self._links, self._lowering, portable=self.portable, roots=self._roots
            )

    def setting(self, target: Target) -> None:
        from assent.facts.settings import obeyed  # most programs obey none

        if target.name and target.name not in self.settings:
            self.settings[target.name] = obeyed(
                target.name,
                self._lowering,
                self._links,
                roots=self._roots,
                home=self._home,
                portable=self.portable,
            )

    def file_of_code(self, target: Target) -> None:
        from assent.facts.code import is_link, replaced  # most calls run no file of code

        if target.name not in self.code:
            reason = self._history.job() if self._history is not None else ""
            if not reason and is_link(target.name, self._links):
                reason = "it is a link, and code loads modules from where that leads"
            reason = reason or replaced(target.name, self._lowering, self._links, portable=self.portable)
            self.code[target.name] = reason
