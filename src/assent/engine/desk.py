"""The path of a call that may need a person: settle it, ask where it asks, look again, remember, record.

Binds gates, memory and the broker to each other, since none of these knows the others. Shows nothing to anybody."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from assent.approval.broker import Broker
from assent.approval.commands import Recheck
from assent.approval.commands import Verdict as Look
from assent.approval.denial import deny
from assent.approval.moments import Moment
from assent.approval.preview import preview
from assent.approval.store import Store
from assent.approval.tally import SavedTally
from assent.approval.warnings import warnings
from assent.contract.approval import Answer, Ending, Grant, Held, Reach, Resolution, Said, Scope, Suggestion, Verdict
from assent.contract.call import Call
from assent.contract.decision import Outcome
from assent.contract.effect import Lowering
from assent.contract.errors import AssentError, StoreError
from assent.contract.facts import Facts
from assent.engine import history, journal
from assent.engine.classify import Inquiry, asked_a_person, before_a_person
from assent.engine.engine import Engine, Judged
from assent.engine.memory import Memory, Settled
from assent.facts import digest
from assent.policy import explain, rule_width, suggest
from assent.policy import grants as granting
from assent.policy.modes import Mode
from assent.policy.parts import CONFIRM
from assent.policy.policy import Policy
from assent.state import host_dialogs
from assent.trail import redact

SEARCHED = 20_000  # characters of a preview that are searched for secrets, to keep the first few

PLAN = Mode.PLAN.word
GateFor = Callable[[Held], Engine]
Work = Callable[..., Awaitable[Any]]  # does something aside
NO = (Ending.ANSWERED, Ending.DISMISSED)  # endings by which a person says no, where they do not allow
# Endings that end a call for good; after any other a program's own dialog that is open beside may still be answered.
DECIDED = frozenset({Ending.ANSWERED, Ending.SETTLED, Ending.DISMISSED, Ending.OVERRULED, Ending.CHANGED})
UNDECIDED = frozenset(Ending) - DECIDED


class Desk:
    """Where calls are settled and questions are held. `gate_for` finds the gate that decides a held call again.
    `fixed`: no other channel will come."""

    def __init__(self, memory: Memory, store: Store, gate_for: GateFor, *, fixed: bool = False) -> None:
        self.memory = memory
        self._gate_for = gate_for
        # Questions that a program's own dialog asks too, or takes over: id → endings after which the dialog goes on.
        self.dialogs: dict[str, frozenset[Ending]] = {}
        self._readings: dict[str, Lowering | None] = {}  # of calls that a model could have judged, while they are asked
        self.broker = Broker(
            store=store,
            fixed=fixed,
            recheck=self._look_again,
            remember=self._remember,
            settles=self._settles,
            record=self._record,
            change_mode=self._change_mode,
            deny_rule=self._deny_rule,
            tally=SavedTally(memory.state),
        )

    async def guard(
        self,
        gate: Engine,
        call: Call,
        *,
        project: str,
        attended: bool = False,
        reopen: Callable[[], Engine] | None = None,
    ) -> Verdict:
        """Whether a call may run. A question is asked and waited for. Raises nothing but CancelledError. `reopen` gives
        the gate as the files are when a model was waited for."""
        settled = await self.concluded(self.memory.begin(gate, call, project=project, reopen=reopen))
        if settled.judged.decision.outcome is not Outcome.ASK:
            return verdict(settled)
        return await self.ask(gate, call, settled, project=project, attended=attended)

    async def concluded(self, begun: Settled | Inquiry, work: Work = asyncio.to_thread) -> Settled:
        """A call settled to the end, where a model has to be waited for first. Other calls go on meanwhile."""
        if isinstance(begun, Settled):
            return begun
        opinion = await begun.awaited()
        found: Settled = await work(self.memory.conclude, begun, opinion)
        return found

    async def ask(self, gate: Engine, call: Call, settled: Settled, *, project: str, attended: bool = False) -> Verdict:
        """The same for a call that is decided, and asks."""
        try:
            held = self.held(gate, call, settled, project=project, attended=attended)
        except Exception as error:  # what cannot be shown cannot be approved
            problem = deny(settled.id, Ending.FAULT, detail=f"the question could not be made: {error}")
            return verdict(settled, problem)
        if gate.settings.classifier is None:
            return verdict(settled, await self.broker.ask(held))
        lowering = settled.judged.lowering
        self._readings[held.id] = lowering
        try:
            with before_a_person(self.memory.waiting, call, lowering):
                return verdict(settled, await self.broker.ask(held))
        finally:
            self._readings.pop(held.id, None)

    async def reattach(self, settled: Settled, id: str, digest: str) -> Verdict:
        """The same for a caller that lost its line while it waited."""
        return verdict(settled, await self.broker.reattach(id, digest))

    def held(
        self,
        gate: Engine,
        call: Call,
        settled: Settled,
        *,
        project: str,
        attended: bool = False,
        limit: float = 0.0,
    ) -> Held:
        """The question about a call, with all that a person should see. `limit`: as in Held."""
        judged = settled.judged
        lowering, facts, policy = _reading(judged)
        return Held(
            settled.id,
            call,
            digest.digest(call, lowering, facts),
            judged.decision,
            preview(call, lowering.tool),
            effects=journal.in_words(judged),
            suggestions=_savable(suggest.suggest_rules(lowering, facts, policy, judged.decision)),
            warnings=warnings(call, lowering),
            project=project,
            made=self.memory.clock(),
            timeout=float(gate.settings.timeout),
            unseen=float(gate.settings.unseen),
            limit=limit,
            attended=attended,
        )

    def reach(self, held: Held, rules: tuple[str, ...], scope: Scope) -> Reach:
        """What saving these rules would mean, judged by the calls of the past."""
        refused = _unsavable(held, rules, scope)
        if refused or not rules:
            return Reach(refusal=refused)
        gate = self._gate_for(held)
        judged = gate.judge(held.call)
        covers = suggest.covers(rules, *_reading(judged), judged.decision)
        return history.reach(self.memory.trail.folder, gate, rules, but=held.id, home=held.call.home, covers=covers)

    # What the broker asks of us

    async def _look_again(self, held: Held) -> Recheck:
        """Observe and decide once more: a denial wins, and so does anything that is not as it was shown."""
        judged = await asyncio.to_thread(self._judged, held)
        if judged.decision.outcome is Outcome.DENY:
            return Recheck(Look.DENIED, judged.decision.reason)
        lowering, facts, _ = _reading(judged)
        if digest.digest(held.call, lowering, facts) != held.digest:
            return Recheck(Look.CHANGED, "a file, a link or a script is not as it was shown")
        return Recheck(Look.STANDS)

    def _judged(self, held: Held) -> Judged:
        """The call judged by what holds now. Asked in plan mode, it stays there: what the program that only planned
        was asked about is settled by no grant."""
        host = PLAN if held.decision.mode == PLAN else ""
        return self.memory.judge(self._gate_for(held), held.call, project=held.project, host_mode=host)

    async def _settles(self, held: Held) -> bool:
        if held.decision.deciding.code == CONFIRM:
            return False
        judged = await asyncio.to_thread(self._judged, held)
        return judged.decision.outcome is Outcome.ALLOW

    async def _remember(self, held: Held, answer: Answer) -> Grant | None:
        """Save an answer as a grant. Raises StoreError with the reason where a rule may not be saved."""
        if answer.said is not Said.ALLOW or answer.scope is Scope.ONCE:
            return None
        if reason := _unsavable(held, answer.rules, answer.scope):
            raise StoreError(reason)
        files = await asyncio.to_thread(self._runs, held)
        now, bounds = self.memory.clock(), answer.scope.bounds
        grant = Grant(
            journal.new_id(),
            answer.scope,
            rules=answer.rules,
            identity="" if answer.rules else digest.identity(held.call),
            answers=granting.answered(held.decision),
            session=self.memory.known_as(held.call.session) if bounds.session else "",
            project=held.project if bounds.project else "",
            made=now,
            until=now + bounds.seconds if bounds.seconds else 0.0,
            who=answer.who,
            channel=answer.channel,
            shown=explain.short(redact.text(held.preview.text[:SEARCHED]), 120),
            files=files,
        )
        self.memory.trail.append(journal.of_grant(grant, time=now))
        self.memory.grants.add(grant)
        return grant

    def _runs(self, held: Held) -> tuple[tuple[str, str], ...]:
        """The files that a grant is bound to, as they were shown; none where they have changed since, which the second
        look finds too."""
        lowering, facts, _ = _reading(self._gate_for(held).judge(held.call))
        running = digest.running(lowering, facts)
        if digest.digest(held.call, lowering, facts) != held.digest:
            return ()
        return tuple(dict.fromkeys(pair for pairs in running.values() for pair in pairs))

    def _record(self, moment: Moment) -> None:
        """The end of a question, and offers; the question itself was recorded when the call was settled."""
        if moment.kind == "ended" and moment.held is not None and moment.resolution is not None:
            if not self._ends(moment.held, moment.resolution):
                return
            self.memory.trail.append(journal.of_ending(moment.held, moment.resolution, time=self.memory.clock()))
            if moment.resolution.ending in NO and not moment.resolution.allowed:
                held = moment.held
                asked_a_person(self.memory.state, held.call, self._readings.get(held.id))
        elif moment.kind == "offer" and moment.offer is not None:
            self.memory.trail.append(journal.of_offer(moment.offer, time=self.memory.clock()))
        elif moment.kind == "rejected" and moment.offer is not None:
            now, who, channel = self.memory.clock(), moment.who, moment.channel
            self.memory.trail.append(journal.of_offer(moment.offer, time=now, rejected=True, who=who, channel=channel))

    def _ends(self, held: Held, resolution: Resolution) -> bool:
        """Whether this is the end of the call, to be recorded here.

        INVARIANT: one call has one ending. A question that a dialog asks too is ended by whoever takes it first: a
        person here, or the program that tells what came of its dialog."""
        goes_on = self.dialogs.get(held.id)
        if goes_on is None:
            return True
        first = resolution.ending not in goes_on and host_dialogs.close(self.memory.state, held.call.session, held.id)
        if not first and resolution.allowed:
            raise StoreError("the program's own dialog was answered first")
        self.dialogs.pop(held.id, None)
        return first

    def _change_mode(self, session: str, mode: str, who: str) -> None:
        self.memory.choose_mode(session, mode, who=who)

    def _deny_rule(self, session: str, rule: str, who: str) -> None:
        self.memory.save_denial(session, rule, who=who)


def _unsavable(held: Held, rules: tuple[str, ...], scope: Scope) -> str:
    """Why an answer may not be remembered; what nothing is suggested for could be settled by no grant."""
    if not held.suggestions:
        return "no answer to this is remembered; allow it once"
    if any(map(_holds_secret, rules)):
        return "it holds a secret; rules are shown and logged, so allow it once"
    return rule_width.unsavable(rules, scope, held.decision)


def _savable(suggestions: tuple[Suggestion, ...]) -> tuple[Suggestion, ...]:
    """Suggestions without those that would write a secret down; of the call itself only its identity is kept."""
    found = tuple(each for each in suggestions if not any(map(_holds_secret, each.rules)))
    return found or ((suggest.IDENTICAL,) if suggestions else ())


def _holds_secret(rule: str) -> bool:
    return redact.text(rule) != rule


def _reading(judged: Judged) -> tuple[Lowering, Facts, Policy]:
    """What a decision rests on. A gate that refused to decide has nothing to ask about."""
    if judged.lowering is None or judged.facts is None or judged.policy is None:
        raise AssentError("the call could not be read")
    return judged.lowering, judged.facts, judged.policy


def verdict(settled: Settled, resolution: Resolution | None = None) -> Verdict:
    """The end of a call's path, with words for the agent."""
    decision = settled.judged.decision
    if resolution is None:
        allowed = decision.outcome is Outcome.ALLOW
        return Verdict(allowed, decision, settled.id, message="" if allowed else explain.to_agent(decision))
    answer = resolution.answer
    return Verdict(
        resolution.allowed and resolution.ending in (Ending.ANSWERED, Ending.SETTLED),
        decision,
        settled.id,
        message="" if resolution.allowed else f"This call was not run: {resolution.reason}.",
        stop=answer is not None and answer.said is Said.STOP,
        resolution=resolution,
    )
