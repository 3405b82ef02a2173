"""The files in the workspace that a call destroys, and the questions that a copy of them answers.

INVARIANT: a copy answers the mode's question about a deletion, and shipped ask rules about the loss of the copied
files. It answers no other rule, no danger of another kind, and nothing if a part of the loss is unknown."""

from __future__ import annotations

from assent.contract import (
    READ_ONLY,
    Decision,
    Effect,
    Facts,
    Invocation,
    Kind,
    Layer,
    Lowering,
    Operation,
    Outcome,
    Part,
    Target,
    Value,
    loses,
)
from assent.policy import dangers, floor
from assent.policy.concerns import has_no_effect_left, inside
from assent.policy.modes import Mode
from assent.policy.policy import Policy
from assent.policy.rules import RuleKind

ALLOW, ASK = Outcome.ALLOW, Outcome.ASK
CODE = "undo.copied"
REBUILD = "rebuild"  # the pack whose files need no copy
MOVING = (Mode.AUTO.word, Mode.FULL_AUTO.word)


Sought = tuple[str, tuple[str, ...]]
WILD = frozenset("*?[]{}\\\0")
# Programs and their options that follow links, to files not below their folders.
FINDERS = frozenset({"find", "fd", "fdfind", "bfs"})
FOLLOWS = ("-L", "-H", "-follow", "--follow")
KEEPS_LINKS = ("--keep-dirlinks", "--copy-dirlinks", "--copy-unsafe-links")  # of rsync, and `K` among its short ones


class Loss(Value):
    """The losses of a call: `deleted` paths with their content, `written` files, and the names of TREE targets in which
    `git` discards something. `moved` paths are not lost, but leave their place. `sought` are deleted files that have to
    be searched for: the folder above them, and patterns of their names (none: its whole content). `unknown` says why a
    part of the deletions is unknown; `other` names other changes: they may move files into a deleted folder, or change
    which one that is."""

    __slots__ = ("deleted", "written", "git", "moved", "sought", "unknown", "other")

    def __init__(
        self,
        deleted: tuple[str, ...] = (),
        written: tuple[str, ...] = (),
        git: tuple[str, ...] = (),
        *,
        moved: tuple[str, ...] = (),
        sought: tuple[Sought, ...] = (),
        unknown: str = "",
        other: str = "",
    ) -> None:
        self.deleted = deleted
        self.written = written
        self.git = git
        self.moved = moved
        self.sought = sought
        self.unknown = unknown
        self.other = other

    def destroys(self) -> bool:
        """Whether it may lose more than a written file."""
        return bool(self.deleted or self.git or self.sought or self.unknown)


def loss_of(lowering: Lowering | None, facts: Facts | None, policy: Policy) -> Loss | None:
    """The losses by the call's own effects; None if it deletes and writes no file."""
    if lowering is None or facts is None:
        return None
    marked = any(effect.dangers for effect in lowering.effects)
    found = _Losses(lowering, facts, undoable_dangers(policy) if marked else frozenset())
    for effect in lowering.effects:
        found.add(effect)
    return found.joined()


class _Losses:
    """The losses of a call's effects, one by one."""

    def __init__(self, lowering: Lowering, facts: Facts, undoable: frozenset[str]) -> None:
        self.lowering = lowering
        self.facts = facts
        self.undoable = undoable
        self.deleted: dict[str, None] = {}
        self.moved: dict[str, None] = {}
        self.written: dict[str, None] = {}
        self.git: dict[str, None] = {}
        self.sought: dict[Sought, None] = {}
        self.unknown = self.other = ""
        self.loses = False
        self.follows = any(_follows(command) for command in lowering.invocations)
        self.discarding: set[int] = set()  # commands that discard the changes of a file
        self.by_git = {each.invocation for each in lowering.effects if self._is_told(each)}

    def _is_told(self, effect: Effect) -> bool:
        """Whether facts say what a git command discards."""
        target = effect.target
        return target.kind is Kind.TREE and target.name in self.facts.trees and loses(target)

    def add(self, effect: Effect) -> None:
        if self._is_told(effect):
            self.git[effect.target.name] = None
            for path in dict.fromkeys(path for paths in self.facts.trees[effect.target.name] for path in paths):
                self.deleted[path] = None
            return
        discards = effect.invocation not in self.by_git and self._discards(effect)
        kind, operation = effect.target.kind, effect.operation
        if discards and kind is not Kind.PATH:
            self.unknown = self.unknown or f"what `{effect.target.text}` discards is not known"
            self.loses = True
        if operation in READ_ONLY or has_no_effect_left(effect, self.facts):
            self._amended(effect)
            return
        if self.facts.routine and self.facts.routine.get(effect) == REBUILD:
            return  # it is created again
        if kind is Kind.PATH and operation in (Operation.DELETE, Operation.WRITE):
            if effect.invocation not in self.by_git:
                self._path(effect, discards)
        elif kind is Kind.TREE and effect.target.name in self.facts.trees and not loses(effect.target):
            self._changed(effect)
        else:
            self.other = self.other or effect.target.text or "something else"

    def _discards(self, effect: Effect) -> bool:
        if not effect.dangers:
            return False
        return not self.undoable.isdisjoint(dangers.found_in(effect, (effect.target.name,), self.facts))

    def _path(self, effect: Effect, discards: bool) -> None:
        known = _names(effect, self.facts)
        names, text = known or (), effect.target.text
        unknown = "" if known is not None else f"which files `{text}` are is not known"
        if effect.operation is Operation.DELETE:
            if unknown and (sought := self._sought(effect)):
                self.sought.update(dict.fromkeys(sought))
                unknown = ""
            if self.follows:
                unknown = "it goes through links"
            kept = effect.lossless or effect.target.name in self.facts.fresh  # moved, or created by the same call
            self.loses = self.loses or not kept
            (self.moved if kept else self.deleted).update(dict.fromkeys(names))
            self.unknown = self.unknown or unknown
            self.other = self.other or (text if kept else "")
        elif discards:  # the changes of a file
            self.loses = True
            self.discarding.add(effect.invocation)
            self.deleted.update(dict.fromkeys(names))
            self.unknown = self.unknown or unknown
        else:
            self.written.update(dict.fromkeys(names))
            self.other = self.other or text  # it may place a link, or a folder on the way to what is deleted

    def _sought(self, effect: Effect) -> list[Sought]:
        """The folders of the files of an effect that names none, or names them by a pattern of any depth; empty if
        unknown."""
        target = effect.target
        top, deep, last = target.name.partition("/**/")
        if deep and target.certain:
            return [(top, (last,))] if self._is_folder(top) and _is_name(last) else []
        if target.name:
            return []
        folders = [folder.rstrip("/") for folder in target.under]
        plain = [folder for folder in folders if folder and WILD.isdisjoint(folder)]
        if not plain or not all(any(f"{each}/".startswith(f"{folder}/") for folder in plain) for each in folders):
            return []
        names = self._names_beside(effect, plain)
        fine = all(self._is_folder(each) and (names or each not in self.facts.roots) for each in plain)
        return [(each, names) for each in plain] if fine and all(map(_is_name, names)) else []

    def _names_beside(self, effect: Effect, folders: list[str]) -> tuple[str, ...]:
        """The patterns of names in `find -name … -delete`."""
        if effect.recursive:
            return ()
        beside = [
            each.target.name.rpartition("/")
            for each in self.lowering.effects
            if each.invocation == effect.invocation and each.operation is Operation.DELETE and each.target.pattern
        ]
        return tuple(dict.fromkeys(name for folder, _, name in beside if folder in folders))

    def _is_folder(self, name: str) -> bool:
        """Whether this is a folder of the workspace with no other name."""
        return WILD.isdisjoint(name) and inside((name,), self.facts) and self.facts.canonical.get(name, name) == name

    def _changed(self, effect: Effect) -> None:
        """Files that git writes and has stored: they are not lost, unless their changes are discarded."""
        if effect.invocation in self.discarding:
            written, removed = self.facts.trees[effect.target.name]
            self.git[effect.target.name] = None
            self.written.update(dict.fromkeys((*written, *removed)))

    def _amended(self, effect: Effect) -> None:
        """`git commit --amend` replaces a commit that only the branch refers to."""
        target = effect.target
        if target.kind is Kind.REPOSITORY and effect.operation is Operation.WRITE and effect.invocation >= 0:
            command = self.lowering.invocations[effect.invocation]
            if "--amend" in command.flags and target.name:
                self.git[f"amend:{target.name}"] = None

    def joined(self) -> Loss | None:
        if self.loses:
            self.deleted.update(self.moved)  # perhaps into a deleted folder
        elif not (self.written or self.git):
            return None
        written = tuple(name for name in self.written if name not in self.deleted)
        unknown = self.unknown if self.loses else ""
        return Loss(
            tuple(self.deleted),
            written,
            tuple(self.git),
            moved=() if self.loses else tuple(self.moved),
            sought=tuple(self.sought),
            unknown=unknown,
            other=self.other,
        )


def _follows(command: Invocation) -> bool:
    """Whether a command deletes through links."""
    if command.program == "rsync":
        return any(
            word.startswith(KEEPS_LINKS) or (word.startswith("-") and not word.startswith("--") and "K" in word)
            for word in command.words
        )
    return command.program in FINDERS and any(word.startswith(FOLLOWS) for word in command.words)


def _is_name(pattern: str) -> bool:
    """Whether every program reads a pattern of a file's name the same way."""
    return bool(pattern) and "/" not in pattern and WILD.isdisjoint(pattern.replace("*", "").replace("?", ""))


def _names(effect: Effect, facts: Facts) -> tuple[str, ...] | None:
    """The paths of an effect that are known and in the workspace; None if one of them is not."""
    target = effect.target
    if not target.name or not target.certain:
        return None
    names = facts.expansions.get(target.raw or target.name) if target.pattern else (target.raw or target.name,)
    if names is None:
        return None
    found: list[str] = []
    for name in names:
        leads = facts.canonical.get(name, name)
        if not leads or not inside((name, leads), facts) or name in facts.roots or leads in facts.roots:
            return None
        both = leads != name and (effect.recursive or effect.operation is Operation.WRITE)
        found += (name, leads) if both else (name,)
    return tuple(found)


def is_secret(path: str, policy: Policy, facts: Facts) -> bool:
    """Whether a person must be asked before a file is read: no copy of it is kept."""
    effect = Effect(Operation.READ, Target(Kind.PATH, path))
    if floor.judge_effect(policy.floor, effect, (path,), facts) is not None:
        return True
    rules = (policy.deny, policy.ask)
    return any(True for each in rules for _ in each.reaching_effect(effect, (path,)))


def undoable_dangers(policy: Policy) -> frozenset[str]:
    """The dangers that a complete copy answers: those of shipped ask rules that say so, and of no other ask rule."""
    rules = policy.ask.about(RuleKind.DANGER)
    others = {rule.spec for rule in rules if not rule.undoable}
    return frozenset(rule.spec for rule in rules if rule.undoable and rule.spec not in others)


def may_lift(decision: Decision, policy: Policy) -> bool:
    """Whether a copy of everything destroyed would settle every question of a call."""
    if decision.outcome is not ASK or decision.mode not in MOVING:
        return False
    rules = frozenset(f"danger({danger})" for danger in undoable_dangers(policy))
    return all(_answered(part, rules) for part in decision.parts if part.outcome is not ALLOW)


def _answered(part: Part, rules: frozenset[str]) -> bool:
    if part.outcome is not ASK or not rules.issuperset(part.also):
        return False
    if part.layer is Layer.MODE:
        return part.code == "mode.delete"
    return part.layer is Layer.ASK and part.source.startswith("shipped:") and part.rule in rules


def lifted(decision: Decision) -> Decision:
    """The decision after a complete copy is kept."""
    reason = "it is copied first, and `assent undo` puts it back"
    parts = tuple(
        Part(ALLOW, Layer.MODE, CODE, reason, what=part.what, where=part.where) if part.outcome is ASK else part
        for part in decision.parts
    )
    deciding = next(part for part in parts if part.code == CODE)
    return decision.but(ALLOW, deciding, parts)


def not_undoable(decision: Decision, why: str) -> Decision:
    """The same question, with the note that the loss cannot be undone."""

    def said(part: Part) -> Part:
        if part is not decision.deciding:
            return part
        return part.but(reason=f"{part.reason}; it cannot be undone: {why}")

    return decision.but(decision.outcome, said(decision.deciding), tuple(map(said, decision.parts)))


def refused(decision: Decision, why: str) -> Decision:
    """A question in place of an allow, if copies are required and there is none."""
    reason = f"`undo.required` is set, and no copy can be kept: {why}"
    flip = "`undo.required = false` in the file that sets it"
    part = Part(ASK, Layer.MODE, "undo.required", reason, what=decision.deciding.what, flip=flip, high=True)
    return decision.but(ASK, part, (part, *decision.parts))
