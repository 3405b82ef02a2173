"""Endpoints: signing in and out, handing out codes, whether the server lives."""

from __future__ import annotations

import asyncio

from assent import __version__
from assent.contract import AccessError
from assent.hook import exposures
from assent.server import peers
from assent.server.access import INBOX, WEB, Role
from assent.server.api.endpoint import (
    FLAG,
    NUMBER,
    TEXT,
    WHOLE,
    ApiRequest,
    Endpoint,
    HttpReply,
    Refusal,
    listing,
    record,
)
from assent.server.api.request_guard import COOKIE
from assent.state import hosts

COOKIE_FORM = "HttpOnly; SameSite=Strict; Path=/"


async def who_am_i(asked: ApiRequest) -> object:
    """Whether the browser is signed in. The sign-in page asks this: if no code is live, one is shown now."""
    if asked.person is None:
        asked.house.show_code_if_none()
        return {"signed_in": False, "who": "", "until": 0, "version": __version__}
    return {"signed_in": True, "who": asked.person.who, "until": asked.house.ends(asked.person), "version": __version__}


async def sign_in(asked: ApiRequest) -> object:
    channel = asked.text("channel", WEB)
    if channel not in (WEB, INBOX):
        raise Refusal(422, "bad-field", f"`channel` is {WEB} or {INBOX}")
    try:
        cookie, key, person = asked.house.access.sign_in(asked.text("code"), channel, peer_of(asked))
    except AccessError as error:
        if error.code != "slow-down":  # those are as many as somebody likes
            asked.house.voice.say("somebody typed a wrong code")
        raise
    await asked.house.signed_in(person)
    headers = {"set-cookie": f"{COOKIE}={cookie}; {COOKIE_FORM}"}
    found = {"signed_in": True, "key": key, "who": person.who, "until": asked.house.ends(person)}
    return HttpReply(found, headers=headers)


def peer_of(asked: ApiRequest) -> str:
    """Whose tries at a code these are: the user at the other end, where the kernel tells."""
    if asked.peer is not None:
        return f"user {asked.peer.uid}"
    user = peers.user_on_tcp(asked.client, asked.house.port) if asked.client else None
    return "nobody known" if user is None else f"user {user}"


async def sign_out(asked: ApiRequest) -> object:
    """End this session, or all of them."""
    if asked.query.get("all"):
        asked.house.access.sessions.close_all()
        asked.house.voice.say("everybody was signed out")
    asked.house.access.sessions.close(asked.cookie)
    return HttpReply({"signed_in": False}, headers={"set-cookie": f"{COOKIE}=; Max-Age=0; {COOKIE_FORM}"})


async def code(asked: ApiRequest) -> object:
    """A fresh code for `assent sign-in`, which a person runs in a terminal."""
    if asked.peer is None:
        raise Refusal(403, "socket-only", "a code is given out over the socket only; run `assent sign-in`")
    why = peers.why_no_person(asked.peer.pid, hosts.names(asked.house.state), since=asked.peer.since)
    if why:
        asked.house.voice.say(f"a code was asked for and refused: {why}")
        raise Refusal(403, "no-person", f"no code is given out: {why}; run `assent sign-in` in a terminal of your own")
    asked.house.voice.say(f"a code was given out to process {asked.peer.pid}")
    return {"code": asked.house.access.codes.fresh(), "address": asked.house.address}


async def status(asked: ApiRequest) -> object:
    found = asked.house.status()
    return found if asked.person is None else {**found, **asked.house.watchers()}


async def unguarded(asked: ApiRequest) -> object:
    """Folders whose own settings switch the hook of an agent program off: those of sessions, and trusted ones."""
    house = asked.house
    found = await asyncio.to_thread(
        exposures.switched_off, house.state, house.home, tuple(filter(None, house.projects("")))
    )
    return {"folders": [{"runtime": runtime, "file": path, "what": text} for runtime, path, text in found]}


async def health(asked: ApiRequest) -> object:
    return {"ok": True}


SESSION = record("signed_in", signed_in=FLAG, who=TEXT, until=NUMBER, version=TEXT)
STATUS = record(
    "pid address mode held",
    version=TEXT,
    pid=WHOLE,
    address=TEXT,
    socket=TEXT,
    mode=TEXT,
    problem=TEXT,
    held=WHOLE,
    streams=WHOLE,
    signed_in=WHOLE,
    uptime=NUMBER,
    elsewhere={"type": "object", "additionalProperties": record("state why", state=TEXT, why=TEXT)},
)

ENDPOINTS = (
    Endpoint(
        "GET",
        "/healthz",
        health,
        needs=Role.NOBODY,
        summary="whether the server lives",
        gives={200: record("ok", ok=FLAG)},
    ),
    Endpoint("GET", "/v1/session", who_am_i, needs=Role.NOBODY, summary="who is signed in here", gives={200: SESSION}),
    Endpoint(
        "POST",
        "/v1/session",
        sign_in,
        needs=Role.NOBODY,
        summary="sign in with the one-time code: gives the cookie and the key that go with every other request",
        body=record("code", code=TEXT, channel={"enum": [WEB, INBOX]}),
        gives={200: record("signed_in key", signed_in=FLAG, key=TEXT, who=TEXT, until=NUMBER)},
    ),
    Endpoint(
        "DELETE",
        "/v1/session",
        sign_out,
        needs=Role.PERSON,
        summary="sign out",
        query={"all": "end every session, not only this one"},
        gives={200: record("signed_in", signed_in=FLAG)},
    ),
    Endpoint(
        "POST",
        "/v1/codes",
        code,
        needs=Role.CALLER,
        summary="a fresh one-time code, over the socket and to a person in a terminal only",
        body=record(),
        gives={200: record("code", code=TEXT, address=TEXT)},
    ),
    Endpoint(
        "GET",
        "/v1/status",
        status,
        needs=Role.CALLER,
        summary="where the server is, its mode, how many questions wait; for a person also who watches",
        gives={200: STATUS},
    ),
    Endpoint(
        "GET",
        "/v1/unguarded",
        unguarded,
        needs=Role.PERSON,
        summary="folders in which a project's own settings switch the hook of an agent program off",
        gives={
            200: record("folders", folders=listing(record("runtime file what", runtime=TEXT, file=TEXT, what=TEXT)))
        },
    ),
)
