"""Endpoints: signing in and out, one-time codes, the status of the server."""

from __future__ import annotations

import asyncio

from assent import __version__
from assent.contract import AccessError
from assent.hook import other_settings
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
    """Whether the browser is signed in. The sign-in page asks this: if no code is valid, one is shown now."""
    person, server = asked.person, asked.server
    if person is None and not server.access.codes.live:
        server.show_code()
    until = server.expires(person) if person is not None else 0
    return {"signed_in": person is not None, "who": asked.who, "until": until, "version": __version__}


async def sign_in(asked: ApiRequest) -> object:
    channel = asked.text("channel", WEB)
    if channel not in (WEB, INBOX):
        raise Refusal(422, "bad-field", f"`channel` is {WEB} or {INBOX}")
    try:
        cookie, key, person = asked.server.access.sign_in(asked.text("code"), channel, peer_of(asked))
    except AccessError as error:
        if error.code != "slow-down":  # of those there is no limit
            asked.server.log.say("a wrong code was typed")
        raise
    await asked.server.signed_in(person)
    found = {"signed_in": True, "key": key, "who": person.who, "until": asked.server.expires(person)}
    return HttpReply(found, headers={"set-cookie": f"{COOKIE}={cookie}; {COOKIE_FORM}"})


def peer_of(asked: ApiRequest) -> str:
    """Whose tries at a code are counted: the user at the other end, if the kernel says."""
    if asked.peer is not None:
        return f"user {asked.peer.uid}"
    user = peers.user_on_tcp(asked.client, asked.server.port) if asked.client else None
    return "unknown user" if user is None else f"user {user}"


async def sign_out(asked: ApiRequest) -> object:
    if asked.query.get("all"):
        asked.server.access.sessions.close_all()
        asked.server.log.say("all sessions were signed out")
    asked.server.access.sessions.close(asked.cookie)
    return HttpReply({"signed_in": False}, headers={"set-cookie": f"{COOKIE}=; Max-Age=0; {COOKIE_FORM}"})


async def code(asked: ApiRequest) -> object:
    """A new code for `assent sign-in`, which a person runs in a terminal."""
    if asked.peer is None:
        raise Refusal(403, "socket-only", "codes are given only over the socket; run `assent sign-in`")
    why = peers.why_no_person(asked.peer.pid, hosts.names(asked.server.state), since=asked.peer.since)
    if why:
        asked.server.log.say(f"a request for a code was refused: {why}")
        raise Refusal(403, "no-person", f"no code is given: {why}; run `assent sign-in` in your own terminal")
    asked.server.log.say(f"a code was given to process {asked.peer.pid}")
    return {"code": asked.server.access.codes.fresh(), "address": asked.server.address}


async def status(asked: ApiRequest) -> object:
    server = asked.server
    watchers = {"streams": len(server.hub.streams), "signed_in": len(server.access.sessions)}
    return {**server.status(), **(watchers if asked.person is not None else {})}


async def unguarded(asked: ApiRequest) -> object:
    """Folders of sessions and trusted folders whose own settings switch off the hook of an agent program."""
    server = asked.server
    found = await asyncio.to_thread(
        other_settings.switched_off, server.state, server.home, tuple(filter(None, server.projects("")))
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
        summary="whether the server runs",
        gives={200: record("ok", ok=FLAG)},
    ),
    Endpoint("GET", "/v1/session", who_am_i, needs=Role.NOBODY, summary="who is signed in here", gives={200: SESSION}),
    Endpoint(
        "POST",
        "/v1/session",
        sign_in,
        needs=Role.NOBODY,
        summary="sign in with the one-time code: gives the cookie and the key that every other request sends",
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
        summary="a new one-time code, only over the socket and to a person in a terminal",
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
        summary="folders in which a project's own settings switch off the hook of an agent program",
        gives={
            200: record("folders", folders=listing(record("runtime file what", runtime=TEXT, file=TEXT, what=TEXT)))
        },
    ),
)
