"""Endpoints: the policy in force, the modes of sessions, remembered answers."""

from __future__ import annotations

import asyncio

from assent.cli import policy
from assent.contract import AssentError
from assent.engine import journal
from assent.engine.cache import Refusing
from assent.policy import lint
from assent.policy.modes import parse_mode
from assent.server.access import Role
from assent.server.api import shown
from assent.server.api.endpoint import ANY, NUMBER, TEXT, TEXTS, ApiRequest, Endpoint, Refusal, listing, record
from assent.state import sessions


def project_of(asked: ApiRequest) -> str:
    project = asked.query.get("project", "") or asked.house.folder
    if not project.startswith("/") or "\0" in project or len(project) > 4096:
        raise Refusal(422, "bad-field", "`project` is a whole path")
    return project


async def show_policy(asked: ApiRequest) -> object:
    return await asyncio.to_thread(_policy, asked)


def _policy(asked: ApiRequest) -> object:
    project = project_of(asked)
    gate, place = asked.house.gates.find(project)
    base = {"project": shown.safe(project), "projects": shown.safe(asked.house.projects(project)), "error": ""}
    if isinstance(gate, Refusing):
        return {**base, "error": shown.safe(str(gate.error), "reason")}
    findings = lint.lint(gate.settings, place.roots)
    listed = [shown.safe({name: getattr(each, name) for name in each.__slots__}) for each in findings]
    return {**base, **shown.safe(policy.as_json(gate.settings, place)), "findings": listed}


async def modes(asked: ApiRequest) -> object:
    """The mode of a project, and the modes that persons chose for sessions."""
    gate, _ = asked.house.gates.find(project_of(asked))
    found = [
        {
            **shown.safe({"session": each.session, "runtime": each.runtime, "project": each.project}),
            "seen": each.seen,
            "mode": _chosen(asked, each.session),
        }
        for each in asked.house.sessions()
    ]
    settings = gate.settings
    return {
        "mode": settings.mode.word,
        "limit": settings.limit.word,
        "chosen": settings.chosen,
        "clamps": list(settings.clamps),
        "sessions": found,
    }


def _chosen(asked: ApiRequest, session: str) -> str:
    try:
        return sessions.chosen_mode(asked.house.state, session)
    except AssentError:
        return ""


async def choose_mode(asked: ApiRequest) -> object:
    """Give a session another mode; an empty one takes the choice back."""
    session, mode = asked.text("session"), asked.text("mode")
    if not session or len(session) > 4096:
        raise Refusal(422, "bad-field", "`session` names the session that is meant")
    if mode:
        word = parse_mode(mode, file="mode").word
        if word == "yolo":
            raise Refusal(422, "bad-field", "`yolo` can be chosen by `--mode` or in the user's own file only")
    who, channel = asked.who, asked.channel
    await asyncio.to_thread(asked.house.gate.memory.choose_mode, session, mode, who=who, channel=channel)
    await asked.house.settle_session(session)
    asked.house.hub.tell("changed", {"what": "mode"})
    return {"session": session, "mode": mode}


async def grants(asked: ApiRequest) -> object:
    memory = asked.house.gate.memory
    found = await asyncio.to_thread(memory.grants.all, memory.clock())
    return {"grants": [shown.grant(each) for each in reversed(found)]}


async def revoke(asked: ApiRequest) -> object:
    house, id = asked.house, asked.path["id"]
    await asyncio.to_thread(_revoke, house.gate.memory, id, asked.who, asked.channel)
    house.hub.tell("changed", {"what": "grants"})
    return {"revoked": id}


def _revoke(memory: object, id: str, who: str, channel: str) -> None:
    from assent.engine.memory import Memory

    assert isinstance(memory, Memory)
    found = [each for each in memory.grants.all(memory.clock()) if each.id == id]
    if not found:
        raise Refusal(404, "unknown", "there is no such grant; it may have ended or been taken back")
    memory.trail.append(journal.of_grant(found[0], time=memory.clock(), kind="revoke", who=who, channel=channel))
    memory.grants.revoke(id, memory.clock())


QUERY = {"project": "the project's folder; the server's own where it is left out"}
RULE = record("rule source origin", rule=TEXT, source=TEXT, origin=TEXT)

ENDPOINTS = (
    Endpoint(
        "GET",
        "/v1/policy",
        show_policy,
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
        summary="give a session another mode; an empty one takes the choice back",
        body=record("session mode", session=TEXT, mode=TEXT),
        gives={200: record("session mode", session=TEXT, mode=TEXT)},
    ),
    Endpoint(
        "GET",
        "/v1/grants",
        grants,
        needs=Role.PERSON,
        summary="remembered answers, the newest first",
        gives={
            200: record("grants", grants=listing(record("id scope", id=TEXT, scope=TEXT, rules=TEXTS, until=NUMBER)))
        },
    ),
    Endpoint(
        "DELETE",
        "/v1/grants/{id}",
        revoke,
        needs=Role.PERSON,
        summary="take a remembered answer back",
        gives={200: record("revoked", revoked=TEXT)},
    ),
)
