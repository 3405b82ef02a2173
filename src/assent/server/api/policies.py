"""Endpoints: the policy in force, the modes of sessions, grants, pauses."""

from __future__ import annotations

import asyncio

from assent.cli import policy
from assent.contract import AssentError
from assent.engine import journal
from assent.engine.cache import Refusing
from assent.engine.memory import Memory
from assent.policy import lint
from assent.policy.modes import parse_mode
from assent.server.access import Role
from assent.server.api import shown
from assent.server.api.endpoint import (
    ANY,
    NUMBER,
    TEXT,
    TEXTS,
    ApiRequest,
    Endpoint,
    Refusal,
    in_thread,
    listing,
    record,
)
from assent.state import pause, sessions


def project_of(asked: ApiRequest, given: str) -> str:
    """The project that a request names; the folder of the server if it names none."""
    project = given or asked.server.folder
    if not project.startswith("/") or "\0" in project or len(project) > 4096:
        raise Refusal(422, "bad-field", "`project` is an absolute path")
    return project


def show_policy(asked: ApiRequest) -> object:
    project = project_of(asked, asked.query.get("project", ""))
    engine, place = asked.server.engines.find(project)
    base = {"project": shown.safe(project), "projects": shown.safe(asked.server.projects(project)), "error": ""}
    if isinstance(engine, Refusing):
        return {**base, "error": shown.safe(str(engine.error), "reason")}
    findings = lint.lint(engine.settings, place.roots)
    listed = [shown.safe({name: getattr(each, name) for name in each.__slots__}) for each in findings]
    return {**base, **shown.safe(policy.as_json(engine.settings, place)), "findings": listed}


async def modes(asked: ApiRequest) -> object:
    engine, _ = asked.server.engines.find(project_of(asked, asked.query.get("project", "")))
    found = [
        {
            **shown.safe({"session": each.session, "runtime": each.runtime, "project": each.project}),
            "seen": each.seen,
            "mode": _chosen(asked, each.session),
        }
        for each in asked.server.sessions()
    ]
    settings = engine.settings
    return {
        "mode": settings.mode.word,
        "limit": settings.limit.word,
        "chosen": settings.chosen,
        "clamps": list(settings.clamps),
        "sessions": found,
    }


def _chosen(asked: ApiRequest, session: str) -> str:
    try:
        return sessions.chosen_mode(asked.server.state, session)
    except AssentError:
        return ""


async def choose_mode(asked: ApiRequest) -> object:
    session, mode = asked.text("session"), asked.text("mode")
    if not session or len(session) > 4096:
        raise Refusal(422, "bad-field", "`session` names a session")
    if mode and parse_mode(mode, file="mode").word == "yolo":
        raise Refusal(422, "bad-field", "`yolo` can be set only by `--mode` or in the user's own file")
    who, channel = asked.who, asked.channel
    await asyncio.to_thread(asked.server.gate.memory.choose_mode, session, mode, who=who, channel=channel)
    await asked.server.settle_session(session)
    asked.server.hub.send("changed", {"what": "mode"})
    return {"session": session, "mode": mode}


async def grants(asked: ApiRequest) -> object:
    memory = asked.server.gate.memory
    found = await asyncio.to_thread(memory.grants.all, memory.clock())
    return {"grants": [shown.grant(each) for each in reversed(found)]}


async def revoke(asked: ApiRequest) -> object:
    id = asked.path["id"]
    await asyncio.to_thread(_revoke, asked.server.gate.memory, id, asked.who, asked.channel)
    asked.server.hub.send("changed", {"what": "grants"})
    return {"revoked": id}


def _revoke(memory: Memory, id: str, who: str, channel: str) -> None:
    found = [each for each in memory.grants.all(memory.clock()) if each.id == id]
    if not found:
        raise Refusal(404, "unknown", "there is no such grant; it may have ended or been revoked")
    memory.trail.append(journal.of_grant(found[0], time=memory.clock(), kind="revoke", who=who, channel=channel))
    memory.grants.revoke(id, memory.clock())


async def begin_pause(asked: ApiRequest) -> object:
    seconds = asked.number("seconds", -1.0, most=pause.LONGEST)
    until = asked.server.gate.memory.pause(seconds, who=asked.who, channel=asked.channel)
    words = "paused the protection of Assent itself" if until else "ended the pause"
    asked.server.log.say(f"{asked.who} {words}")
    return {"until": until}


QUERY = {"project": "the project's folder; the default is the folder of the server"}
RULE = record("rule source origin", rule=TEXT, source=TEXT, origin=TEXT)

ENDPOINTS = (
    Endpoint(
        "GET",
        "/v1/policy",
        in_thread(show_policy),
        needs=Role.PERSON,
        summary="the policy in force in a project, where each line comes from, and what lint finds",
        query=QUERY,
        gives={
            200: record(
                "project error",
                project=TEXT,
                projects=TEXTS,
                error=TEXT,
                mode=TEXT,
                deny=listing(RULE),
                ask=listing(RULE),
                allow=listing(RULE),
                findings=listing(ANY),
            )
        },
    ),
    Endpoint(
        "GET",
        "/v1/mode",
        modes,
        needs=Role.PERSON,
        summary="the mode of a project and of the sessions that called",
        query=QUERY,
        gives={200: record("mode limit sessions", mode=TEXT, limit=TEXT, sessions=listing(ANY))},
    ),
    Endpoint(
        "POST",
        "/v1/mode",
        choose_mode,
        needs=Role.PERSON,
        summary="set the mode of a session; an empty one undoes that",
        body=record("session mode", session=TEXT, mode=TEXT),
        gives={200: record("session mode", session=TEXT, mode=TEXT)},
    ),
    Endpoint(
        "GET",
        "/v1/grants",
        grants,
        needs=Role.PERSON,
        summary="grants, the newest first",
        gives={
            200: record("grants", grants=listing(record("id scope", id=TEXT, scope=TEXT, rules=TEXTS, until=NUMBER)))
        },
    ),
    Endpoint(
        "DELETE",
        "/v1/grants/{id}",
        revoke,
        needs=Role.PERSON,
        summary="revoke a grant",
        gives={200: record("revoked", revoked=TEXT)},
    ),
    Endpoint(
        "POST",
        "/v1/pause",
        begin_pause,
        needs=Role.PERSON,
        summary="pause the protection of Assent itself for so many seconds; 0 ends a pause",
        body=record("seconds", seconds=NUMBER),
        gives={200: record("until", until=NUMBER)},
    ),
)
