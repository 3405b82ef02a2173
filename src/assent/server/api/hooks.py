"""Endpoint for the hooks of agent programs: an event in, the program's own form of answer out. Waits for a person where
the route says so; everything else is `replies`.

The answer is text: `done STATUS LENGTH LENGTH`, a line end, and what the hook prints on stdout and stderr; or
`held ID DIGEST`, to come back with. So the smallest client can read it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial

from assent import agents
from assent.agents.adapter import DECIDING, Adapter, Event, Kind, Rendered, deadline_within
from assent.agents.capabilities import CAPABILITIES
from assent.contract import AssentError, Decision, Outcome, Reply, fault, keep
from assent.contract.approval import Ending, Verdict
from assent.engine.questions import UNDECIDED
from assent.engine.request import Settled
from assent.facts import digest, servers
from assent.hook.replies import HookRequest, alone, concluded, heard, told
from assent.server.access import Role
from assent.server.api.checks import is_quick
from assent.server.api.endpoint import ANY, LARGE, NUMBER, TEXT, ApiRequest, Endpoint, HttpReply, Refusal, record
from assent.server.api.events import offered
from assent.server.api.request_guard import HEADER
from assent.server.held_calls import WaitingCall
from assent.server.state import Closing
from assent.state import host_dialogs

WAIT = 25.0  # seconds until a waiting hook has to come back
SOON = 0.5  # the same for its first request: a hook that hears nothing for two seconds decides by itself
ANSWERING = 3.0  # seconds for an answer to reach the program before its hook gives up
REMEMBERED = 256  # answers
TAKEN_OVER = frozenset({Ending.UNSEEN})  # the ending after which the program's own dialog asks in our place


class HeldHook(Exception):
    """There is no answer yet: the hook must come back with this."""

    def __init__(self, id: str, digest: str) -> None:
        super().__init__("held")
        self.id = id
        self.digest = digest


async def hook(asked: ApiRequest) -> object:
    """Answer one event of an agent program."""
    runtime = asked.path["runtime"]
    if runtime not in CAPABILITIES:
        raise Refusal(404, "no-such-runtime", f"known are {', '.join(CAPABILITIES)}")
    adapter = agents.load(runtime)
    environ = {key: value for key, value in asked.table("environ").items() if isinstance(value, str)}
    event: Event | None = None
    try:
        home = environ.get("HOME", "")
        project = asked.text("project", "")
        environ = {**environ, **servers.told(runtime, home, project)} if adapter.names_no_servers else environ
        event = adapter.parse_text(asked.text("payload"), environ=environ, home=home, project=project)
        asked.house.remember(event.session, environ, project)
        rendered = adapter.render(event, await reply(asked, adapter, event))
    except HeldHook as held:
        return HttpReply(f"held {held.id} {held.digest}\n".encode(), kind="text/plain; charset=utf-8")
    except Closing as error:  # the hook decides by itself, or comes back for its question
        raise Refusal(503, "ending", str(error)) from None
    except AssentError as error:
        rendered = adapter.render(event, fault(str(error)))
    return HttpReply(framed(rendered), kind="text/plain; charset=utf-8")


async def over_http(asked: ApiRequest) -> object:
    """Answer an HTTP hook: the payload is the body, and the answer what the program reads. What such a hook is not
    told, a command hook of the same session told before; where it did not, there is no workspace."""
    runtime, given = asked.path["runtime"], asked.body
    if runtime not in CAPABILITIES or not CAPABILITIES[runtime].http:
        raise Refusal(404, "no-such-runtime", "this program is not asked over HTTP; install its command hook")
    adapter = agents.load(runtime)
    event: Event | None = None
    try:
        environ, project = asked.house.told(str(given.get("session_id", "")))
        event = adapter.parse(given, environ=environ, home=environ["HOME"], project=project)
        asked.body = {}
        return _response(adapter, event, await _in_one_go(asked, adapter, event))
    except AssentError as error:
        return _response(adapter, event, fault(str(error)))
    except ConnectionError:  # whoever asked is gone
        raise
    except Exception as error:  # INVARIANT: such a program takes any other status than 200 for leave to run the call
        asked.house.fault(error)
        return _response(adapter, event, fault(f"the gate failed inside: {type(error).__name__}"))


def denied(path: Mapping[str, str], words: str) -> HttpReply | None:
    """The answer to an HTTP hook whose payload cannot be read."""
    runtime = path.get("runtime", "")
    if runtime not in CAPABILITIES or not CAPABILITIES[runtime].http:
        return None
    return _response(agents.load(runtime), None, fault(words))


_responses: dict[tuple[int, str], tuple[Reply, HttpReply]] = {}


def _response(adapter: Adapter, event: Event | None, told: Reply) -> HttpReply:
    """What the program is told, as it is sent. To the same words it is the same, where nothing else goes into it."""
    plain = adapter.plain and event is not None and event.kind is Kind.BEFORE_TOOL
    known = _responses.get((id(told), adapter.runtime)) if plain else None
    if known is not None and known[0] is told:
        return known[1]
    response = adapter.respond(event, told)
    found = HttpReply(response.body.encode(), status=response.status, kind=response.type)
    if plain:
        keep(_responses, (id(told), adapter.runtime), (told, found), REMEMBERED)
    return found


_words: dict[int, tuple[Decision, Reply]] = {}


def _told(decision: Decision) -> Reply:
    """A decision in words. A gate that decides the same again gives the same object, and so do we."""
    known = _words.get(id(decision))
    if known is not None and known[0] is decision:
        return known[1]
    found = told(decision)
    keep(_words, id(decision), (decision, found), REMEMBERED)
    return found


async def _in_one_go(asked: ApiRequest, adapter: Adapter, event: Event) -> Reply:
    """An HTTP hook waits for its answer in one request."""
    while True:
        try:
            return await reply(asked, adapter, event)
        except HeldHook as held:
            asked.body = {"held": {"id": held.id, "digest": held.digest}}


def framed(rendered: Rendered) -> bytes:
    out, err = (text.encode("utf-8", "backslashreplace") for text in (rendered.stdout, rendered.stderr))
    return b"done %d %d %d\n%b%b" % (rendered.status, len(out), len(err), out, err)


async def reply(asked: ApiRequest, adapter: Adapter, event: Event) -> Reply:
    """What the program is told."""
    project = event.call.roots[0] if event.call is not None and event.call.roots else ""
    house = asked.house
    gate, here = house.gates.find(project or "/", event.session, moment=house.moment)
    where, session = project or "/", event.session
    reopen = partial(house.gate_now, where, session)
    visit = HookRequest(event, house.gate, gate, here, adapter.runtime, asks=adapter.asks(event), reopen=reopen)
    if event.kind is Kind.BEFORE_TOOL:
        return await _before(asked, adapter, visit)
    if event.kind is Kind.PERMISSION:
        return await _permission(asked, adapter, visit)
    if event.kind in DECIDING:
        return await asked.house.work(alone, visit)
    ids, offer = await asked.house.work(heard, visit)
    for id in ids:
        house.gate.broker.withdraw(id, "it was answered in the program's own dialog")
    if offer is not None:
        house.hub.tell("offer", offered(offer))
    return Reply(Outcome.ALLOW)


async def _before(asked: ApiRequest, adapter: Adapter, visit: HookRequest) -> Reply:
    held, slow = asked.table("held"), asked.house.slow
    if held and not slow.knows(str(held.get("id", ""))):  # the hook is back for a question that was asked before
        return await _answered(asked, adapter, visit, await _again(asked))
    route = visit.engine.settings.route
    settled = await (_late(asked) if held else _settled(asked, visit))
    decision = settled.judged.decision
    asked.house.metrics.decided(decision)
    if visit.call is not None:
        asked.house.seen(visit.call, visit.project)
    if decision.outcome is not Outcome.ASK:
        return _told(decision)
    if to_dialog(route, visit, races=adapter.races, watched=bool(asked.house.hub.streams)):
        return visit.hand_over(settled)
    if _falls_back(adapter, visit):
        await asked.house.work(visit.note, settled)
        asked.house.gate.dialogs[settled.id] = TAKEN_OVER
    return await _answered(asked, adapter, visit, await _hold(asked, adapter, visit, settled))


async def _settled(asked: ApiRequest, visit: HookRequest) -> Settled:
    """The event's call, decided. One that takes long goes on while the hook comes back for it."""
    house, settings = asked.house, visit.engine.settings
    headless = settings.route == "runtime" and not visit.dialog
    request = visit.request(headless=headless)
    if settings.classifier is None and is_quick(asked, visit.engine, request.call):
        return await house.settled(request, quick=True)
    task = asyncio.ensure_future(house.settled(request))
    await asyncio.wait({task}, timeout=SOON)
    if task.done():
        return task.result()
    raise HeldHook(*house.slow.keep(task))


async def _late(asked: ApiRequest) -> Settled:
    """What was decided since the hook was here."""
    held = asked.table("held")
    id, digest = str(held.get("id", "")), str(held.get("digest", ""))
    task, since = asked.house.slow.find(id, digest)
    await asyncio.wait({task}, timeout=WAIT)
    if not task.done():
        raise HeldHook(id, digest)
    asked.house.slow.drop(id)
    asked.body["spent"] = asyncio.get_running_loop().time() - since
    return task.result()


def to_dialog(route: str, visit: HookRequest, *, races: bool, watched: bool) -> bool:
    """Whether a question goes to the program's own dialog. `watched`: somebody looks at ours."""
    if route == "runtime":
        return True
    return visit.dialog and route == "both" and (races or not watched)


async def _permission(asked: ApiRequest, adapter: Adapter, visit: HookRequest) -> Reply:
    """The program's dialog is open. What it asks for us is asked here too: the first answer counts."""
    call = visit.call
    assert call is not None
    id = await asked.house.work(host_dialogs.find, visit.memory.state, call.session, digest.identity(call))
    if visit.engine.settings.route != "both" or not id:
        return await asked.house.work(alone, visit)
    asked.house.gate.dialogs[id] = UNDECIDED
    if asked.body.get("held"):
        waiting = await _again(asked)
    else:
        judged = await asked.house.work(visit.gate.judge, visit.request())
        if judged.decision.outcome is not Outcome.ASK:
            asked.house.gate.dialogs.pop(id, None)
            return told(judged.decision) if judged.decision.outcome is Outcome.DENY else Reply(Outcome.ASK)
        waiting = await _hold(asked, adapter, visit, Settled(judged, id))
    verdict = await _wait(asked, waiting)
    asked.house.gate.dialogs.pop(id, None)
    if verdict.resolution is None or verdict.resolution.ending in UNDECIDED:
        return Reply(Outcome.ASK)  # the dialog stays
    return concluded(verdict)


async def _hold(asked: ApiRequest, adapter: Adapter, visit: HookRequest, settled: Settled) -> WaitingCall:
    return await asked.house.calls.hold(
        visit.request(),
        settled,
        attended=visit.event.attended is True,
        size=asked.size,
        limit=limit_of(asked, adapter),
    )


def limit_of(asked: ApiRequest, adapter: Adapter) -> float:
    """The seconds that a person has at most: less than the hook, which has less than the program. 0: no limit is
    known."""
    header = asked.headers.get(HEADER, "")
    known = [asked.number("deadline", 0, most=1e6), float(header) if header.isdigit() and len(header) < 7 else 0.0]
    if adapter.limit:
        known.append(float(deadline_within(adapter.limit)))
    ends = [each for each in known if each > 0]
    return max(min(ends) - ANSWERING - asked.number("spent", 0, most=1e6), 1.0) if ends else 0.0


async def _again(asked: ApiRequest) -> WaitingCall:
    held = asked.table("held")
    return await asked.house.calls.again(str(held.get("id", "")), str(held.get("digest", "")))


async def _wait(asked: ApiRequest, waiting: WaitingCall) -> Verdict:
    found = await asked.house.calls.wait(waiting, WAIT if asked.body.get("held") else SOON, asked.gone)
    if not isinstance(found, Verdict):
        raise HeldHook(waiting.id, waiting.digest)
    return found


async def _answered(asked: ApiRequest, adapter: Adapter, visit: HookRequest, waiting: WaitingCall) -> Reply:
    """The person's answer; a question that nobody could see goes to the program's own dialog, where one is attended."""
    verdict = await _wait(asked, waiting)
    asked.house.gate.dialogs.pop(waiting.id, None)
    if verdict.unseen and _falls_back(adapter, visit) and verdict.decision.tool:
        return Reply(Outcome.ASK, verdict.message)
    return concluded(verdict)


def _falls_back(adapter: Adapter, visit: HookRequest) -> bool:
    """Whether the program's own dialog asks what nobody could see here."""
    return adapter.asks(visit.event) and visit.event.attended is True


ENDPOINTS = (
    Endpoint(
        "POST",
        "/v1/hooks/{runtime}",
        hook,
        needs=Role.CALLER,
        summary="answer one event of an agent program, in its own form; come back with `held` while a person is asked",
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
        prompt=True,
    ),
    Endpoint(
        "POST",
        "/hook/{runtime}",
        over_http,
        needs=Role.CALLER,
        summary="answer an HTTP hook of an agent program: its payload in, its own form of answer out",
        body=ANY,
        gives={200: ANY},
        limit=LARGE,
        prompt=True,
        denial=denied,
    ),
)
