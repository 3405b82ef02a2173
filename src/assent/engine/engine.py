"""Lower, observe, decide: the three stages that judge a call, in this order; and the requests that entries pass to the
gate.

The only catch-all is here: a fault inside becomes a denial, never an allow. `configure` makes the settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

from assent.contract import (
    Arguments,
    Call,
    Code,
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
from assent.contract.packs import PROVED
from assent.contract.tools import ALIASES, OURS, canonical
from assent.effects import native, runtimes, shell
from assent.effects.declared import Tool
from assent.effects.shell import commands
from assent.facts.links import Links
from assent.facts.observe import SOUGHT, observe
from assent.policy.decide import decide
from assent.policy.document import Example
from assent.policy.modes import Mode
from assent.policy.policy import Policy
from assent.policy.rules import WORDS
from assent.policy.settings import Settings
from assent.state import pause, resident

if TYPE_CHECKING:
    T = TypeVar("T")
    Bound = tuple[tuple[str, ...], str, bool, Mode, str]  # workspace, home, whether case is folded, mode, sub-agent
    Keep = Callable[[Settings, Policy, tuple[str, ...], str, bool], None]

    from assent.contract.approval import Consequence
    from assent.facts.code import CodeFiles
    from assent.facts.session_history import SessionHistory

KEPT = frozenset("bash read write delete move list search fetch".split())  # names that declarations cannot replace
REMEMBERED, REMEMBERED_LENGTH = 256, 2000  # commands, characters of one
PROGRAM, KEEPS = "program:", "keeps:"  # keys in the code files: a program by its name, and a persistent shell
SHELL_KEPT = "shell"
ROUNDS = 6  # for code files that other code files run
SHARED = 8  # settings whose policies the engines of one process share
_shared: list[tuple[Settings, dict[Bound, Policy]]] = []


class Judged(Value):
    """A decision and its basis, None if the gate refused to decide."""

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
        """The same basis with another decision."""
        return Judged(decision, self.lowering, self.facts, self.policy)


class Settled(Value):
    """A call's decision after grants and classifier, as recorded under `id`. An ask still waits for a person. `command`
    runs in place of the call's own command if it runs contained (`""`: the call runs unchanged). `consequences` are
    those of an ask, as recorded; None if they were not measured."""

    __slots__ = ("judged", "id", "command", "consequences")

    def __init__(
        self, judged: Judged, id: str, command: str = "", consequences: tuple[Consequence, ...] | None = None
    ) -> None:
        self.judged = judged
        self.id = id
        self.command = command
        self.consequences = consequences

    @property
    def outcome(self) -> Outcome:
        return self.judged.decision.outcome


class Engine:
    """Decides calls by one set of settings.

    `own` are Assent's own files, which the floor protects; `state` is its folder, which says whether that is paused.
    `examples` of rules are checked here: a rule that contradicts one raises PolicyError. `keep` is called after
    settings are bound to a workspace. `tools` are declared by the embedding program, in addition to those of the
    settings."""

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
        if settings.tools:
            from assent.effects import declared

            self._tools = {**{name: declared.by_operations(said) for name, said, _ in settings.tools}, **self._tools}
        self._tables = commands.Tables(settings.commands) if settings.commands else commands.shipped
        self._lowered: dict[tuple[str, str, str, str], Lowering] = {}
        self._proves = tuple(name for name, _ in settings.packs if name in PROVED)
        self._sought: bool | None = None
        self._last: tuple[Call, Lowering] | None = None  # lowered by `is_quick`, judged next
        self._through: dict[int, tuple[Lowering, CodeFiles, Lowering]] = {}
        self._decisions: dict[int, tuple[Lowering, Policy, bool, Facts, Decision]] = {}
        if examples:
            from assent.policy.document import check_example

            for example in examples:
                check_example(example, self._read_example, only_reads)

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
        files: Mapping[str, str] | None = None,
        untouched: tuple[str, ...] = (),
        session: str = "",
        record: str = "",
        moment: Links | None = None,
    ) -> Judged:
        """The decision with its basis. Never raises. `mode` replaces that of the settings. `moment` has facts already
        observed after the call was made. With given `links`, `files` are all existing code files, and these are
        `untouched`. `session` names the ledger of the session; its entries under `record` are of this call itself."""
        if call.definition and call.definition.get("state") == "twice":
            reason = f"the server lists `{call.tool}` twice, so it is unknown which tool this is"
            return Judged(refusal("mcp.definition-twice", reason, self.settings.mode.word))
        try:
            last, self._last = self._last, None
            lowering = last[1] if last is not None and last[0] is call else self.lower(call)
            given = files or {} if links is not None else None

            def written() -> list[str]:
                if given is not None:
                    return [path for path in given if path not in untouched]
                return [*self._history(call, session, record).written().paths] if session else []

            if lowering.wants:
                lowering = self._looked_through(call, lowering, given, written)
            if (call.path or call.keeps) and (lowering.invocations or lowering.sets):
                lowering = self._as_run(call, lowering, given, written, session, record)
            packs = self._concerned(lowering) if self._proves and links is None and session else ()
            looks = bool(lowering.read or lowering.manifests or packs) and links is None and bool(session)
            history = self._history(call, session, record) if looks else None
            name = session if history is not None else ""
            if moment is None:
                facts = self._observed(call, lowering, links, history, untouched, packs, None)[1]
            else:
                key = ("facts", self, id(lowering), call.roots, call.home, call.cwd, name)
                facts = moment.once(key, self._observed, call, lowering, links, history, untouched, packs, moment)[1]
            bound = self.settings.mode if mode is None else mode
            agent = call.agent.lower() if call.agent else ""
            policy = self._policy(facts.roots, facts.home, bool(facts.folds_case), bound, agent)
            return Judged(self._decided(lowering, facts, policy, headless), lowering, facts, policy)
        except PayloadError as error:
            return Judged(refusal("gap.call.input", str(error), self.settings.mode.word))
        except Exception as error:  # after a fault the call does not run
            reason = f"an internal error of the gate: {type(error).__name__}: {error}"
            return Judged(refusal("gate.fault", reason, self.settings.mode.word))

    def _observed(
        self,
        call: Call,
        lowering: Lowering,
        links: Mapping[str, str] | None,
        history: SessionHistory | None,
        untouched: tuple[str, ...],
        packs: tuple[str, ...],
        moment: Links | None,
    ) -> tuple[Lowering, Facts]:
        """The facts about a call, with its lowering, which must not be freed while its id is a key."""
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
            history=history,
            untouched=untouched,
            packs=packs,
            moment=moment,
            seeks=self._seeks,
        )

    def _concerned(self, lowering: Lowering) -> tuple[str, ...]:
        from assent.facts.routine import concerned  # if such a pack is on

        return concerned(lowering, self._proves)

    def _history(self, call: Call, session: str, record: str) -> SessionHistory:
        from assent.facts.session_history import SessionHistory  # of calls that run code files

        return SessionHistory(self._state, call.session, session, record)

    def _looked_through(
        self,
        call: Call,
        lowering: Lowering,
        given: Mapping[str, str] | None,
        written: Callable[[], list[str]],
        programs: Mapping[str, Code] | None = None,
    ) -> Lowering:
        """The call with the code it runs, read in rounds: files that one file runs are read in the next. `written` are
        the files that the session wrote, `programs` those that the call's PATH leads to."""
        from assent.facts.code import CodeFiles

        known = self._through.get(id(lowering)) if given is None and programs is None else None
        if known is not None and known[0] is lowering and known[1].unchanged(written):
            return known[2]
        files, found = CodeFiles(given, written), lowering
        if programs is not None:
            files.found.update(programs)
            found = self.lower(call, files.found)
        for _ in range(ROUNDS):
            if not files.add(found.wants):
                break
            found = self.lower(call, files.found)
        if given is None and programs is None and lowering.text and len(lowering.text) <= REMEMBERED_LENGTH:
            keep(self._through, id(lowering), (lowering, files, found), REMEMBERED)
        return found

    def _as_run(
        self,
        call: Call,
        lowering: Lowering,
        given: Mapping[str, str] | None,
        written: Callable[[], list[str]],
        session: str,
        record: str,
    ) -> Lowering:
        """The call with the programs in its PATH, and with the state its shell keeps for later calls, if these differ
        from its text."""
        from assent.facts import search_path

        known: dict[str, Code] = {}
        if call.keeps == SHELL_KEPT and lowering.sets:
            known[KEEPS] = Code()
            lowering = self._looked_through(call, lowering, given, written, known)
        searched = search_path.folders(call.path, call.roots, portable=given is not None) if call.path else ()
        if not searched or not lowering.invocations:
            return lowering
        history = self._history(call, session, record) if session and given is None else None
        for _ in range(ROUNDS):
            found = search_path.replaced(lowering, searched, history, given)
            new = {f"{PROGRAM}{name}": Code(path) for name, path in found.items()}
            if known.keys() >= new.keys():
                return lowering
            known.update(new)
            lowering = self._looked_through(call, lowering, given, written, known)
        raise PayloadError("the programs of this call are not found by its PATH; name them by their paths")

    def _seeks(self) -> bool:
        """Whether a person's rules may match single files below a folder that is read as a whole."""
        if self._sought is None:
            self._sought = self.settings.seeks()
        return self._sought

    def lower(self, call: Call, code: Mapping[str, Code] | None = None) -> Lowering:
        """The effects of a call. `code` are the code files read so far."""
        read = self._shell if code is None else self._shell_with(code)
        if self._tools and (tool := self._tools.get(call.tool.lower())) is not None and is_declarable(call):
            from assent.effects import declared

            lowering = declared.lower(call, tool, read)
        else:
            lowering = native.lower(call, read)
        if lowering.tool in WORDS and canonical(call.tool) in WORDS:
            return lowering  # rules on these have no conditions
        return lowering.called_with(Arguments(call.input, only_reads, call.annotations))

    def _shell_with(self, code: Mapping[str, Code]) -> Callable[[Call, str], Lowering]:
        def read(call: Call, text: str) -> Lowering:
            return shell.lower(text, cwd=call.cwd, home=call.home, shell=call.shell, tables=self._tables, code=code)

        return read

    def is_quick(self, call: Call) -> bool:
        """Whether a short call is observed quickly: without git, without matching globs, without walking folders. Never
        raises. Call it right before the call is judged."""
        try:
            lowering = self.lower(call)
        except Exception:  # `judge` reports it
            return False
        self._last = (call, lowering)
        if lowering.wants or (self._proves and self._concerned(lowering)):
            return False
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
        """Decide by these arguments only. Facts are observed for every call; if they equal the last ones, so does the
        decision."""
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

    def _policy(self, roots: tuple[str, ...], home: str, fold: bool, mode: Mode, agent: str) -> Policy:
        """The settings bound to a workspace, for one sub-agent if they have settings for it, cached."""
        agent = agent if agent in self.settings.agents else ""
        key = (roots, home, fold, mode, agent)
        policy = self._policies.get(key)
        if policy is None:
            if len(self._policies) > 64:
                self._policies.clear()
            policy = self._policies[key] = self.settings.bind(roots, home, fold=fold, mode=mode, agent=agent)
            if self._keep is not None and not agent:
                self._keep(self.settings, policy, roots, home, fold)
        return policy


class Request:
    """A call at the gate. `host_mode` is the mode of the program that makes the call; `headless`: nobody can answer.
    `reopen` gives the engine by the current files after a model was asked, `patience` is the time in seconds for asking
    it
    (0: no limit). `record` is the id of an earlier decision on the same call. `moment`: as in Engine.

    `rewrites`: the answer can replace the command, so that the call may run contained. `keeps` is what the program's
    shell keeps after a command: `folder`, `shell` (all of it), or nothing. `reports`: the program says when the call
    has ended. `call_id` is the program's id of the call, `environ` the environment in which it runs, as far as that is
    known."""

    __slots__ = (
        *("engine", "call", "project", "host_mode", "headless", "reopen", "patience", "record", "moment"),
        *("rewrites", "keeps", "reports", "call_id", "environ"),
    )

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
        record: str = "",
        moment: Links | None = None,
        rewrites: bool = False,
        keeps: str = "",
        reports: bool = True,
        call_id: str = "",
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.engine = engine
        self.call = call
        self.project = project
        self.host_mode = host_mode
        self.headless = headless
        self.reopen = reopen
        self.patience = patience
        self.record = record
        self.moment = moment
        self.rewrites = rewrites
        self.keeps = keeps
        self.reports = reports
        self.call_id = call_id
        self.environ: Mapping[str, str] = environ if environ is not None else {}


def _sharing(settings: Settings) -> tuple[Settings, dict[Bound, Policy]]:
    """Settings that share bound policies with equal ones: a program may have a gate for each of its users, most with
    the same rules."""
    for known in _shared:
        if known[0] == settings:
            return known
    found: tuple[Settings, dict[Bound, Policy]] = (settings, {})
    _shared.append(found)
    del _shared[:-SHARED]
    return found


def only_reads(text: str) -> bool:
    """Whether a text is SQL that is proved to only read."""
    from assent.effects.code import sql  # if a rule requires that

    return sql.only_reads(text)


def is_declarable(call: Call) -> bool:
    """Whether a program's declaration may apply to a call. In a runtime with its own tool names, the names of shells,
    file tools and fetching keep their meaning, so that a declared function `bash` loosens nothing for another agent."""
    known = runtimes.is_known(call.runtime)
    return not known or (call.runtime != OURS and ALIASES.get(call.tool.lower(), "") not in KEPT)


def shared(moment: Links | None, key: tuple[object, ...], do: Callable[..., T], *given: object) -> T:
    """The result of a function, shared by all calls of a moment."""
    return do(*given) if moment is None else moment.once(key, do, *given)


def refusal(code: str, reason: str, mode: str = "", flip: str = "") -> Decision:
    """A denial by no layer: the gate refuses to decide."""
    part = Part(Outcome.DENY, Layer.LOAD, code, reason, flip=flip, high=True)
    return Decision(Outcome.DENY, part, (part,), mode=mode, risk="high")


def unloaded(error: PolicyError) -> Decision:
    """The answer to every call while the policy does not load."""
    return refusal("policy.load", f"the policy does not load: {error}", flip="correct the policy")
