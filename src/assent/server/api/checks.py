"""Endpoints for callers: decide a call, and decide, record and hold one."""

from __future__ import annotations

import os
import re
from functools import partial

from assent.approval import wire
from assent.cli.command import MODES
from assent.contract import Call, Decision, Outcome, keep
from assent.contract.approval import Verdict
from assent.engine.engine import Engine, Request, Settled
from assent.gate import verdict
from assent.policy import explain
from assent.policy.parts import nobody_answers, to_confirm
from assent.server.access import Role
from assent.server.api.endpoint import (
    ANY,
    FLAG,
    LARGE,
    NUMBER,
    TEXT,
    ApiRequest,
    Endpoint,
    HttpReply,
    Refusal,
    encode,
    record,
)
from assent.server.held_calls import WaitingCall

LONGEST_WAIT = 600.0
LONGEST_NAME = 4096
QUICK = 4096  # bytes of a request that is decided at once
REMEMBERED = 256  # answers
LONE = re.compile(r"[\ud800-\udfff]")


def call_of(asked: ApiRequest) -> tuple[Call, str, Engine]:
    """The call of a request, its project, and the engine for its session there."""
    tool, given = asked.text("tool"), asked.table("input")
    cwd, session, runtime = asked.text("cwd", ""), asked.text("session", ""), asked.text("runtime", "")
    project = asked.text("project", "") or cwd
    if not tool or max(map(len, (tool, cwd, session, runtime, project))) > LONGEST_NAME or "\0" in project + cwd:
        raise Refusal(422, "bad-call", "a call has a `tool`, and names of at most 4096 characters")
    if project and not project.startswith("/"):
        raise Refusal(422, "bad-call", "`project` and `cwd` are absolute paths")
    if LONE.search(f"{tool}{cwd}{session}{runtime}{project}"):
        raise Refusal(422, "bad-call", "a name has half a surrogate pair")
    engine, place = asked.server.engines.find(project, session, moment=asked.server.moment)
    call = Call(
        tool,
        given,
        cwd=cwd,
        roots=place.roots,
        home=place.home,
        session=session,
        runtime=runtime,
        description=asked.text("description", ""),
        shell=asked.text("shell", ""),
        hint=asked.text("hint", ""),
        agent=asked.text("agent", ""),
        annotations=asked.table("annotations"),
        definition=asked.table("definition"),
    )
    return call, project, engine


def is_quick(asked: ApiRequest, engine: Engine, call: Call) -> bool:
    """Whether a request is decided at once; the others run in a thread, so that nobody waits behind them."""
    return asked.size <= QUICK and asked.server.has_time() and engine.is_quick(call)


def host_mode(asked: ApiRequest) -> str:
    """The mode of the agent program itself, which can only tighten."""
    mode = asked.text("host_mode", "")
    if mode and mode not in MODES:
        raise Refusal(422, "bad-field", f"`host_mode` is one of {', '.join(MODES)}")
    return mode


async def check(asked: ApiRequest) -> object:
    call, project, engine = call_of(asked)
    server, request = asked.server, Request(engine, call, project, host_mode=host_mode(asked))
    if is_quick(asked, engine, call):
        request.moment = server.moment
        judged = server.gate.judge(request)
    else:
        judged = await server.work(server.gate.judge, request)
    decision = judged.decision
    if asked.flag("headless") and decision.outcome is Outcome.ASK:
        decision = nobody_answers(decision)
    server.metrics.checks[decision.outcome] += 1
    if asked.flag("whole"):
        return {**_as_json(decision), "decision": wire.plain(decision)}
    return HttpReply(_written(decision))


def _as_json(decision: Decision) -> dict[str, object]:
    return {**explain.as_json(decision), "agent_message": explain.to_agent(decision)}


_known: dict[int, tuple[Decision, bytes]] = {}


def _written(decision: Decision) -> bytes:
    """A decision as bytes, cached per object: an engine returns the same one for the same decision."""
    known = _known.get(id(decision))
    if known is None or known[0] is not decision:
        known = decision, encode(_as_json(decision)).encode()
        keep(_known, id(decision), known, REMEMBERED)
    return known[1]


async def submit(asked: ApiRequest) -> object:
    """Decide and record a call; if it asks, hold it for `wait` seconds at most."""
    wait = asked.number("wait", 60.0, most=LONGEST_WAIT)
    attended, headless = asked.flag("attended"), asked.flag("headless")
    call, project, engine = call_of(asked)
    server = asked.server
    reopen = partial(server.engine_now, project, call.session)
    request = Request(engine, call, project, headless=headless, host_mode=host_mode(asked), reopen=reopen)
    request.rewrites = asked.flag("rewrites") and not asked.flag("confirm")
    if path := asked.text("path", ""):
        request.environ = {**os.environ, "PATH": path}
    settled = await server.settled(request, quick=is_quick(asked, engine, call))
    server.metrics.decisions[settled.outcome] += 1
    server.called(call, project)
    if asked.flag("confirm") and settled.outcome is Outcome.ALLOW:
        settled = Settled(settled.judged.but(to_confirm(settled.judged.decision)), settled.id)
    if settled.outcome is not Outcome.ASK:
        return plain(verdict(settled))
    waiting = await server.calls.hold(request, settled, attended=attended, size=asked.size)
    return await outcome(asked, waiting, wait)


async def reattach(asked: ApiRequest) -> object:
    wait = asked.number("wait", 60.0, most=LONGEST_WAIT)
    return await outcome(asked, await asked.server.calls.again(asked.path["id"], asked.text("digest")), wait)


async def withdraw(asked: ApiRequest) -> object:
    asked.server.calls.withdraw(asked.path["id"], asked.text("digest"))
    return {"withdrawn": True}


async def outcome(asked: ApiRequest, waiting: WaitingCall, wait: float) -> object:
    """The verdict on a held call, or the id and digest to come back with."""
    found = await asked.server.calls.wait(waiting, wait, asked.gone)
    if isinstance(found, Verdict):
        return plain(found)
    return HttpReply({"waiting": True, **found}, status=202)


def plain(found: Verdict) -> object:
    return {"waiting": False, **{name: wire.plain(getattr(found, name)) for name in found.__slots__}}


CALL = {
    "tool": TEXT,
    "input": ANY,
    "cwd": TEXT,
    "project": TEXT,
    "session": TEXT,
    "runtime": TEXT,
    "description": TEXT,
    "shell": TEXT,
    "hint": TEXT,
    "agent": TEXT,
    "annotations": ANY,
    "definition": ANY,
    "headless": FLAG,
    "host_mode": TEXT,
    "whole": FLAG,
}
DECISION = record(
    "outcome code reason",
    outcome={"enum": ["allow", "ask", "deny"]},
    code=TEXT,
    reason=TEXT,
    layer=TEXT,
    rule=TEXT,
    source=TEXT,
    mode=TEXT,
    risk=TEXT,
    agent_message=TEXT,
    decision=ANY,
)
VERDICT = record("waiting allowed id", waiting=FLAG, allowed=FLAG, id=TEXT, message=TEXT, stop=FLAG)
WAITING = record("waiting id digest", waiting=FLAG, id=TEXT, digest=TEXT)

ENDPOINTS = (
    Endpoint(
        "POST",
        "/v1/check",
        check,
        needs=Role.CALLER,
        summary="decide a call: nothing runs, nothing is recorded, nobody is asked",
        body=record("tool", **CALL),
        gives={200: DECISION},
        limit=LARGE,
        immediate=True,
    ),
    Endpoint(
        "POST",
        "/v1/calls",
        submit,
        needs=Role.CALLER,
        summary="decide and record a call; where it asks, hold it for `wait` seconds, then give its id and digest",
        body=record("tool", **CALL, attended=FLAG, confirm=FLAG, wait=NUMBER, rewrites=FLAG, path=TEXT),
        gives={200: VERDICT, 202: WAITING},
        limit=LARGE,
        immediate=True,
    ),
    Endpoint(
        "POST",
        "/v1/calls/{id}",
        reattach,
        needs=Role.CALLER,
        summary="come back for a held call, with its id and digest",
        body=record("digest", digest=TEXT, wait=NUMBER),
        gives={200: VERDICT, 202: WAITING},
    ),
    Endpoint(
        "POST",
        "/v1/calls/{id}/withdraw",
        withdraw,
        needs=Role.CALLER,
        summary="withdraw a held call: it is denied",
        body=record("digest", digest=TEXT),
        gives={200: record("withdrawn", withdrawn=FLAG)},
    ),
)
