"""The replies to the events of an agent program that need no waiting. Used by hooks and by the server, which can also
hold a question."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from assent import agents
from assent.agents.adapter import Event, EventKind
from assent.approval.escalation import Offer
from assent.contract import Call, Decision, Outcome, Record, Reply, StoreError, fault
from assent.contract.approval import Ending, Verdict
from assent.engine import journal
from assent.engine.configure import Place
from assent.engine.engine import Engine, Request, Settled
from assent.engine.memory import Memory
from assent.gate import CallGate
from assent.policy import explain
from assent.state import pause

DIALOG = "dialog"  # the channel of an answer in a program's own dialog
NOTHING = Reply(Outcome.ALLOW)  # to events that decide nothing


class HookRequest:
    """One event of an agent program, with its call and project.

    `dialog`: an ask opens the program's own dialog, and somebody may be there. `reopen`, `patience` and `environ`: as
    in Request."""

    __slots__ = ("event", "call", "project", "engine", "gate", "runtime", "dialog", "reopen", "patience", "environ")

    def __init__(
        self,
        event: Event,
        gate: CallGate,
        engine: Engine,
        here: Place,
        runtime: str,
        *,
        asks: bool = True,
        reopen: Callable[[], Engine] | None = None,
        patience: float = 0.0,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.event = event
        self.dialog = (asks or bool(_through(event, gate.memory.state))) and event.attended is not False
        self.runtime = event.call.runtime if event.call is not None else runtime
        self.gate = gate
        self.engine = engine
        self.reopen = reopen
        self.patience = patience
        self.environ = environ
        self.project = event.call.roots[0] if event.call is not None and event.call.roots else ""
        self.call = _placed(event.call, here, self.project, environ) if event.call is not None else None

    @property
    def memory(self) -> Memory:
        return self.gate.memory

    def request(self, *, headless: bool = False) -> Request:
        assert self.call is not None
        request = Request(
            self.engine,
            self.call,
            self.project,
            host_mode=self.event.mode,
            headless=headless,
            reopen=self.reopen,
            patience=self.patience,
        )
        if self.engine.settings.contain is not None and self.call.runtime:
            adapter = agents.load(self.call.runtime)
            request.rewrites, request.keeps = adapter.replaces(self.event), adapter.keeps
            request.reports = adapter.reports
            request.call_id, request.environ = self.event.call_id, self.environ or {}
        return request

    def note(self, settled: Settled) -> None:
        """Note that the program's own dialog may ask this question, to find its answer later. Raises StoreError."""
        assert self.call is not None
        from assent.facts import digest
        from assent.state import host_dialogs

        host_dialogs.note(self.memory.state, self.call.session, digest.identity(self.call), settled.id)

    def hand_over(self, settled: Settled) -> Reply:
        """The ask as the program's own dialog shows it. If the person says yes there, the call runs, as later events
        show."""
        assert self.call is not None
        self.note(settled)
        if self.engine.settings.classifier is not None:
            from assent.engine import classify

            classify.asked_a_person(self.memory.state, self.call, settled.judged.lowering)
        reply = reply_of(settled.judged.decision)
        if settled.consequences:
            from assent.engine import consequences

            caused = consequences.in_short(settled.consequences)
            if caused:
                reason = f"{reply.reason}\nWhat it would cause: {caused}"
                reply = Reply(reply.outcome, reason, message=reply.message)
        if offer := open_offer(self.memory.state, self.call.runtime, self.call.session):
            reason = f"{reply.reason}\n{offer.words}; run `assent remember` in your own terminal to choose another mode"
            reply = Reply(reply.outcome, reason, message=reply.message)
        through = _through(self.event, self.memory.state)
        return Reply(reply.outcome, reply.reason, message=reply.message, through=through) if through else reply


def _placed(call: Call, here: Place, project: str, environ: Mapping[str, str] | None) -> Call:
    """The call in the session's workspace; without a project there is none. It runs with the PATH of the hook."""
    path = environ.get("PATH", "") if environ is not None else ""
    return call.but(roots=here.roots if project else (), path=path, keeps=agents.keeps(call.runtime))


def reply_of(decision: Decision) -> Reply:
    """A decision in words for the person and for the agent."""
    return Reply(decision.outcome, explain.in_words(decision), message=explain.to_agent(decision))


def settled_reply(settled: Settled) -> Reply:
    """A decision that asks nobody, in words, with the command that runs in place of the call's own.

    INVARIANT: a call that must run contained never runs unchanged."""
    decision = settled.judged.decision
    if not decision.contained:
        return reply_of(decision)
    if not settled.command:
        return fault("a contained run was decided, and there is no ticket for it")
    return Reply(decision.outcome, explain.in_words(decision), command=settled.command)


def concluded(verdict: Verdict) -> Reply:
    """A verdict, after a person was asked or could not be."""
    if verdict.allowed:
        return Reply(Outcome.ALLOW, "a person allowed it")
    return Reply(Outcome.DENY, verdict.message, message=verdict.message, stop=verdict.stop)


def alone(visit: HookRequest) -> Reply:
    """The reply without waiting: an ask goes to the program's own dialog, if somebody may be there."""
    match visit.event.kind:
        case EventKind.BEFORE_TOOL:
            settled = visit.gate.decide(visit.request(headless=not visit.dialog))
            asks = settled.judged.decision.outcome is Outcome.ASK
            return visit.hand_over(settled) if asks else settled_reply(settled)
        case EventKind.PERMISSION:
            return permission(visit)
        case EventKind.CONFIG_CHANGE:
            return config_change(visit)
        case EventKind.AFTER_TOOL | EventKind.STOP | EventKind.PROMPT | EventKind.SESSION_START:
            heard(visit)
            return after_contained(visit)
    return NOTHING


def after_contained(visit: HookRequest) -> Reply:
    """The message to the agent after a contained call."""
    event, call = visit.event, visit.call
    if event.kind is not EventKind.AFTER_TOOL or call is None or visit.engine.settings.contain is None:
        return NOTHING
    if not agents.load(visit.runtime).reports:  # a run that was never claimed shows at its next call
        return NOTHING
    from assent.engine import containment

    told = containment.ended(visit.memory, call, event.call_id, visit.project)
    return Reply(Outcome.ALLOW, context=told) if told else NOTHING


def _through(event: Event, state: str) -> str:
    """The asking program for a shell command, if it is installed; else `""`."""
    call = event.call
    if call is None or not call.runtime or not agents.load(call.runtime).rewrites(event):
        return ""
    from assent.hook import asking

    return asking.through(call.runtime, state, call.home)


def permission(visit: HookRequest) -> Reply:
    """The program opens its own dialog: it need not ask about calls we deny, everything else is left to the person."""
    call = visit.call
    assert call is not None
    if agents.load(visit.runtime).rewriting:
        from assent.hook import asking

        call = asking.unwrapped(call, visit.memory.state)
    if visit.engine.settings.contain is not None:
        from assent.engine import containment

        if containment.runs_as(call, visit.memory.state):
            return Reply(Outcome.ASK)  # decided before, and now asked by the program's own rule
    judged = visit.gate.judge(Request(visit.engine, call, visit.project, host_mode=visit.event.mode))
    if judged.decision.outcome is Outcome.DENY:
        return reply_of(judged.decision)
    # Its hook before the tool comes next, and asks: one question, with our reason, instead of two.
    if judged.decision.outcome is Outcome.ASK and agents.load(visit.runtime).asks_first:
        return Reply(Outcome.ALLOW)
    return Reply(Outcome.ASK)


def config_change(visit: HookRequest) -> Reply:
    """Refuse a change of settings that removes the hook in a session, unless a person has paused that protection."""
    from assent.hook import other_settings

    runtime, state = visit.runtime, visit.memory.state
    why = "" if pause.lasts(state) else other_settings.broken(runtime, visit.event.about, state)
    if not why:
        return NOTHING
    problem = visit.memory.record(
        Record(
            "event",
            journal.new_id(),
            visit.memory.clock(),
            runtime=runtime,
            session=visit.event.session,
            outcome="deny",
            code="hook.removed",
            reason=why,
        )
    )
    words = f"{why}; the session keeps its settings. A person can allow the change with `assent pause`"
    return Reply(Outcome.DENY, f"{words} ({problem})" if problem else words)


def heard(visit: HookRequest) -> tuple[tuple[str, ...], Offer | None]:
    """Record the result of questions in the program's dialog that an event shows; return the ids it settles, and the
    offer that is due.

    A call that ran was allowed there. If the session continues without the call, the dialog was closed without a yes,
    which counts as a no."""
    event, memory, call = visit.event, visit.memory, visit.call
    from assent.approval import escalation
    from assent.contract import approval
    from assent.state import host_dialogs

    if event.kind is EventKind.AFTER_TOOL:
        if call is None:
            return (), None
        if agents.load(visit.runtime).rewriting:
            from assent.hook import asking

            call = asking.unwrapped(call, memory.state)
        from assent.facts import digest

        id = host_dialogs.take(memory.state, call.session, digest.identity(call))
        if id:
            _record(visit, id, approval.Ending.ANSWERED)
            escalation.allowed(memory.state, visit.runtime, call.session)
        return (id,) if id else (), None
    ids = host_dialogs.drop(memory.state, event.session) if event.session else ()
    for id in ids:
        _record(visit, id, approval.Ending.UNANSWERED)
    if not ids or event.kind is EventKind.SESSION_START:
        return ids, None
    offer = escalation.refused(memory.state, visit.runtime, event.session, len(ids))
    if offer is not None:
        memory.record(journal.of_offer(offer, time=memory.clock()))
    return ids, offer


def open_offer(state: str, runtime: str, session: str) -> Offer | None:
    """The offer of another mode that is open in a session. Most have none, which costs one check of a folder."""
    from assent.state import denials

    if not denials.any_in(state):
        return None
    from assent.approval import escalation

    return escalation.open_offer(state, runtime, session)


def _record(visit: HookRequest, id: str, ending: Ending) -> None:
    """Record the end of a question in the program's dialog. Raises StoreError."""
    from assent.contract import approval

    yes = ending is approval.Ending.ANSWERED
    answer = approval.Answer(approval.Said.ALLOW, who=visit.memory.who, channel=DIALOG) if yes else None
    reason = "the program ran the call" if yes else "the program did not report the answer in its dialog"
    resolution = approval.Resolution(id, ending, allowed=yes, answer=answer, reason=reason)
    problem = visit.memory.record(
        journal.of_dialog(visit.event.session, visit.call, resolution, project=visit.project, time=visit.memory.clock())
    )
    if problem:
        raise StoreError(problem)
