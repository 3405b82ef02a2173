"""Contained runs: which call gets one, its ticket, and the report to the session at the end.

INVARIANT: a call that must run contained never runs outside because of a fault: without a ticket it is a question."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from assent.contain import sandbox, ticket
from assent.contain.profile import FOLDER, Profile, profile_for
from assent.contain.ticket import Receipt
from assent.contract import Call, Effect, Facts, Kind, Lowering, Operation, Outcome, Record, Target, Value
from assent.engine import changes, journal
from assent.engine.engine import Judged, Request
from assent.engine.memory import Memory
from assent.facts import digest
from assent.policy import contained, floor, match
from assent.policy.contain_settings import ContainSettings
from assent.policy.policy import Policy
from assent.policy.rules import RuleKind
from assent.policy.ruleset import RuleSet
from assent.state import ledger
from assent.state.contained import ContainedRun, ContainedRuns, load, mark_settled, note, switch_off

SHELLS = ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash")
DEVICES = frozenset(f"/dev/{name}" for name in "null zero full random urandom stdin stdout stderr tty".split())
MOST_NAMED = 5  # hosts or files that a sentence lists
REPLACED = "another hook replaced the command, so that it ran outside; nothing of this session runs contained any more"
UNTAKEN = (
    "a contained run of this session was not taken up: the program runs commands in a sandbox of its own, in which no "
    "other starts, or another hook replaced the command; nothing of this session runs contained any more"
)
LATE = 1.0  # seconds after which an unclaimed run does not count as concurrent
UNPREPARED = "no ticket for a contained run can be made"


class ContainedPlan(Value):
    """A planned contained run: its `profile`, and the judgement `before` containment."""

    __slots__ = ("profile", "before")

    def __init__(self, profile: Profile, before: Judged) -> None:
        self.profile = profile
        self.before = before

    @property
    def writes(self) -> tuple[str, ...]:
        """The writable folders."""
        return (*self.profile.roots, *self.profile.writable)


def plan(memory: Memory, request: Request, judged: Judged, id: str = "") -> tuple[Judged, ContainedPlan | None]:
    """The judgement with containment: the call runs contained by the plan, or a person is asked to let it run outside
    after it failed contained, or nothing changes. `id` is that of the record that follows."""
    settings, call = request.engine.settings.contain, request.call
    lowering, facts, policy = judged.lowering, judged.facts, judged.policy
    if settings is None or lowering is None or facts is None or policy is None:
        return judged, None
    if not contained.may_contain(judged.decision, lowering, facts, settings):
        return judged, None
    if changes.is_in_background(call.input) or contained.persists(lowering, request.keeps):
        return judged, None
    try:
        known = load(memory.state, _session(memory, request))
        if is_granted(memory, request, judged):
            return judged, None
        off = known.off or _none_taken_up(memory, request, known)
        if off:
            return judged.but(contained.off(judged.decision, off)), None
        last = known.of(digest.identity(call))
        why = _failure_of(memory, request, last) if last is not None else ""
        if why and last is not None:
            if id:  # later entries count as a change, not the question itself
                note(memory.state, _session(memory, request), last.asked(id))
            return judged.but(contained.failed(judged.decision, why)), None
        if sandbox.why_not(memory.state):
            return judged, None
        profile = profile_of(settings, memory.state, request, judged)
        if not sees(profile, lowering, facts):
            return judged, None
    except Exception:  # asked about or run as without containment
        return judged, None
    return judged.but(contained.contained(judged.decision, profile.word)), ContainedPlan(profile, judged)


def _none_taken_up(memory: Memory, request: Request, known: ContainedRuns) -> str:
    """Why nothing of the session runs contained any more: the program does not report the end of calls, and a runner
    never claimed its ticket. Raises StoreError."""
    if request.reports or not any(_is_late(memory, run.ticket) for run in known.runs):
        return ""
    _ended_for_session(memory, request.call, _session(memory, request), request.project, "contain.untaken", UNTAKEN)
    return UNTAKEN


def _is_late(memory: Memory, id: str) -> bool:
    try:
        return os.lstat(_ticket(memory.state, id)).st_mtime < memory.clock() - LATE
    except OSError:  # it was claimed, or has expired
        return False


def _session(memory: Memory, request: Request) -> str:
    """The key of the runs: the session, or the project if a call has none."""
    return memory.known_as(request.call.session) or f"project {request.project}"


def is_granted(memory: Memory, request: Request, judged: Judged) -> bool:
    """Whether saved answers of a person allow the whole call to run outside."""
    if judged.decision.outcome is not Outcome.ALLOW:
        return False
    live = memory.live_grants(request.call.session, request.project)
    if not live or judged.lowering is None or judged.facts is None or judged.policy is None:
        return False
    from assent.policy import grants

    running = digest.running(judged.lowering, judged.facts)
    identity = digest.identity(request.call)
    return grants.allows_all(judged.lowering, judged.facts, judged.policy, live, identity=identity, running=running)


def profile_of(settings: ContainSettings, state: str, request: Request, judged: Judged) -> Profile:
    """The profile of a judged call. Raises NotContained."""
    lowering, facts, policy = judged.lowering, judged.facts, judged.policy
    assert lowering is not None and facts is not None and policy is not None  # noqa: PT018  # `plan` said so

    def protects(path: str) -> bool:
        return _is_guarded(path, Operation.WRITE, facts, policy)

    def guards(path: str) -> bool:
        effect = Effect(Operation.READ, Target(Kind.PATH, path))
        return floor.judge_effect(policy.floor, effect, (path,), facts) is not None

    asks = judged.decision.outcome is Outcome.ASK
    return profile_for(
        settings,
        request.call,
        roots=facts.roots,
        home=facts.home,
        state=state,
        # A hook sends the server a few variables only; for the others the server's own environment is the closest.
        environ=request.environ if "PATH" in request.environ else {**os.environ, **request.environ},
        protects=protects,
        guards=guards,
        installs=contained.installs(lowering),
        protected=_globs(Operation.WRITE, policy.floor, policy.deny, policy.ask),
        # Files that need a person's consent to read are absent for code that needs consent to run.
        guarded=_globs(Operation.READ, policy.floor, policy.deny, *((policy.ask,) if asks else ())),
    )


def _globs(operation: Operation, *layers: RuleSet) -> list[str]:
    """The paths of rules that hold for an operation."""
    rules = (rule for layer in layers for rule in layer.every())
    found = (rule.spec for rule in rules if rule.about is RuleKind.PATH and operation in rule.operations)
    return list(dict.fromkeys(found))


def _is_guarded(path: str, operation: Operation, facts: Facts, policy: Policy) -> bool:
    """Whether floor, deny or ask rules match an operation on a path."""
    effect = Effect(operation, Target(Kind.PATH, path))
    if floor.judge_effect(policy.floor, effect, (path,), facts) is not None:
        return True
    return any(True for rules in (policy.deny, policy.ask) for _ in rules.reaching_effect(effect, (path,)))


def sees(profile: Profile, lowering: Lowering, facts: Facts) -> bool:
    """Whether all paths that the call names exist in the run."""
    for effect in lowering.effects:
        target = effect.target
        if target.kind is not Kind.PATH or not target.name or effect.invocation < 0:
            continue
        own = lowering.invocations[effect.invocation].within < 0
        if own and not all(shows(profile, name) for name in match.names_of(target, facts)):
            return False
    folders = {cwd for command in lowering.invocations if command.within < 0 for cwd in command.cwds}
    return all(folder and shows(profile, folder) for folder in folders)


def shows(profile: Profile, path: str) -> bool:
    linked = [link for link, _ in profile.links]
    shown = (*profile.roots, *profile.writable, *profile.readable, *linked)
    return path in DEVICES or (_is_in(path, shown) and not _is_in(path, profile.hidden))


def _is_in(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def issue(memory: Memory, request: Request, found: ContainedPlan, id: str) -> tuple[str, str]:
    """The command that runs in place of the call's own, and why there is none (`""`: there is one)."""
    call = request.call
    try:
        command = call.input.get("command")
        assert isinstance(command, str)
        identity = digest.identity(call)
        made = ticket.issue(
            memory.state,
            found.profile,
            command=command,
            shell=shell(),
            cwd=call.cwd,
            digest=identity,
            session=call.session,
            now=memory.clock(),
        )
        line = ticket.command_line(memory.state, made)
        note(
            memory.state,
            _session(memory, request),
            ContainedRun(identity, made, id, request.call_id, found.profile.word, noted=id if call.session else ""),
        )
    except Exception as error:  # INVARIANT: whatever fails, it does not run
        return "", f"{UNPREPARED}: {error or type(error).__name__}"
    return line, ""


def shell() -> str:
    return next((each for each in SHELLS if os.access(each, os.X_OK)), "")


def without_ticket(found: ContainedPlan, why: str) -> Judged:
    """The judgement on a call for which no ticket could be made: the original question, or a new one."""
    if found.before.decision.outcome is not Outcome.ALLOW:
        return found.before
    return found.before.but(contained.unprepared(found.before.decision, why))


# ---------------------------------------------------------------- the end of a run


def _failure_of(memory: Memory, request: Request, last: ContainedRun) -> str:
    """Why the same call is not contained again: how its last run failed, if nothing has changed since; else `""`."""
    receipt = ticket.receipt(memory.state, last.ticket)
    if receipt is None:
        return "it did not come to an end" if not _waits(memory.state, last.ticket) else "it was not started"
    why = failure(receipt)
    if not why or receipt.refused or not receipt.started:
        return why
    changed = ledger.changed_since(memory.state, memory.known_as(request.call.session), last.record)
    return "" if changed else why


def _waits(state: str, id: str) -> bool:
    """Whether no runner has taken a ticket."""
    return os.path.lexists(_ticket(state, id))


def _ticket(state: str, id: str) -> str:
    return os.path.join(state, FOLDER, "tickets", id)


def failure(receipt: Receipt) -> str:
    """How a run failed, in words that follow `it`; `""` if it did not."""
    if not receipt.started:
        return f"could not be started there: {receipt.why}" if receipt.why else "could not be started there"
    if receipt.timed_out:
        return f"was ended after {receipt.seconds:.0f} seconds"
    if receipt.refused:
        return f"could not reach {_listed(receipt.refused)}"
    if made := (*receipt.quarantined, *receipt.left):
        return f"made {_listed(made)}, which later runs would obey" + (
            ", and it was moved aside" if not receipt.left else ""
        )
    if receipt.signal:
        return f"was ended by signal {receipt.signal}"
    return f"failed with exit status {receipt.status}" if receipt.status else ""


def failure_of(line: str) -> str:
    """How the run of a ticket failed, by the command that ran it: in words that follow `it`; `""` if it did not."""
    import shlex

    runner = shlex.split(line)[0]
    state = os.path.dirname(os.path.dirname(runner))
    receipt = ticket.receipt(state, ticket.id_of(state, line))
    return failure(receipt) if receipt is not None else ""


def _listed(names: tuple[str, ...]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(f"`{name}`" for name in names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def ended(memory: Memory, call: Call, call_id: str, project: str) -> str:
    """What to tell the agent after a call ran. If it should have run contained and did not, the session has no
    contained runs from then on. Raises StoreError."""
    session = memory.known_as(call.session) or f"project {project}"
    known = load(memory.state, session)
    command = call.input.get("command")
    typed = ticket.id_of(memory.state, command) if isinstance(command, str) else ""
    run = known.by_call(call_id) if call_id else known.by_ticket(typed) or known.of(digest.identity(call))
    if run is None or run.told:
        return ""
    receipt = ticket.receipt(memory.state, run.ticket)
    if receipt is None:
        return _replaced(memory, call, session, run, project) if _waits(memory.state, run.ticket) else ""
    note(memory.state, session, run.after())
    why = failure(receipt)
    if not why:
        return ""
    return (
        f"This call ran contained ({run.profile}), and {why}. If what is closed there is the reason, send exactly the "
        "same call again: a person is then asked to let it run outside."
    )


def _replaced(memory: Memory, call: Call, session: str, run: ContainedRun, project: str) -> str:
    more = {"decision": run.record}
    if not _ended_for_session(memory, call, session, project, "contain.replaced", REPLACED, more):
        return ""
    return f"This call was to run contained, but {REPLACED}. Tell the person."


def _ended_for_session(
    memory: Memory,
    call: Call,
    session: str,
    project: str,
    code: str,
    why: str,
    more: Mapping[str, object] | None = None,
) -> bool:
    """Switch contained runs off for the session; false if they were off before. Raises StoreError."""
    if not switch_off(memory.state, session, why):
        return False
    memory.record(
        Record(
            "event",
            journal.new_id(),
            memory.clock(),
            runtime=call.runtime,
            session=call.session,
            project=project,
            tool=call.tool,
            code=code,
            reason=why,
            more=dict(more or {}),
        )
    )
    return True


def settle(memory: Memory, session: str) -> None:
    """Add the changes of contained runs to the ledger of a session, by their receipts. An incomplete receipt changes
    nothing: the run counts as having written everything it could. Never raises."""
    try:
        runs = [run for run in load(memory.state, session).runs if run.noted]
        done: set[str] = set()
        for run in runs:
            receipt = ticket.receipt(memory.state, run.ticket)
            if receipt is None:
                continue
            done.add(run.ticket)
            if receipt.digest == run.identity and receipt.complete and not receipt.left:
                ledger.settle(memory.state, session, run.noted, receipt.changed, receipt.removed)
        if done:
            mark_settled(memory.state, session, frozenset(done))
    except Exception:  # unchanged, which costs a question
        return


def runs_as(call: Call, state: str) -> bool:
    """Whether a call is the command of a ticket, as a program reports it after the input was replaced."""
    command = call.input.get("command")
    return isinstance(command, str) and bool(ticket.id_of(state, command))
