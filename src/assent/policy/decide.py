"""Lowering + Facts + Policy → Decision: the six layers, in order, on every part of a call.

Each part is judged by the first layer that matches; the call gets the strictest result. Pure and synchronous."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from assent.contract import (
    Decision,
    Effect,
    Facts,
    Gap,
    Invocation,
    Kind,
    Layer,
    Lowering,
    Operation,
    Outcome,
    Part,
    Target,
    Via,
    loses,
)
from assent.policy import below, concerns, dangers, floor, match, modes, strict
from assent.policy.concerns import inside
from assent.policy.floor import describe
from assent.policy.modes import Concern, Mode, settle
from assent.policy.parts import (
    INERT_PART,
    NOTHING_PART,
    READ_ONLY_PART,
    by_gap,
    by_mode,
    by_pack,
    by_rule,
    gravest,
    nobody_answers,
    place,
)
from assent.policy.policy import Policy
from assent.policy.rules import Origin, Rule
from assent.policy.ruleset import NAMELESS
from assent.policy.strict import StrictRules

if TYPE_CHECKING:
    from assent.policy.strict import Skips, Subject

    # An allow rule from outside the policy that covers a subject; the names are the names of an effect's path.
    Allows = Callable[[Subject, tuple[str, ...]], Rule | None]
    # Receives the parts found for a subject.
    Watch = Callable[[Subject, list[Part]], None]

ALLOW, ASK, DENY = Outcome.ALLOW, Outcome.ASK, Outcome.DENY
WORDS = {mode: mode.word for mode in Mode}
# Gaps that leave the tree incomplete, so that deny rules search the raw text.
CUT_SHORT = (
    *("gap.shell.syntax", "gap.shell.limit", "gap.shell.unmodelled", "gap.shell.internal", "gap.shell.unread"),
    *("gap.shell.control-character", "gap.shell.here-document", "gap.shell.substitution", "gap.shell.extglob"),
)


def decide(lowering: Lowering, facts: Facts, policy: Policy, *, headless: bool = False) -> Decision:
    """The outcome on a call, with its receipt."""
    decision = Judge(lowering, facts, policy).decision()
    if decision.outcome is ALLOW:
        return decision
    from assent.policy.flips import checked  # not needed if the call is allowed

    def again(mode: Mode, skips: Skips) -> Decision:
        return Judge(lowering, facts, policy, mode=mode, skips=skips).decision()

    decision = checked(decision, policy.mode, again)
    return nobody_answers(decision) if headless and decision.outcome is ASK else decision


class Judge:
    """One decision: the parts judged so far and the rules that matched without deciding.

    A call can be decided again in another `mode`, without the deny and ask rules that it `skips`, with more that it
    `allows`, and with a function that can `watch` the parts."""

    __slots__ = (
        *("lowering", "facts", "policy", "mode", "strict", "allows", "watch"),
        *("parts", "allowed", "whole", "high", "void"),
    )

    def __init__(
        self,
        lowering: Lowering,
        facts: Facts,
        policy: Policy,
        *,
        mode: Mode | None = None,
        skips: Skips | None = None,
        allows: Allows | None = None,
        watch: Watch | None = None,
    ) -> None:
        self.lowering = lowering
        self.facts = facts
        self.policy = policy
        self.mode = policy.mode if mode is None else mode
        self.strict = StrictRules(policy, self.mode, skips, facts.linked, lowering.given)
        self.allows = allows
        self.watch = watch
        self.parts: list[Part] = []
        self.allowed: list[Rule | None] = []
        self.whole: Rule | None = None
        self.high = False
        self.void: frozenset[int] | None = None

    def decision(self) -> Decision:
        self._tool()
        for invocation in self.lowering.invocations:
            self.allowed.append(self.command(invocation))
        if self.lowering.text:
            self._text(self.lowering.text)
        before = below.puts(self.lowering, self.facts)
        for at, effect in enumerate(self.lowering.effects):
            if before and below.overtaken(effect, at, before):
                self.parts.append(self._links_unknown(effect, effect.target.text))
            self._effect(effect)
        if self.lowering.possible is not None:
            from assent.policy import possible

            self.parts.extend(possible.parts(self, self.lowering.possible))
        self.parts.extend(map(self._gap, self.lowering.gaps))
        if self.lowering.text:
            self._named_hosts()
        return self._joined()

    # -------------------------------------------------------- the tool itself

    def _tool(self) -> None:
        tool = self.lowering.tool
        self._by_tool(tool)
        if self.whole is None and self.allows is not None and tool != "bash":
            self.whole = self.allows(tool, ())
        if self.watch is not None:
            self.watch(tool, self.parts[:])

    def _by_tool(self, tool: str) -> None:
        """Rules on the whole tool: they match even a call that does nothing."""
        part = self.strict.on_tool(tool)
        if part is not None:
            self.parts.append(part)
            return
        allow = self.policy.allow
        if tool == "bash":
            whole = allow.commands.whole if allow.filled else ()
            self.whole = next((rule for rule in whole if not rule.excepts), None) if whole else None
        else:
            self.whole = next(allow.naming_tool(tool, self.lowering.given, aggressive=False), None)

    # -------------------------------------------------------- commands

    def _text(self, text: str) -> None:
        """Rules that span operators, on the whole command; if it was not parsed to the end, all rules."""
        lowering, before = self.lowering, len(self.parts)
        single = len(lowering.invocations) == 1 and lowering.invocations[0].source == text
        if not lowering.gaps and (single or not self.strict.spans()):
            return
        part = self.strict.on_text(text, anywhere=any(gap.code.startswith(CUT_SHORT) for gap in lowering.gaps))
        if part is not None:
            self.parts.append(part)
        if self.watch is not None:
            self.watch("", self.parts[before:])

    def command(self, invocation: Invocation) -> Rule | None:
        """Judge a command by floor, deny and ask rules; return the allow rule that covers it."""
        before = len(self.parts)
        rule = self._by_command(invocation)
        if rule is None and self.allows is not None and len(self.parts) == before:
            rule = self.allows(invocation, ())
        if self.watch is not None:
            self.watch(invocation, self.parts[before:])
        return rule

    def _by_command(self, invocation: Invocation) -> Rule | None:
        if invocation.unknown:
            self._unknown_words(invocation)
        part = None
        if self.policy.commands.holds(invocation) or floor.checks_command(invocation, self.facts):
            part = floor.judge_command(self.policy.floor, invocation, self.facts)
            if part is None:
                part = self.strict.on_command(invocation)
        if part is not None:
            self.parts.append(part)
            return None
        return self._covering(invocation)

    def _covering(self, invocation: Invocation) -> Rule | None:
        if not self.policy.allow.filled or not concerns.in_workspace(invocation, self.facts):
            return None
        rule = self.policy.allow.proving_command(invocation)
        if rule is not None and rule.origin is Origin.PACK and self._beyond_pack(invocation):
            self.strict.lost[rule] = None
            return None
        if rule is None and invocation.readings:
            rules = {self._covering(invocation.reading(words)) for words in invocation.readings}
            found = rules.pop()
            return found if not rules and found is not None and found.origin is Origin.PACK else None
        return rule

    def _beyond_pack(self, invocation: Invocation) -> bool:
        """Packs are for work in the workspace, but tools may write files named by options: if deny or ask rules match
        such a file, a person is asked. Git's words are analysed one by one."""
        if match.leaves(invocation, self.facts):
            return True
        options = match.given_to_options(invocation, self.facts.home) if invocation.program != "git" else ()
        return any(map(self._guarded, options))

    def _guarded(self, path: str) -> bool:
        """Whether floor, deny or ask rules match a write of a path."""
        effect = Effect(Operation.WRITE, Target(Kind.PATH, path))
        names = match.known_as(match.names_of(effect.target, self.facts), self.facts)
        if self._is_free(effect, names):
            return False
        part = floor.judge_effect(self.policy.floor, effect, names, self.facts)
        return part is not None or self.strict.on_effect(effect, names) is not None

    # -------------------------------------------------------- possible values of unknown words

    def _unknown_words(self, invocation: Invocation) -> None:
        """Rules that match the command with some value of its unknown words."""
        from assent.policy import possible

        if reaching := possible.reaching(self, invocation):
            part = by_rule(reaching[0], ASK, reaching[1], f"run `{' '.join(invocation.words)}`", place(invocation))
            self.parts.append(possible.asked(part))

    def another(self, lowering: Lowering) -> Judge:
        return Judge(lowering, self.facts, self.policy)

    # -------------------------------------------------------- code that a command runs

    def _gap(self, gap: Gap) -> Part:
        """Judge a gap. In code that a command runs, the command's allow rule covers it; if the code is untouched, it is
        judged like any code that runs."""
        rule = self._outer(gap.within)
        if rule is not None and self.mode is not Mode.PLAN:
            return by_rule(rule, ALLOW, Layer.ALLOW, gap.text, gap.where)
        if self.facts.routine and self.mode is not Mode.PLAN and (run := self._routine_run(gap.within)):
            return by_pack(self.facts.routine[run], run)
        if gap.file in self.facts.untouched:
            target = Target(Kind.PATH, gap.file)
            return by_mode(Concern.EXECUTE, self.mode, Effect(Operation.EXECUTE, target, gap.where), self.facts)
        return by_gap(gap, self.mode)

    def _routine_run(self, index: int) -> Effect | None:
        """The code that a command runs, if a pack is meant for it."""
        runs = (each for each in self.facts.routine if each.operation is Operation.EXECUTE)
        return next((each for each in runs if index >= 0 and each.invocation == index), None)

    def _outer(self, index: int) -> Rule | None:
        """The allow rule of a command, or of one whose code contains it."""
        rules = (self.allowed[each] for each in self.lowering.runners(index))
        return next((rule for rule in rules if rule is not None), None)

    # -------------------------------------------------------- effects

    def _effect(self, effect: Effect) -> None:
        before = len(self.parts)
        self._by_effect(effect)
        if self.watch is not None:
            self.watch(effect, self.parts[before:])

    def _by_effect(self, effect: Effect) -> None:
        target = effect.target
        names: tuple[str, ...] = ()
        pack = self.facts.routine.get(effect, "") if self.facts.routine else ""
        if target.kind is Kind.PATH:
            names = match.names_of(target, self.facts) if target.name else match.ending_of(target)
        elif target.kind is Kind.TREE:
            self._tree(effect)
        if effect.recursive or target.pattern or target.under:
            self._below(effect)
        if effect.operation is Operation.EXECUTE and effect.invocation >= 0 and self._in_guarded_folder(effect):
            return
        known = match.known_as(names, self.facts) if self.facts.aliases else names
        marks = dangers.found_in(effect, known, self.facts)
        effect = effect if marks is effect.dangers else effect.but(dangers=marks)
        if not dangers.HIGH.isdisjoint(marks) or effect.operation is Operation.DELETE:
            self.high = True
        if not marks and self._is_free(effect, known):
            self.parts.append(self._open(effect, names, pack))
            return
        part = floor.judge_effect(self.policy.floor, effect, known, self.facts)
        if part is not None and part.outcome is DENY and "broad-delete" not in marks:
            self.parts.append(part)
            return
        ruled = self.strict.on_effect(effect, known, settled=modes.ANSWERED.get(pack, ()))
        if target.under and not target.name and (ruled is None or ruled.outcome is not DENY):
            held = self._by_folders(effect)
            ruled = held if held is not None else ruled
        if part is not None and part.outcome is DENY:
            # Denied either way: the loss of a whole root says more than one sensitive file in it.
            self.parts.append(ruled if ruled is not None and ruled.outcome is DENY else part)
            return
        if ruled is not None and (part is None or ruled.outcome > part.outcome):
            part = ruled
        # INVARIANT: an ask, whoever asks, never opens what plan mode denies.
        if part is not None and (self.mode is not Mode.PLAN or part.outcome is DENY):
            self.parts.append(part)
            return
        settled = self._open(effect, names, pack)
        self.parts.append(part if part is not None and part.outcome >= settled.outcome else settled)

    def _below(self, effect: Effect) -> None:
        """Floor, deny and ask on the targets of links below a folder, and on single files there."""
        for each in below.followed(effect, self.facts):
            names = match.names_of(each.target, self.facts)
            within = each.operation in concerns.LOOKING or inside(names, self.facts)
            if within and self._is_free(each, match.known_as(names, self.facts)):
                continue
            if each.operation in concerns.LOOKING:
                self._effect(each)
            else:  # it may be written through the link
                self._through(each, match.known_as(names, self.facts))
        root = below.unproved(effect, self.facts)
        if root:
            self.parts.append(self._links_unknown(effect, root))
        part = self.strict.on_files_below(effect, self.facts)
        if part is not None:
            self.parts.append(part)

    def _through(self, effect: Effect, names: tuple[str, ...]) -> None:
        part, code = floor.judge_effect(self.policy.floor, effect, names, self.facts), "floor.holds-sensitive"
        if part is None:
            self.parts.append(self._links_unknown(effect, effect.target.text))
        else:
            self.parts.append(Part(ASK, Layer.FLOOR, code, part.reason, what=part.what, where=part.where, high=True))

    def _links_unknown(self, effect: Effect, root: str) -> Part:
        """Following unknown links counts as an unknown target."""
        part = by_mode(Concern.GAP, self.mode, effect, self.facts)
        if part.outcome is not ASK:
            return part
        reason = below.UNPROVED.format(root)
        return Part(ASK, Layer.MODE, "mode.tree", reason, what=part.what, where=part.where, flip="name the files")

    def _in_guarded_folder(self, effect: Effect) -> bool:
        """Whether unproved code runs in a guarded folder: it may read the files there."""
        for cwd in self.lowering.invocations[effect.invocation].cwds:
            if not cwd or inside((cwd,), self.facts):
                continue
            target = Target(Kind.PATH, cwd)
            names = match.names_of(target, self.facts)
            looks = Effect(Operation.READ, target, effect.where, invocation=effect.invocation)
            known = match.known_as(names, self.facts) if self.facts.aliases else names
            part = floor.judge_effect(self.policy.floor, looks, known, self.facts)
            if part is not None and part.outcome is DENY:
                self.parts.append(part)
                return True
        return False

    def _tree(self, effect: Effect) -> None:
        """Floor, deny and ask on every file that git would write or remove."""
        written, removed = self.facts.trees.get(effect.target.name, ((), ()))
        for operation, paths in ((Operation.WRITE, written), (Operation.DELETE, removed)):
            for path in paths:
                target = Target(Kind.PATH, path, certain=True)
                each = Effect(
                    operation,
                    target,
                    effect.where,
                    invocation=effect.invocation,
                    recursive=operation is Operation.DELETE and loses(effect.target),
                    lossless=True,
                )
                names = match.names_of(target, self.facts)
                if not inside(names, self.facts) or not self._is_free(each, match.known_as(names, self.facts)):
                    self._effect(each)

    def _is_free(self, effect: Effect, names: tuple[str, ...]) -> bool:
        """Whether floor, deny and ask certainly do not match an effect without marks. Most effects skip layers 1 to 3
        this way."""
        target = effect.target
        if target.kind in NAMELESS:
            return True
        if target.kind is not Kind.PATH or not target.name or not floor.silent(effect, names, self.facts):
            return False
        rules = self.policy.paths
        if effect.recursive and (effect.operation is Operation.WRITE or any(rules.holds_below(name) for name in names)):
            return False
        return not any(rules.holds(name) for name in names)

    def _by_folders(self, effect: Effect) -> Part | None:
        """An unnamed path may be anything in its folders: rules on these match it, and a person's rule on something
        inside makes it a question. Outside the workspace it counts as a read of the whole folder."""
        found: Part | None = None
        for folder in effect.target.under:
            target = Target(Kind.PATH, folder, effect.target.text, pattern=match.aims(folder))
            whole = Effect(
                effect.operation,
                target,
                effect.where,
                recursive=effect.operation in concerns.LOOKING and not inside((folder,), self.facts),
                invocation=effect.invocation,
                via=effect.via,
            )
            names = match.known_as(match.names_of(target, self.facts), self.facts)
            part = floor.judge_effect(self.policy.floor, whole, names, self.facts)
            part = part if part is not None else self.strict.on_unnamed(whole, names, effect)
            if part is not None and (found is None or part.outcome > found.outcome):
                found = part
        return found

    def _open(self, effect: Effect, names: tuple[str, ...], pack: str = "") -> Part:
        """Layers 4 to 6, if floor, deny and ask do not match. `pack`: the effect is proved to be its work."""
        runs = effect.operation is Operation.EXECUTE
        if effect.via is Via.PERHAPS or (runs and concerns.has_no_effect_left(effect, self.facts)):
            return READ_ONLY_PART
        concern = concerns.of(effect, names, self.facts)
        rule = self._allowing(effect, names) if concern is not Concern.DESTROY else self._naming(effect)
        if concern is Concern.GAP and effect.invocation >= 0:
            command = self.lowering.invocations[effect.invocation]
            if command.file in self.facts.untouched or (rule is not None and rule is self._outer(command.within)):
                concern = Concern.EXECUTE
        if rule is None and self.allows is not None:
            rule = self.allows(effect, names)
        if rule is not None and concern is not Concern.GAP:
            # Plan mode denies changes even if an allow rule matches.
            if self.mode is not Mode.PLAN or settle(concern, Mode.PLAN) is not DENY:
                return by_rule(rule, ALLOW, Layer.ALLOW, describe(effect), effect.where)
            self.strict.lost[rule] = None
        if pack and concern in modes.ROUTINE and self.mode is not Mode.PLAN:
            return by_pack(pack, effect)
        return READ_ONLY_PART if concern is Concern.LOOK else by_mode(concern, self.mode, effect, self.facts)

    def _allowing(self, effect: Effect, names: tuple[str, ...]) -> Rule | None:
        if self.whole is not None:
            return self.whole
        if effect.invocation >= 0:
            command = self.lowering.invocations[effect.invocation]
            own = self.allowed[effect.invocation] if effect.via is not Via.REDIRECT else None
            rule = own if own is not None else self._outer(command.within)
            if rule is not None and self._covers(rule, effect, names):
                return rule
        if effect.operation is Operation.EXECUTE and effect.target.kind is not Kind.TOOL:
            return None
        allow, given = self.policy.allow, self.lowering.given
        rule = allow.proving_effect(effect, names, given) if allow.filled else None
        if rule is not None and rule.origin is Origin.PACK and effect.operation is Operation.DELETE:
            broad = effect.target.pattern or dangers.TEMPORARY in effect.dangers
            return None if broad else rule  # packs only remove named files
        return rule

    def _naming(self, effect: Effect) -> Rule | None:
        """The allow rule that names the destructive action; no pack and no rule on a whole tool covers it."""
        found: Iterable[Rule] = ()
        if effect.target.kind is Kind.TOOL:
            named = self.policy.allow.naming_tool(effect.target.name, self.lowering.given, aggressive=False)
            found = (self.whole, *named) if self.whole is not None else named
        elif effect.invocation >= 0 and effect.via is not Via.REDIRECT:
            first = self.allowed[effect.invocation]
            if first is None or not self._covers(first, effect, ()):
                return None
            invocation = self.lowering.invocations[effect.invocation]
            found = (first, *self.policy.allow.proving_commands(invocation))
        return next((rule for rule in found if concerns.names_destroyed(rule, effect)), None)

    def _covers(self, rule: Rule, effect: Effect, names: tuple[str, ...]) -> bool:
        """Whether the allow rule of a command covers one of its effects."""
        if self.void is None:
            self.void = concerns.fed_from_outside(self.lowering, self.facts)
        return effect.invocation not in self.void and not concerns.exceeds(rule, effect, names, self.facts)

    def _named_hosts(self) -> None:
        """A host of a deny or ask rule in the words of a command that runs something is a question at least."""
        named = strict.named_hosts(self.policy, self.lowering)
        matched = {part.rule for part in self.parts if part.outcome is not ALLOW} if named else set[str]()
        self.parts += [
            by_rule(rule, ASK, layer, f"name the host {rule.spec}", "command", code="deny.host-named")
            for rule, layer in named
            if rule.text not in matched
        ]

    # -------------------------------------------------------- the whole call

    def _joined(self) -> Decision:
        # INVARIANT: once a part has been judged, another part never loosens the result.
        parts = self.parts
        if not parts:
            parts.append(INERT_PART if self.lowering.inert or self.lowering.invocations else NOTHING_PART)
        deciding, lost = gravest(parts), self.strict.lost
        if deciding.outcome is not ALLOW:
            lost.update(dict.fromkeys(rule for rule in (self.whole, *self.allowed) if rule is not None))
        risk = "low" if deciding.outcome is ALLOW else "medium"
        return Decision(
            deciding.outcome,
            deciding,
            tuple(parts),
            lost=tuple((rule.text, rule.source) for rule in lost if rule.text != deciding.rule),
            mode=WORDS[self.mode],
            risk="high" if self.high or deciding.high else risk,
            tool=self.lowering.tool,
        )
