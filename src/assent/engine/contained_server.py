"""How an MCP server behind the proxy is started: contained, outside by a rule of the person, or not at all.

A person wrote the start command into the settings of a client, so no mode asks about it. The server runs as long as the
client and has no time limit. A file it creates could take effect during all that time, so it can write to the workspace
only if the person says so.

INVARIANT: if contained runs are on, a server is never started outside because something failed here."""

from __future__ import annotations

import os
import posixpath
import shlex
import shutil
from collections.abc import Sequence

from assent.contain import sandbox, ticket
from assent.contain.profile import PROGRAM_FOLDERS, NotContained, Profile
from assent.contract import Decision, Layer, Outcome, Part, Value
from assent.engine import journal
from assent.engine.containment import failure, is_granted, profile_of, sees, shell, shows
from assent.engine.engine import Judged, Request
from assent.engine.memory import Memory
from assent.facts import digest
from assent.policy import contained
from assent.policy.contain_settings import ContainSettings
from assent.state import ledger

UNREADABLE = "it is not known what the command does"


class ServerStart(Value):
    """How a server is started: by `words`, if it runs contained as `profile` says. Without words the command itself is
    run, unless `why` gives a reason against it: then a person has to allow it. `denied`: a rule denies it."""

    __slots__ = ("words", "profile", "ticket", "why", "denied")

    def __init__(
        self, words: Sequence[str] = (), profile: str = "", ticket: str = "", why: str = "", *, denied: bool = False
    ) -> None:
        self.words = tuple(words)
        self.profile = profile
        self.ticket = ticket
        self.why = why
        self.denied = denied


def prepare(
    memory: Memory, request: Request, judged: Judged, command: Sequence[str], *, writes: bool = False
) -> ServerStart:
    """How to start a server after its start command was judged as a call of the shell. Never raises."""
    settings, decision = request.engine.settings.contain, judged.decision
    if settings is None or (decision.mode and not contained.holds_for_servers(decision.mode, settings)):
        return ServerStart()
    if decision.outcome is Outcome.DENY and decision.deciding.layer is not Layer.MODE:
        return ServerStart(why=decision.reason, denied=True)
    try:
        if contained.is_a_persons(decision) or is_granted(memory, request, judged):
            return ServerStart()
        profile = _profile(memory, request, judged, command, settings).of_server(writes=writes)
        return _issued(memory, request, judged, command, profile)
    except Exception as error:
        return ServerStart(why=str(error) or type(error).__name__)


def _profile(
    memory: Memory, request: Request, judged: Judged, command: Sequence[str], settings: ContainSettings
) -> Profile:
    """The access of the server. Raises NotContained."""
    if why := sandbox.why_not(memory.state):
        raise NotContained(why)
    if judged.lowering is None or judged.facts is None or judged.policy is None or judged.lowering.has_own_gaps():
        raise NotContained(UNREADABLE)
    if why := contained.why_not_a_server(judged.lowering, settings):
        raise NotContained(why)
    path = request.environ.get("PATH", os.defpath)
    program = shutil.which(command[0], path=path)
    if program is None:
        raise NotContained(f"`{command[0]}` is not there")
    folder = posixpath.dirname(posixpath.join(request.call.cwd, program))
    if posixpath.basename(folder) in PROGRAM_FOLDERS:  # a person named it, like those in PATH
        request.environ = {**request.environ, "PATH": f"{path}:{folder}"}
    profile = profile_of(settings, memory.state, request, judged)
    named = posixpath.join(folder, posixpath.basename(program))
    if not shows(profile, named) or not shows(profile, os.path.realpath(named)):
        raise NotContained(f"a contained run does not see `{named}`")
    if not sees(profile, judged.lowering, judged.facts):
        raise NotContained("the command names files that a contained run does not see")
    return profile


def _issued(memory: Memory, request: Request, judged: Judged, command: Sequence[str], profile: Profile) -> ServerStart:
    """Write the ticket, the record and the line in the ledger."""
    call, id = request.call, journal.new_id()
    made = ticket.issue(
        memory.state,
        profile,
        command=f"exec {shlex.join(command)}",
        shell=shell(),
        cwd=call.cwd,
        digest=digest.identity(call),
        session=call.session,
        now=memory.clock(),
    )
    decided = judged.but(_decision(judged.decision, profile.word))
    record = journal.of_decision(call, decided, id, project=request.project, time=memory.clock(), latency=0.0)
    if problem := memory.record(record):
        return ServerStart(why=problem, denied=True)
    changes = (*(() if profile.frozen else profile.roots), *profile.writable)
    if call.session and changes:
        ledger.note(memory.state, memory.known_as(call.session), id, ledger.LedgerEntry(below=changes, job=True))
    return ServerStart(shlex.split(ticket.command_line(memory.state, made)), profile.word, made)


def _decision(decision: Decision, profile: str) -> Decision:
    part = Part(Outcome.ALLOW, Layer.MODE, "contain.server", f"an MCP server starts contained: {profile}")
    return Decision(
        Outcome.ALLOW, part, (part,), mode=decision.mode, risk=decision.risk, tool=decision.tool, contained=profile
    )


def ended(memory: Memory, start: ServerStart) -> str:
    """How a contained server failed, in words that follow `it`; `""` if it did not."""
    receipt = ticket.receipt(memory.state, start.ticket) if start.ticket else None
    return failure(receipt) if receipt is not None else ""
