"""The path of a call: lower, observe, decide, grants, contain, copy, classifier, ask, second look, record. Read this
first.

Every entry (hook, server, MCP proxy, `assent run`, embedded gates, framework adapters) calls one of two functions:
`decide` waits at most for a classifier, `guard` also for a person. Entries differ only in the arguments. The engine
lowers, observes and decides; the broker collects answers.

Hooks load this file for every call, so imports that only questions need are inside functions."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from assent.approval.accounts import Moment
from assent.approval.broker import Broker
from assent.approval.commands import Recheck
from assent.approval.store import Store
from assent.contract import AssentError, Call, Outcome, PolicyError, StoreError
from assent.contract.approval import Answer, Consequence, Ending, Grant, Held, Reach, Resolution, Scope, Verdict
from assent.contract.classifier import Opinion
from assent.engine import journal
from assent.engine.classify import Inquiry
from assent.engine.engine import Engine, Judged, Request, Settled, refusal, shared, unloaded
from assent.engine.memory import Memory
from assent.policy.parts import CONFIRM, CONTAIN_FAILED, nobody_answers
from assent.state import sessions
from assent.trail.append import TrailBusy

if TYPE_CHECKING:
    from assent.engine.containment import ContainedPlan

    EngineOf = Callable[[Held], Engine]
    Work = Callable[..., Awaitable[Any]]  # runs a function in a thread

PLAN = "plan"
CHANGED = "a file, a link or a script is not as it was shown"


class CallGate:
    """The path of the calls of one state folder. With a `store` it can ask a person; `engine_of` then returns the
    engine for the second look at a held call. `fixed`: no channel is attached later."""

    def __init__(
        self, memory: Memory, store: Store | None = None, engine_of: EngineOf | None = None, *, fixed: bool = False
    ) -> None:
        self.memory = memory
        # Questions that an agent program's own dialog asks too: id → endings after which that dialog is still open.
        self.dialogs: dict[str, frozenset[Ending]] = {}
        self._kept: dict[str, str] = {}  # id of an answered question → the trail's note on its copy
        self._noted: dict[str, tuple[str, ...]] = {}  # id of a waiting question → names that no model is asked about
        self._broker: Broker | None = None
        if store is not None and engine_of is not None:
            self._engine_of = engine_of
            from assent.approval import broker, escalation

            self._broker = broker.Broker(
                store=store,
                fixed=fixed,
                recheck=self._second_look,
                remember=self._remember,
                settles=self._settles,
                record=self._record_ending,
                change_mode=lambda session, mode, who: memory.choose_mode(session, mode, who=who),
                deny_rule=lambda session, rule, who: memory.save_denial(session, rule, who=who),
                tally=escalation.SavedTally(memory.state),
            )

    @property
    def broker(self) -> Broker:
        assert self._broker is not None, "this gate cannot ask"
        return self._broker

    # Decide without waiting for a person

    def decide(self, request: Request) -> Settled:
        """Decide a call, let grants and the classifier settle an ask, and record it. Never raises."""
        first = self.begin(request)
        return first if isinstance(first, Settled) else self.conclude(first, first.opinion())

    def judge(self, request: Request) -> Judged:
        """Lower, observe, decide in the session's mode, and let grants settle an ask. Records nothing."""
        engine, call, moment = request.engine, request.call, request.moment
        try:
            state, session = self.memory.state, self.memory.known_as(call.session)
            chosen = shared(moment, ("mode", state, session), sessions.chosen_mode, state, session)
            mode = engine.settings.mode_for(chosen, request.host_mode)
            if engine.settings.contain is not None and session and request.rewrites:
                from assent.engine import containment

                containment.settle(self.memory, session)
        except AssentError as error:
            return Judged(refusal("policy.load", f"the session's mode cannot be read: {error}"))
        judged = engine.judge(call, mode=mode, session=session, record=request.record, moment=moment)
        return self.granted(judged, call, project=request.project)

    def granted(self, judged: Judged, call: Call, *, project: str) -> Judged:
        """Settle an ask by the grants that hold now."""
        lowering, facts, policy = judged.lowering, judged.facts, judged.policy
        if judged.decision.outcome is not Outcome.ASK or lowering is None or facts is None or policy is None:
            return judged
        live = self.memory.live_grants(call.session, project)
        if not live:
            return judged
        from assent.facts import digest
        from assent.policy import grants

        identity, running = digest.identity(call), digest.running(lowering, facts)
        settled = grants.settle(lowering, facts, policy, judged.decision, live, identity=identity, running=running)
        return judged.but(settled)

    def begin(self, request: Request, *, waits: bool = True) -> Settled | Inquiry:
        """The first part of `decide`, until it waits for a model; `conclude` is the second. Without `waits` it raises
        TrailBusy if another process holds the trail: then nothing is recorded or settled."""
        started = time.perf_counter()
        judged, id = self.judge(request), journal.new_id()
        judged, plan = self._contained(request, judged, id, waits=waits)
        judged, copy = self._copied(request, judged, id, waits=waits)
        if plan is not None and not copy and judged.decision.outcome is Outcome.ALLOW:
            from assent.engine import contained_copies

            copy = contained_copies.keep(self.memory, request, plan, id)
        if request.engine.settings.classifier is not None and judged.decision.outcome is Outcome.ASK:
            from assent.engine import classify

            inquiry = classify.inquire(self.memory, request, judged, started, id)
            if inquiry is not None:
                return inquiry
        took = time.perf_counter() - started
        return self._recorded(request, judged, took, id, copy, plan=plan, waits=waits)

    def conclude(self, inquiry: Inquiry, opinion: Opinion) -> Settled:
        """Continue with a model's opinion. Never raises.

        INVARIANT: an opinion settles only what the model was asked about, in its current state: the call is judged
        again."""
        request, judged, seconds = inquiry.request, inquiry.judged, opinion.seconds
        if opinion.safe:
            judged = self._judged_now(request)
            if inquiry.holds(judged):
                from assent.policy import classifier

                judged = judged.but(classifier.settled(judged.decision, opinion.model))
            else:
                opinion = opinion.void("changed", "the call or its policy changed while the model judged it")
        took = max(time.perf_counter() - inquiry.started - seconds, 0.0)
        judged, copy = self._copied(request, judged, inquiry.id)
        return self._recorded(request, judged, took, inquiry.id, copy, opinion=opinion)

    def _contained(
        self, request: Request, judged: Judged, id: str = "", *, waits: bool = True
    ) -> tuple[Judged, ContainedPlan | None]:
        """Let a call run contained instead of asking about code that is not proved. Without `waits` it raises TrailBusy
        if that needs facts of the host."""
        if request.engine.settings.contain is None or not request.rewrites or journal.only_reads(judged):
            return judged, None
        if judged.decision.outcome is Outcome.DENY:
            return judged, None
        if not waits:
            raise TrailBusy
        from assent.engine import containment

        return containment.plan(self.memory, request, judged, id)

    def judge_outside(self, request: Request) -> Judged:
        """`judge` for a call that does not run contained: the question says so if it failed contained before."""
        judged = self.judge(request)
        asked, plan = self._contained(request, judged)
        return judged if plan is not None else asked

    def _copied(self, request: Request, judged: Judged, id: str, *, waits: bool = True) -> tuple[Judged, str]:
        """Copy the files that the call destroys, which may answer its questions. Without `waits` it raises TrailBusy if
        there is something to copy."""
        if judged.decision.outcome is Outcome.DENY or journal.only_reads(judged):
            return judged, ""
        from assent.policy import undoable

        settings, policy = request.engine.settings, judged.policy
        on = settings.undo["on"] and policy is not None
        loss = undoable.loss_of(judged.lowering, judged.facts, policy) if on and policy is not None else None
        if loss is None:
            return judged, ""
        if not waits:
            raise TrailBusy
        from assent.engine import copies

        return copies.keep(self.memory, settings, request.call, judged, loss, id)

    def _judged_now(self, request: Request) -> Judged:
        """The call judged by the current files."""
        try:
            engine = request.reopen() if request.reopen is not None else request.engine
        except PolicyError as error:
            return Judged(unloaded(error))
        except AssentError as error:
            return Judged(refusal("policy.load", f"the policy does not load: {error}"))
        return self.judge(Request(engine, request.call, request.project, host_mode=request.host_mode))

    def _recorded(
        self,
        request: Request,
        judged: Judged,
        took: float,
        id: str,
        copy: str,
        *,
        opinion: Opinion | None = None,
        plan: ContainedPlan | None = None,
        waits: bool = True,
    ) -> Settled:
        """INVARIANT: a call that cannot be recorded does not run, unless it only reads. A call recorded as contained
        has its ticket."""
        command = ""
        if plan is not None and judged.decision.outcome is Outcome.ALLOW:
            from assent.engine import containment

            command, why = containment.issue(self.memory, request, plan, id)
            judged = judged if command else containment.without_ticket(plan, why)
        if request.headless and judged.decision.outcome is Outcome.ASK:
            judged = judged.but(nobody_answers(judged.decision))
        memory, consequences = self.memory, None
        if judged.decision.outcome is Outcome.ASK:
            consequences = self._consequences(request, judged, copy, waits=waits)
        record = journal.of_decision(
            request.call,
            judged,
            id,
            project=request.project,
            time=memory.clock(),
            latency=took,
            opinion=opinion,
            copy=copy,
            consequences=consequences or (),
        )
        problem = memory.record(record, waits=waits)
        if problem and not journal.only_reads(judged):
            judged = judged.but(refusal("trail.unwritable", problem, judged.decision.mode))
        if request.call.session and judged.decision.outcome is not Outcome.DENY and not journal.only_reads(judged):
            from assent.engine import changes

            changes.note(memory, request.call, judged, id, plan.writes if plan is not None else ())
        contained = judged.decision.contained and judged.decision.outcome is Outcome.ALLOW
        return Settled(judged, id, command if contained else "", consequences)

    def _consequences(
        self, request: Request, judged: Judged, copy: str = "", *, waits: bool = True
    ) -> tuple[Consequence, ...]:
        """The consequences of a call that asks. Without `waits` it raises TrailBusy if that has to be measured."""
        from assent.engine import consequences

        if not consequences.any_of(request.call, judged, copy):
            return ()
        if not waits:
            raise TrailBusy
        return consequences.measured(request.call, judged, copy, undo=bool(request.engine.settings.undo["on"]))

    # Decide and wait for a person

    async def guard(self, request: Request, *, attended: bool = False) -> Verdict:
        """Whether a call may run. Raises only CancelledError. `attended`: as in Held."""
        settled = await self.settle(request)
        asks = settled.outcome is Outcome.ASK
        return await self.ask(request, settled, attended=attended) if asks else verdict(settled)

    async def settle(
        self,
        request: Request,
        *,
        first: Settled | Inquiry | None = None,
        quick: bool = False,
        work: Work | None = None,
    ) -> Settled:
        """`decide` without blocking the event loop while it waits for a model or the trail. `first`: what `begin`
        returned for the request. A `quick` call takes no thread; `work` runs a function in one."""
        work = work or _in_a_thread
        if first is None and quick:
            try:
                first = self.begin(request, waits=False)
            except TrailBusy:  # a thread waits for the trail
                first = None
        if first is None:
            request.moment = None  # its observations are too old once a thread runs
            first = await work(self.begin, request)
        if isinstance(first, Settled):
            return first
        import asyncio

        await asyncio.sleep(0)  # waiting for a model needs a task
        settled: Settled = await work(self.conclude, first, await first.awaited())
        return settled

    async def ask(
        self,
        request: Request,
        settled: Settled,
        *,
        attended: bool = False,
        limit: float = 0.0,
        work: Work | None = None,
        made: Callable[[Held], None] | None = None,
    ) -> Verdict:
        """Ask a person about a settled call. `made` receives the question before it is asked. `limit`: as in Held."""
        work = work or _in_a_thread
        try:
            held = await work(self.question, request, settled, attended=attended, limit=limit)
        except Exception as error:  # a call that cannot be shown cannot be approved
            from assent.contract import approval

            reason = f"the question could not be made: {error}"
            return await self.never_asked(request, settled, approval.Ending.FAULT, reason, work=work)
        if made is not None:
            made(held)
        return verdict(settled, await self.broker.ask(held))

    def question(self, request: Request, settled: Settled, *, attended: bool = False, limit: float = 0.0) -> Held:
        """The question about a call. While it waits, and always after a no, no model is asked about calls like it."""
        from assent.engine import questions

        caused = settled.consequences
        if caused is None:
            caused = self._consequences(request, settled.judged)
        held = questions.question(self.memory, request, settled, caused, attended=attended, limit=limit)
        if request.engine.settings.classifier is not None:
            from assent.engine import classify
            from assent.state import human_decisions

            names = classify.names(request.call, settled.judged.lowering)
            human_decisions.wait(self.memory.state, request.call.session, names)
            self._noted[settled.id] = names
        return held

    async def never_asked(
        self, request: Request, settled: Settled, ending: Ending, reason: str, *, work: Work | None = None
    ) -> Verdict:
        """Deny a call that nobody was asked about, and record that like the end of any question."""
        from assent.approval import denial

        found, call = denial.deny(settled.id, ending, detail=reason), request.call
        record = journal.of_dialog(call.session, call, found, project=request.project, time=self.memory.clock())
        try:  # noqa: SIM105  # hooks do not load contextlib
            await (work or _in_a_thread)(self.memory.record, record)
        except AssentError:  # it is denied either way
            pass
        return verdict(settled, found)

    def release(
        self, request: Request, id: str, digest: str, answer: Answer, *, waited: float, expired: bool
    ) -> Verdict:
        """Settle a question that an application kept, by its answer, which is bound to `digest`: judge the call again,
        and record it. A denial wins. Raises StoreError: a call that cannot be recorded does not run."""
        from assent.approval import accounts, denial
        from assent.contract import approval
        from assent.engine import questions

        request.record = id
        judged, ending, detail = self.judge(request), approval.Ending.ANSWERED, ""
        if judged.lowering is None or judged.decision.outcome is Outcome.DENY:
            ending, detail = approval.Ending.OVERRULED, judged.decision.reason
        elif expired:
            ending = approval.Ending.EXPIRED
        elif questions.digest_of(request.call, judged) != digest:
            ending, detail = approval.Ending.CHANGED, CHANGED
        elif answer.said is approval.Said.ALLOW and (detail := self._not_copied(request, judged, id)):
            ending = approval.Ending.OVERRULED
        if ending is approval.Ending.ANSWERED and answer.said is approval.Said.ALLOW:
            resolution = denial.approve(id, answer, waited=waited)
        else:
            given = None if expired else answer
            resolution = denial.deny(id, ending, answer=given, detail=detail, waited=waited)
        held = approval.Held(
            id, request.call, digest, judged.decision, approval.Preview("input", ""), project=request.project
        )
        self._record_ending(accounts.Moment("ended", held=held, resolution=resolution))
        return verdict(Settled(judged, id), resolution)

    def reach(self, held: Held, rules: tuple[str, ...], scope: Scope) -> Reach:
        """Which past calls in the trail these rules would match."""
        from assent.engine import questions

        return questions.reach(self.memory, self._engine_of(held), held, rules, scope)

    # The second look, and saved answers

    async def _second_look(self, held: Held) -> Recheck:
        """Observe and decide again. A denial wins, and so does any change since the question was shown."""
        from assent.approval import commands
        from assent.engine import questions

        request = await _in_a_thread(self._request_again, held)
        judged = await _in_a_thread(self.judge, request)
        if judged.decision.outcome is Outcome.DENY:
            return commands.Recheck(commands.SecondLook.DENIED, judged.decision.reason)
        if questions.digest_of(held.call, judged) != held.digest:
            return commands.Recheck(commands.SecondLook.CHANGED, CHANGED)
        if problem := await _in_a_thread(self._not_copied, request, judged, held.id):
            return commands.Recheck(commands.SecondLook.DENIED, problem)
        return commands.Recheck(commands.SecondLook.STANDS)

    def _request_again(self, held: Held) -> Request:
        """The call with the current files. A question from plan mode is judged in plan mode, where no grant settles
        it."""
        host_mode = PLAN if held.decision.mode == PLAN else ""
        return Request(self._engine_of(held), held.call, held.project, host_mode=host_mode, record=held.id)

    def _not_copied(self, request: Request, judged: Judged, id: str) -> str:
        """Copy the files that the call destroys now; return why it may not run, if copies are required."""
        _, copy = self._copied(request, judged, id)
        self._kept[id] = copy
        required = request.engine.settings.undo["required"] and copy not in ("", "kept")
        return f"no copy can be kept of what it destroys: {copy}" if required else ""

    async def _settles(self, held: Held) -> bool:
        if held.decision.deciding.code in (CONFIRM, CONTAIN_FAILED):
            return False
        judged: Judged = await _in_a_thread(lambda: self.judge(self._request_again(held)))
        return judged.decision.outcome is Outcome.ALLOW

    async def _remember(self, held: Held, answer: Answer) -> Grant | None:
        from assent.engine import questions

        grant: Grant | None = await _in_a_thread(questions.remember, self.memory, self._engine_of, held, answer)
        return grant

    def _record_ending(self, moment: Moment) -> None:
        """Record the end of a question, and offers. The question itself was recorded when the call was settled."""
        memory, held, resolution, offer = self.memory, moment.held, moment.resolution, moment.offer
        if moment.kind == "ended" and held is not None and resolution is not None:
            names, copy = self._noted.pop(held.id, ()), self._kept.pop(held.id, "")
            if self._ends(held, resolution):
                self._record_end(held, resolution, names, copy)
            if names:
                from assent.state import human_decisions

                human_decisions.end(memory.state, held.call.session, names)
        elif moment.kind == "offer" and offer is not None:
            memory.trail.append(journal.of_offer(offer, time=memory.clock()))
        elif moment.kind == "rejected" and offer is not None:
            now, who, channel = memory.clock(), moment.who, moment.channel
            memory.trail.append(journal.of_offer(offer, time=now, rejected=True, who=who, channel=channel))

    def _record_end(self, held: Held, resolution: Resolution, names: tuple[str, ...], copy: str) -> None:
        """INVARIANT: after a no, no model is asked about the call or its commands in this session."""
        from assent.engine import classify, questions
        from assent.state import human_decisions

        self.memory.trail.append(journal.of_ending(held, resolution, time=self.memory.clock(), copy=copy))
        if resolution.ending in questions.NO and not resolution.allowed:
            human_decisions.note(self.memory.state, held.call.session, names or classify.names(held.call))

    def _ends(self, held: Held, resolution: Resolution) -> bool:
        """Whether this is the end of the call, to be recorded here.

        INVARIANT: one call has one ending. A question that a program's dialog asks too ends with the first answer: a
        person's here, or the one that the program reports."""
        still_open = self.dialogs.get(held.id)
        if still_open is None:
            return True
        from assent.state import host_dialogs

        ends = resolution.ending not in still_open
        first = ends and host_dialogs.close(self.memory.state, held.call.session, held.id)
        if not first and resolution.allowed:
            raise StoreError("the program's own dialog was answered first")
        self.dialogs.pop(held.id, None)
        return first


async def _in_a_thread(do: Callable[..., Any], *given: Any, **named: Any) -> Any:
    import asyncio

    return await asyncio.to_thread(do, *given, **named)


def verdict(settled: Settled, resolution: Resolution | None = None) -> Verdict:
    """The result of a call's path, with a message for the agent."""
    from assent.contract import approval
    from assent.policy import explain

    decision = settled.judged.decision
    if resolution is None:
        allowed = decision.outcome is Outcome.ALLOW and bool(decision.contained) is bool(settled.command)
        message = "" if allowed else explain.to_agent(decision)
        return approval.Verdict(allowed, decision, settled.id, message=message, command=settled.command)
    answer, endings = resolution.answer, (approval.Ending.ANSWERED, approval.Ending.SETTLED)
    return approval.Verdict(
        resolution.allowed and resolution.ending in endings,
        decision,
        settled.id,
        message="" if resolution.allowed else f"This call was not run: {resolution.reason}.",
        stop=answer is not None and answer.said is approval.Said.STOP,
        resolution=resolution,
    )
