"""Endpoints for the hooks of agent programs: they take an event and answer in the program's own format. Waits for a
person if the route says so; everything else is in `hook/replies.py`.

The answer to a command hook is text that a small client can read: `done STATUS LENGTH LENGTH`, a line end, and the
hook's stdout and stderr; or `held ID DIGEST`, to come back with."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial

from assent import agents
from assent.agents.adapter import DECIDING, Adapter, Event, EventKind, Rendered, deadline_within
from assent.agents.capabilities import CAPABILITIES
from assent.contract import AssentError, Decision, Outcome, Reply, fault, keep
from assent.contract.approval import Ending, Verdict
from assent.engine.engine import Settled
from assent.engine.questions import UNDECIDED
from assent.facts import digest, servers
from assent.hook.replies import HookRequest, after_contained, alone, concluded, heard, reply_of, settled_reply
from assent.server.access import Role
from assent.server.api.checks import is_quick
from assent.server.api.endpoint import ANY, LARGE, NUMBER, TEXT, ApiRequest, Endpoint, HttpReply, Refusal, record
from assent.server.api.events import offered
from assent.server.api.request_guard import HEADER
from assent.server.held_calls import WaitingCall
from assent.server.state import Closing
from assent.state import host_dialogs

WAIT = 25.0  # seconds until a waiting hook has to come back
SOON = 0.5  # the same for its first request: a hook without an answer for two seconds decides by itself
ANSWERING = 3.0  # seconds for an answer to reach the program before its hook gives up
REMEMBERED = 256  # answers
PLAIN = "text/plain; charset=utf-8"
TAKEN_OVER = frozenset({Ending.UNSEEN})  # the ending after which the program's own dialog asks instead


class HeldHook(Exception):
    """There is no answer yet: the hook must come back with an id and a digest."""

    def __init__(self, id: str, digest: str) -> None:
        super().__init__("held")
        self.key = {"id": id, "digest": digest}


async def hook(asked: ApiRequest) -> object:
    runtime = asked.path["runtime"]
    if runtime not in CAPABILITIES:
        raise Refusal(404, "no-such-runtime", f"known are {', '.join(CAPABILITIES)}")
    adapter = agents.load(runtime)
    environ = {key: value for key, value in asked.table("environ").items() if isinstance(value, str)}
    event: Event | None = None
    try:
        home, project = environ.get("HOME", ""), asked.text("project", "")
        environ = {**environ, **servers.environment(runtime, home, project)} if adapter.names_no_servers else environ
        event = adapter.parse_text(asked.text("payload"), environ=environ, home=home, project=project)
        asked.server.remember(event.session, environ, project)
        rendered = adapter.render(event, await reply(asked, adapter, event))
    except HeldHook as held:
        return HttpReply("held {id} {digest}\n".format(**held.key).encode(), kind=PLAIN)
    except Closing as error:  # the hook decides by itself, or comes back for its question
        raise Refusal(503, "ending", str(error)) from None
    except AssentError as error:
        rendered = adapter.render(event, fault(str(error)))
    return HttpReply(framed(rendered), kind=PLAIN)


async def over_http(asked: ApiRequest) -> object:
    """Answer an HTTP hook: its body is the payload. Environment and project come from an earlier command hook of the
    same session; without one there is no workspace."""
    runtime, given = asked.path["runtime"], asked.body
    if not has_http(runtime):
        raise Refusal(404, "no-such-runtime", "this program has no HTTP hooks; install its command hook")
    adapter = agents.load(runtime)
    event: Event | None = None
    try:
        environ, project = asked.server.remembered(str(given.get("session_id", "")))
        event = adapter.parse(given, environ=environ, home=environ["HOME"], project=project)
        asked.body = {}
        while True:  # such a hook waits for its answer in one request
            try:
                return _response(adapter, event, await reply(asked, adapter, event))
            except HeldHook as held:
                asked.body = {"held": held.key}
    except AssentError as error:
        return _response(adapter, event, fault(str(error)))
    except ConnectionError:  # the program hung up
        raise
    except Exception as error:  # INVARIANT: such a program runs the call on any status but 200
        asked.server.fault(error)
        return _response(adapter, event, fault(f"an internal error of the gate: {type(error).__name__}"))


def denied(path: Mapping[str, str], words: str) -> HttpReply | None:
    """The answer to an HTTP hook whose payload cannot be read."""
    runtime = path.get("runtime", "")
    return _response(agents.load(runtime), None, fault(words)) if has_http(runtime) else None


def has_http(runtime: str) -> bool:
    return runtime in CAPABILITIES and CAPABILITIES[runtime].http


_responses: dict[tuple[int, str], tuple[Reply, HttpReply]] = {}


def _response(adapter: Adapter, event: Event | None, reply: Reply) -> HttpReply:
    """A reply as it is sent; cached per reply if nothing else goes into it."""
    plain = adapter.plain and event is not None and event.kind is EventKind.BEFORE_TOOL and not reply.command
    known = _responses.get((id(reply), adapter.runtime)) if plain else None
    if known is not None and known[0] is reply:
        return known[1]
    response = adapter.respond(event, reply)
    found = HttpReply(response.body.encode(), status=response.status, kind=response.type)
    if plain:
        keep(_responses, (id(reply), adapter.runtime), (reply, found), REMEMBERED)
    return found


_worded: dict[int, tuple[Decision, Reply]] = {}


def _in_words(decision: Decision) -> Reply:
    """A decision in words, cached per object: an engine returns the same one for the same decision."""
    known = _worded.get(id(decision))
    if known is None or known[0] is not decision:
        known = decision, reply_of(decision)
        keep(_worded, id(decision), known, REMEMBERED)
    return known[1]


def framed(rendered: Rendered) -> bytes:
    out, err = (text.encode("utf-8", "backslashreplace") for text in (rendered.stdout, rendered.stderr))
    return b"done %d %d %d\n%b%b" % (rendered.status, len(out), len(err), out, err)


async def reply(asked: ApiRequest, adapter: Adapter, event: Event) -> Reply:
    """The reply to an event. Raises HeldHook if there is none yet."""
    project = event.call.roots[0] if event.call is not None and event.call.roots else "/"
    server = asked.server
    engine, here = server.engines.find(project, event.session, moment=server.moment)
    reopen = partial(server.engine_now, project, event.session)
    given = {key: value for key, value in asked.table("environ").items() if isinstance(value, str)}
    given.setdefault("PATH", server.remembered(event.session)[0].get("PATH", ""))
    visit = HookRequest(
        event, server.gate, engine, here, adapter.runtime, asks=adapter.asks(event), reopen=reopen, environ=given
    )
    if event.kind is EventKind.BEFORE_TOOL:
        return await _before(asked, adapter, visit)
    if event.kind is EventKind.PERMISSION:
        return await _permission(asked, adapter, visit)
    if event.kind in DECIDING:
        return await server.work(alone, visit)
    ids, offer = await server.work(heard, visit)
    for id in ids:
        server.gate.broker.withdraw(id, "it was answered in the program's own dialog")
    if offer is not None:
        server.hub.send("offer", offered(offer))
    return await server.work(after_contained, visit) if engine.settings.contain is not None else Reply(Outcome.ALLOW)


async def _before(asked: ApiRequest, adapter: Adapter, visit: HookRequest) -> Reply:
    held, server = asked.table("held"), asked.server
    if held and not server.slow.knows(str(held.get("id", ""))):  # the hook is back for a question
        return await _answered(asked, adapter, visit, await _again(asked))
    settled = await (_late(asked) if held else _settled(asked, visit))
    server.metrics.decisions[settled.outcome] += 1
    if visit.call is not None:
        server.called(visit.call, visit.project)
    if settled.outcome is not Outcome.ASK:
        contained = settled.judged.decision.contained
        return settled_reply(settled) if contained else _in_words(settled.judged.decision)
    if to_dialog(visit.engine.settings.route, visit, races=adapter.races, watched=bool(server.hub.streams)):
        return visit.hand_over(settled)
    if _falls_back(adapter, visit):
        await server.work(visit.note, settled)
        server.gate.dialogs[settled.id] = TAKEN_OVER
    return await _answered(asked, adapter, visit, await _hold(asked, adapter, visit, settled))


async def _settled(asked: ApiRequest, visit: HookRequest) -> Settled:
    """Decide the event's call. A slow decision continues while the hook comes back for it."""
    server, settings = asked.server, visit.engine.settings
    request = visit.request(headless=settings.route == "runtime" and not visit.dialog)
    if settings.classifier is None and is_quick(asked, visit.engine, request.call):
        return await server.settled(request, quick=True)
    task = asyncio.ensure_future(server.settled(request))
    await asyncio.wait({task}, timeout=SOON)
    if task.done():
        return task.result()
    raise HeldHook(*server.slow.keep(task))


async def _late(asked: ApiRequest) -> Settled:
    """The slow decision that the hook comes back for."""
    id, digest = _held(asked)
    task, since = asked.server.slow.find(id, digest)
    await asyncio.wait({task}, timeout=WAIT)
    if not task.done():
        raise HeldHook(id, digest)
    asked.server.slow.drop(id)
    asked.body["spent"] = asyncio.get_running_loop().time() - since
    return task.result()


def to_dialog(route: str, visit: HookRequest, *, races: bool, watched: bool) -> bool:
    """Whether a question goes to the program's own dialog. `watched`: a page or an inbox is open."""
    return route == "runtime" or (visit.dialog and route == "both" and (races or not watched))


async def _permission(asked: ApiRequest, adapter: Adapter, visit: HookRequest) -> Reply:
    """The program's dialog is open. If it asks our question, that is asked here too: the first answer counts."""
    call, server = visit.call, asked.server
    assert call is not None
    id = await server.work(host_dialogs.find, visit.memory.state, call.session, digest.identity(call))
    if visit.engine.settings.route != "both" or not id:
        return await server.work(alone, visit)
    server.gate.dialogs[id] = UNDECIDED
    if asked.body.get("held"):
        waiting = await _again(asked)
    else:
        judged = await server.work(visit.gate.judge_outside, visit.request())
        if judged.decision.outcome is not Outcome.ASK:
            server.gate.dialogs.pop(id, None)
            return reply_of(judged.decision) if judged.decision.outcome is Outcome.DENY else Reply(Outcome.ASK)
        waiting = await _hold(asked, adapter, visit, Settled(judged, id))
    verdict = await _wait(asked, waiting)
    server.gate.dialogs.pop(id, None)
    if verdict.resolution is None or verdict.resolution.ending in UNDECIDED:
        return Reply(Outcome.ASK)  # the dialog stays
    return concluded(verdict)


async def _hold(asked: ApiRequest, adapter: Adapter, visit: HookRequest, settled: Settled) -> WaitingCall:
    return await asked.server.calls.hold(
        visit.request(),
        settled,
        attended=visit.event.attended is True,
        size=asked.size,
        limit=limit_of(asked, adapter),
    )


def limit_of(asked: ApiRequest, adapter: Adapter) -> float:
    """The seconds that a person has: less than the hook, which has less than the program. 0: no limit is known."""
    header = asked.headers.get(HEADER, "")
    known = [asked.number("deadline", 0, most=1e6), float(header) if header.isdigit() and len(header) < 7 else 0.0]
    if adapter.limit:
        known.append(float(deadline_within(adapter.limit)))
    ends = [each for each in known if each > 0]
    return max(min(ends) - ANSWERING - asked.number("spent", 0, most=1e6), 1.0) if ends else 0.0


def _held(asked: ApiRequest) -> tuple[str, str]:
    held = asked.table("held")
    return str(held.get("id", "")), str(held.get("digest", ""))


async def _again(asked: ApiRequest) -> WaitingCall:
    return await asked.server.calls.again(*_held(asked))


async def _wait(asked: ApiRequest, waiting: WaitingCall) -> Verdict:
    found = await asked.server.calls.wait(waiting, WAIT if asked.body.get("held") else SOON, asked.gone)
    if not isinstance(found, Verdict):
        raise HeldHook(waiting.id, waiting.digest)
    return found


async def _answered(asked: ApiRequest, adapter: Adapter, visit: HookRequest, waiting: WaitingCall) -> Reply:
    """The person's answer. A question that nobody could see goes to the program's own dialog, if that is attended."""
    verdict = await _wait(asked, waiting)
    asked.server.gate.dialogs.pop(waiting.id, None)
    if verdict.unseen and _falls_back(adapter, visit) and verdict.decision.tool:
        return Reply(Outcome.ASK, verdict.message)
    return concluded(verdict)


def _falls_back(adapter: Adapter, visit: HookRequest) -> bool:
    """Whether the program's own dialog asks a question that nobody could see here."""
    return adapter.asks(visit.event) and visit.event.attended is True


ENDPOINTS = (
    Endpoint(
        "POST",
        "/v1/hooks/{runtime}",
        hook,
        needs=Role.CALLER,
        summary="answer one event of an agent program in its own form; come back with `held` while a person is asked",
        body=record(
            "payload",
            payload=TEXT,
            environ=ANY,
            project=TEXT,
            deadline=NUMBER,
            held=record("id digest", id=TEXT, digest=TEXT),
        ),
        gives={200: TEXT},
        limit=LARGE,
        kind="text/plain",
        immediate=True,
    ),
    Endpoint(
        "POST",
        "/hook/{runtime}",
        over_http,
        needs=Role.CALLER,
        summary="answer an HTTP hook of an agent program in its own form; the body is its payload",
        body=ANY,
        gives={200: ANY},
        limit=LARGE,
        immediate=True,
        denial=denied,
    ),
)
