"""Lower, observe, decide: the three stages by which a call is judged, in this order; and what entries pass to the gate.

The only catch-all is here: a fault inside becomes a denial, never an allow. `configure` makes the settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

from assent.contract import (
    Call,
    Decision,
    Facts,
    Kind,
    Layer,
    Lowering,
    Outcome,
    Part,
    PayloadError,
    PolicyError,
    Value,
    keep,
)
from assent.contract.tools import ALIASES, OURS
from assent.effects import native, runtimes, shell
from assent.effects.declared import Tool
from assent.effects.shell import commands
from assent.facts.links import Links
from assent.facts.observe import SOUGHT, observe
from assent.policy.decide import decide
from assent.policy.document import Example
from assent.policy.modes import Mode
from assent.policy.policy import Policy
from assent.policy.settings import Settings
from assent.state import pause, resident

if TYPE_CHECKING:
    T = TypeVar("T")
    Bound = tuple[tuple[str, ...], str, bool, Mode]  # workspace, home folder, whether case is folded, mode
    Keep = Callable[[Settings, Policy, tuple[str, ...], str, bool], None]

KEPT = frozenset("bash read write delete move list search fetch".split())  # names that no declaration replaces
REMEMBERED, REMEMBERED_LENGTH = 256, 2000  # commands, characters of one
SHARED = 8  # settings whose policies the engines of one process share
_shared: list[tuple[Settings, dict[Bound, Policy]]] = []


class Judged(Value):
    """A decision and what it is based on, which is None where the gate refused to decide."""

    __slots__ = ("decision", "lowering", "facts", "policy")

    def __init__(
        self,
        decision: Decision,
        lowering: Lowering | None = None,
        facts: Facts | None = None,
        policy: Policy | None = None,
    ) -> None:
        self.decision = decision
        self.lowering = lowering
        self.facts = facts
        self.policy = policy

    def but(self, decision: Decision) -> Judged:
        """The same reading with another decision."""
        return Judged(decision, self.lowering, self.facts, self.policy)


class Settled(Value):
    """A call's decision after grants and classifier, as it was recorded under `id`. An ask still waits for a person."""

    __slots__ = ("judged", "id")

    def __init__(self, judged: Judged, id: str) -> None:
        self.judged = judged
        self.id = id

    @property
    def outcome(self) -> Outcome:
        return self.judged.decision.outcome


class Engine:
    """Decides calls by one set of settings.

    `own` are Assent's own files, which the floor protects; `state` is its folder, which says whether that is paused.
    `examples` of rules are checked here: a rule that contradicts one raises PolicyError. `keep` is called when settings
    were bound to a workspace. `tools` are declared by the embedding program."""

    def __init__(
        self,
        settings: Settings,
        *,
        own: tuple[str, ...] = (),
        examples: tuple[Example, ...] = (),
        state: str = "",
        keep: Keep | None = None,
        tools: Mapping[str, Tool] | None = None,
    ) -> None:
        self.settings, self._policies = _sharing(settings) if keep is None else (settings, {})
        self._own = own
        self._state = state
        self._keep = keep
        self._tools = {name.lower(): tool for name, tool in tools.items()} if tools else {}
        self._tables = commands.Tables(settings.commands) if settings.commands else commands.shipped
        self._lowered: dict[tuple[str, str, str, str], Lowering] = {}
        self._sought: bool | None = None
        self._last: tuple[Call, Lowering] | None = None  # lowered by `is_quick`, to be judged next
        self._decisions: dict[int, tuple[Lowering, Policy, bool, Facts, Decision]] = {}
        if examples:
            from assent.policy.document import check_example

            for example in examples:
                check_example(example, self._read_example)

    def decide(self, call: Call, *, headless: bool = False, links: Mapping[str, str] | None = None) -> Decision:
        """Allow, ask or deny, with a receipt. Never raises. `links` replace facts of the host."""
        return self.judge(call, headless=headless, links=links).decision

    def judge(
        self,
        call: Call,
        *,
        mode: Mode | None = None,
        headless: bool = False,
        links: Mapping[str, str] | None = None,
        moment: Links | None = None,
    ) -> Judged:
        """The decision with what it is based on. Never raises. `mode` replaces that of the settings. `moment` has what
        was observed of the host after the call was made, and need not be observed again."""
        try:
            last, self._last = self._last, None
            lowering = last[1] if last is not None and last[0] is call else self.lower(call)
            key = ("facts", self, id(lowering), call.roots, call.home, call.cwd)
            facts = shared(moment, key, self._observed, call, lowering, links, moment)[1]
            bound = self.settings.mode if mode is None else mode
            policy = self._policy(facts.roots, facts.home, bool(facts.folds_case), bound)
            return Judged(self._decided(lowering, facts, policy, headless), lowering, facts, policy)
        except PayloadError as error:
            return Judged(refusal("gap.call.input", str(error), self.settings.mode.word))
        except Exception as error:  # whatever breaks inside, the call does not run
            reason = f"the gate failed inside: {type(error).__name__}: {error}"
            return Judged(refusal("gate.fault", reason, self.settings.mode.word))

    def _observed(
        self, call: Call, lowering: Lowering, links: Mapping[str, str] | None, moment: Links | None
    ) -> tuple[Lowering, Facts]:
        """The facts about a call, with its lowering, so that this is not freed while its id is a key."""
        state = self._state
        paused = bool(state) and shared(moment, ("pause", state), pause.lasts, state)
        return lowering, observe(
            lowering,
            roots=call.roots,
            home=call.home,
            cwd=call.cwd,
            own=self._own,
            state=state,
            given=links,
            paused=paused,
            server=resident.server(state, lowering),
            moment=moment,
            seeks=self._seeks,
        )

    def _seeks(self) -> bool:
        """Whether rules that a person wrote may match single files below a folder that is read as a whole."""
        if self._sought is None:
            self._sought = self.settings.seeks()
        return self._sought

    def lower(self, call: Call) -> Lowering:
        if self._tools and (tool := self._tools.get(call.tool.lower())) is not None and is_declarable(call):
            from assent.effects import declared

            return declared.lower(call, tool, self._shell)
        return native.lower(call, self._shell)

    def is_quick(self, call: Call) -> bool:
        """Whether a short call is observed quickly: without git, without matching globs, without walking folders. Never
        raises. To be called right before the call is judged."""
        try:
            lowering = self.lower(call)
        except Exception:  # `judge` reports it
            return False
        self._last = (call, lowering)
        return not any(
            effect.target.pattern
            or effect.target.kind is Kind.TREE
            or effect.opens()
            or (effect.recursive and effect.operation in SOUGHT and self._seeks())
            for effect in lowering.effects
        )

    def _shell(self, call: Call, text: str) -> Lowering:
        """Lower a command. The result depends only on the key, and agents repeat the same few commands."""
        key = (text, call.cwd, call.home, call.shell)
        lowering = self._lowered.get(key)
        if lowering is None:
            lowering = shell.lower(text, cwd=call.cwd, home=call.home, shell=call.shell, tables=self._tables)
            if len(text) <= REMEMBERED_LENGTH:
                keep(self._lowered, key, lowering, REMEMBERED)
        return lowering

    def _decided(self, lowering: Lowering, facts: Facts, policy: Policy, headless: bool) -> Decision:
        """Decide by these arguments only. Facts are observed for every call; where they are the same as the last time,
        so is the decision."""
        known = self._decisions.get(id(lowering))
        if known is not None:
            read, by, alone, seen, decision = known
            if read is lowering and by is policy and alone is headless and seen == facts:
                return decision
        decision = decide(lowering, facts, policy, headless=headless)
        if lowering.text and len(lowering.text) <= REMEMBERED_LENGTH:
            keep(self._decisions, id(lowering), (lowering, policy, headless, facts, decision), REMEMBERED)
        return decision

    def _read_example(self, text: str) -> Lowering:
        from assent.policy.parse import HOME, ROOT

        return shell.lower(text, cwd=ROOT, home=HOME, shell="bash", tables=self._tables)

    def _policy(self, roots: tuple[str, ...], home: str, fold: bool, mode: Mode) -> Policy:
        """The settings bound to a workspace, cached."""
        key = (roots, home, fold, mode)
        policy = self._policies.get(key)
        if policy is None:
            if len(self._policies) > 64:
                self._policies.clear()
            policy = self._policies[key] = self.settings.bind(roots, home, fold=fold, mode=mode)
            if self._keep is not None:
                self._keep(self.settings, policy, roots, home, fold)
        return policy


class Request:
    """A call at the gate. `host_mode` is the mode of the program that makes the call; `headless`: nobody can answer.
    `reopen` gives the engine by the files after a model was asked, `patience` is the time in seconds for asking it
    (0: no limit). `moment`: as in Engine."""

    __slots__ = ("engine", "call", "project", "host_mode", "headless", "reopen", "patience", "moment")

    def __init__(
        self,
        engine: Engine,
        call: Call,
        project: str,
        *,
        host_mode: str = "",
        headless: bool = False,
        reopen: Callable[[], Engine] | None = None,
        patience: float = 0.0,
        moment: Links | None = None,
    ) -> None:
        self.engine = engine
        self.call = call
        self.project = project
        self.host_mode = host_mode
        self.headless = headless
        self.reopen = reopen
        self.patience = patience
        self.moment = moment


def _sharing(settings: Settings) -> tuple[Settings, dict[Bound, Policy]]:
    """Settings with the policies bound from equal ones: a program may have a gate for each of its users, most of them
    with the same rules."""
    for known in _shared:
        if known[0] == settings:
            return known
    found: tuple[Settings, dict[Bound, Policy]] = (settings, {})
    _shared.append(found)
    del _shared[:-SHARED]
    return found


def is_declarable(call: Call) -> bool:
    """Whether a program's declaration may apply to a call. In a runtime with its own tool names, those of shells, files
    and fetching keep their meaning, so that a declared function `bash` loosens nothing for another agent here."""
    known = runtimes.is_known(call.runtime)
    return not known or (call.runtime != OURS and ALIASES.get(call.tool.lower(), "") not in KEPT)


def shared(moment: Links | None, key: tuple[object, ...], do: Callable[..., T], *given: object) -> T:
    """The result of a function, shared by all calls of a moment."""
    return do(*given) if moment is None else moment.once(key, do, *given)


def refusal(code: str, reason: str, mode: str = "", flip: str = "") -> Decision:
    """A denial that is not made by a layer: the gate refuses to decide."""
    part = Part(Outcome.DENY, Layer.LOAD, code, reason, flip=flip, high=True)
    return Decision(Outcome.DENY, part, (part,), mode=mode, risk="high")


def unloaded(error: PolicyError) -> Decision:
    """The answer to every call while the policy does not load."""
    return refusal("policy.load", f"the policy does not load: {error}", flip="correct the policy")
