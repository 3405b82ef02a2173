"""What Assent remembers of a user: grants, the modes of sessions, and the trail. A call settled with them.

Decides no rule and asks nobody. Without a person this is the whole path of a call: decide, grants, record."""

from __future__ import annotations

import time
from os import getuid
from pwd import getpwuid

from assent.contract.decision import Outcome
from assent.contract.errors import AssentError, PolicyError, StoreError
from assent.contract.later import Later
from assent.contract.value import Value
from assent.engine import journal
from assent.engine.engine import Judged, refusal, unloaded
from assent.policy.parts import nobody_answers
from assent.state import sessions
from assent.trail.append import Trail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from assent.approval import grants as books
    from assent.contract.call import Call
    from assent.contract.classifier import Opinion
    from assent.contract.record import Record
    from assent.engine import classify as opinions
    from assent.engine.classify import Classifiers, Inquiry
    from assent.engine.engine import Engine
    from assent.facts import digest
    from assent.facts.links import Links
    from assent.policy import classifier_scope, parse
    from assent.policy import grants as granting
    from assent.state import saved
else:
    opinions = Later("assent.engine.classify")
    classifier_scope = Later("assent.policy.classifier_scope")
    digest = Later("assent.facts.digest")
    saved = Later("assent.state.saved")
    granting = Later("assent.policy.grants")
    parse = Later("assent.policy.parse")
    books = Later("assent.approval.grants")


class Settled(Value):
    """A call's decision after grants, as it was recorded under `id`. An ask still waits for a person."""

    __slots__ = ("judged", "id")

    def __init__(self, judged: Judged, id: str) -> None:
        self.judged = judged
        self.id = id


def getuser() -> str:
    """The name of whoever runs this, as the system knows it: the environment is an agent program's to set."""
    try:
        return getpwuid(getuid()).pw_name
    except KeyError:
        return f"uid {getuid()}"


class Memory:
    """The grants, the modes of sessions and the trail in one state folder. `scope` names whose sessions these are,
    where several programs with ids of their own share the folder."""

    def __init__(
        self, state: str, *, clock: Callable[[], float] = time.time, scope: str = "", trail: Trail | None = None
    ) -> None:
        self.state = state
        self.scope = scope
        self._started = (clock(), time.monotonic())
        self.who = getuser()
        self._grants: books.GrantBook | None = None
        self._classifiers: Classifiers | None = None
        self.waiting: dict[tuple[str, str], int] = {}  # sessions and names of what is before a person now, how often
        self.trail = trail if trail is not None else Trail(f"{state}/audit")
        self.clock = clock

    @property
    def grants(self) -> books.GrantBook:
        """The remembered answers; most calls need none."""
        if self._grants is None:
            self._grants = books.GrantBook(self.state)
        return self._grants

    def known_as(self, session: str) -> str:
        """The name under which grants and the mode of a session are kept."""
        return f"{self.scope}/{session}" if self.scope and session else session

    def no_earlier(self) -> float:
        """The time for what ends: a clock that was set back while this runs makes nothing hold longer."""
        wall, steady = self._started
        return max(self.clock(), wall + time.monotonic() - steady)

    def settle(
        self,
        gate: Engine,
        call: Call,
        *,
        project: str,
        host_mode: str = "",
        headless: bool = False,
        reopen: Callable[[], Engine] | None = None,
        patience: float = 0.0,
    ) -> Settled:
        """Decide a call, let grants settle what asks, ask the model where one may be asked, and record it. Never
        raises. `host_mode` is the mode of the program that makes the call.

        INVARIANT: what cannot be recorded does not run, unless it only reads."""
        begun = self.begin(
            gate,
            call,
            project=project,
            host_mode=host_mode,
            headless=headless,
            reopen=reopen,
            patience=patience,
        )
        return begun if isinstance(begun, Settled) else self.conclude(begun, begun.opinion())

    def begin(
        self,
        gate: Engine,
        call: Call,
        *,
        project: str,
        host_mode: str = "",
        headless: bool = False,
        reopen: Callable[[], Engine] | None = None,
        patience: float = 0.0,
        waits: bool = True,
        moment: Links | None = None,
    ) -> Settled | Inquiry:
        """The same, up to where a model has to be waited for: then `conclude` goes on with its opinion. `reopen` gives
        the gate as the files are by then, `patience` is the time in seconds that there is for all (0: enough). Without
        `waits` it raises Busy where the trail is another's at the moment: then it was not recorded, nor settled."""
        started = time.perf_counter()
        judged = self.judge(gate, call, project=project, host_mode=host_mode, moment=moment)
        backend = gate.settings.classifier
        if backend is not None and judged.decision.outcome is Outcome.ASK:
            inquiry = opinions.inquire(
                self.classifiers,
                backend,
                call,
                judged,
                state=self.state,
                waiting=self.waiting,
                project=project,
                host_mode=host_mode,
                headless=headless,
                started=started,
                patience=patience,
                gate=reopen or (lambda: gate),
            )
            if inquiry is not None:
                return inquiry
        took = time.perf_counter() - started
        return self._recorded(call, judged, project=project, headless=headless, took=took, waits=waits)

    def conclude(self, inquiry: Inquiry, opinion: Opinion) -> Settled:
        """Go on with a model's opinion. Never raises.

        INVARIANT: it settles nothing but what it was asked about, as that is now: the call is looked at once more."""
        call, judged, headless = inquiry.call, inquiry.judged, inquiry.headless
        waited = opinion.seconds
        if opinion.safe:
            judged = self._again(inquiry)
            if inquiry.holds(judged):
                judged = judged.but(classifier_scope.settled(judged.decision, opinion.model))
            else:
                opinion = opinion.void("changed", "the call, or what speaks of it, changed while the model judged it")
        took = max(time.perf_counter() - inquiry.started - waited, 0.0)
        return self._recorded(call, judged, project=inquiry.project, headless=headless, took=took, opinion=opinion)

    def _again(self, inquiry: Inquiry) -> Judged:
        """The call judged by the files of now."""
        try:
            gate = inquiry.gate()
        except PolicyError as error:
            return Judged(unloaded(error))
        except AssentError as error:
            return Judged(refusal("policy.load", f"the policy does not load: {error}"))
        return self.judge(gate, inquiry.call, project=inquiry.project, host_mode=inquiry.host_mode)

    @property
    def classifiers(self) -> Classifiers:
        """The models that may be asked; most calls need none."""
        if self._classifiers is None:
            self._classifiers = opinions.Classifiers(self.state)
        return self._classifiers

    def _recorded(
        self,
        call: Call,
        judged: Judged,
        *,
        project: str,
        headless: bool,
        took: float,
        opinion: Opinion | None = None,
        waits: bool = True,
    ) -> Settled:
        if headless and judged.decision.outcome is Outcome.ASK:
            judged = judged.but(nobody_answers(judged.decision))
        id = journal.new_id()
        record = journal.of_decision(
            call, judged, id, project=project, time=self.clock(), latency=took, opinion=opinion
        )
        problem = self.record(record, waits=waits)
        if problem and not journal.only_reads(judged):
            judged = judged.but(refusal("trail.unwritable", problem, judged.decision.mode))
        return Settled(judged, id)

    def judge(
        self, gate: Engine, call: Call, *, project: str, host_mode: str = "", moment: Links | None = None
    ) -> Judged:
        """Decide a call in its session's mode, and let the grants of now settle what asks. Records nothing.
        `moment`: as in Engine."""
        try:
            look, given = sessions.chosen_mode, (self.state, self.known_as(call.session))
            chosen = look(*given) if moment is None else moment.once(("mode", *given), look, *given)
            mode = gate.settings.mode_for(chosen, host_mode)
        except AssentError as error:
            return Judged(refusal("policy.load", f"the session's mode cannot be read: {error}"))
        return self.granted(gate.judge(call, mode=mode, moment=moment), call, project=project)

    def granted(self, judged: Judged, call: Call, *, project: str) -> Judged:
        """What was judged, as the grants of now leave it. Records nothing."""
        if judged.decision.outcome is not Outcome.ASK:
            return judged
        if judged.lowering is None or judged.facts is None or judged.policy is None:
            return judged
        try:
            live = self.grants.live(self.known_as(call.session), project, self.no_earlier())
        except StoreError:
            live = ()  # fewer grants cost a question, never a run
        if not live:
            return judged
        identity = digest.identity(call)
        running = digest.running(judged.lowering, judged.facts)
        decision = granting.settle(
            judged.lowering, judged.facts, judged.policy, judged.decision, live, identity=identity, running=running
        )
        return judged.but(decision)

    def close(self) -> None:
        """Let go of the models and of the trail's files. Raises StoreError where the trail may not be on disk."""
        if self._classifiers is not None:
            self._classifiers.close()
        self.trail.close()

    def record(self, record: Record, *, waits: bool = True) -> str:
        """Append to the trail; return why that failed, `""` where it did not. Raises Busy only where it `waits` not."""
        try:
            self.trail.append(record, patient=waits)
        except StoreError as error:
            return f"the trail cannot be written: {error}"
        return ""

    def choose_mode(self, session: str, mode: str, *, who: str, channel: str = "") -> None:
        """Give a session another mode, as a person's act. Raises StoreError where it cannot be recorded."""
        before = sessions.chosen_mode(self.state, self.known_as(session))
        self.trail.append(journal.of_mode(session, mode, time=self.clock(), who=who, channel=channel, before=before))
        sessions.choose_mode(self.state, self.known_as(session), mode)

    def save_denial(self, session: str, rule: str, *, who: str) -> None:
        """Deny what a rule says from now on, as a person's act. Raises PolicyError or StoreError where that fails."""
        parse.parse_rule(rule, source="an answer")
        now = self.clock()
        self.trail.append(journal.of_denial(session, rule, time=now, who=who))
        saved.add(self.state, rule, f"{who or 'somebody'} saved it from an answer")
