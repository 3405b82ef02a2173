"""Endpoints: searching the trail, figures over time, and whether it is whole."""

from __future__ import annotations

import asyncio
from statistics import median

from assent.server.access import Role
from assent.server.api import shown
from assent.server.api.endpoint import ANY, FLAG, TEXTS, WHOLE, ApiRequest, Endpoint, listing, record
from assent.trail import query, verify
from assent.trail.entries import TrailFilter

MOST, STEPS, READ = 1000, 60, 200_000
WORDS = ("text", "session", "tool", "outcome", "kind", "rule", "code", "runtime", "id")


def wanted(asked: ApiRequest) -> TrailFilter:
    given = {name: asked.query.get(name, "")[:500] for name in WORDS}
    return TrailFilter(since=asked.asked_number("since", 0), until=asked.asked_number("until", 0), **given)


async def search(asked: ApiRequest) -> object:
    limit = int(asked.asked_number("limit", 100, most=MOST)) or 1
    return await asyncio.to_thread(_search, asked.house.gate.memory.trail.folder, wanted(asked), limit)


def _search(folder: str, what: TrailFilter, limit: int) -> object:
    found = list(query.read(folder, what, newest_first=True, limit=limit + 1))
    return {"records": [shown.entry(each.fields) for each in found[:limit]], "more": len(found) > limit}


async def stats(asked: ApiRequest) -> object:
    until = asked.asked_number("until", 0) or asked.house.clock()
    since = asked.asked_number("since", 0) or until - 86400
    return await asyncio.to_thread(_stats, asked.house.gate.memory.trail.folder, since, max(until, since + 1))


def _stats(folder: str, since: float, until: float) -> object:
    """Decisions and answers between two times, in even steps."""
    step = (until - since) / STEPS
    kinds = {"allow": 0, "ask": 0, "deny": 0, "yes": 0, "no": 0, "none": 0}
    series = [{"at": since + step * number, **kinds} for number in range(STEPS)]
    totals = {"allow": 0, "ask": 0, "deny": 0}
    refused = timed_out = 0
    waits: list[float] = []
    for entry in query.read(folder, TrailFilter(since=since, until=until), newest_first=True, limit=READ):
        fields = shown.seconds(entry.text("time")), entry.text("kind"), entry.text("outcome")
        at, kind, outcome = fields
        then = series[min(STEPS - 1, max(0, int((at - since) / step)))]
        if kind == "decision" and outcome in totals:
            totals[outcome] += 1
            then[outcome] += 1
        elif kind == "answer":
            then["yes" if outcome == "allow" else "no" if entry.text("code") == "answer.answered" else "none"] += 1
            timed_out += bool(entry.fields.get("timed_out"))
            if entry.text("code") == "answer.answered":
                refused += outcome == "deny"
                waited = entry.fields.get("latency_ms")
                waits += [waited / 1000] if isinstance(waited, int | float) else []
    return {
        "decisions": sum(totals.values()),
        "allowed": totals["allow"],
        "asked": totals["ask"],
        "denied": totals["deny"],
        "refused": refused,
        "timed_out": timed_out,
        "median_wait": median(waits) if waits else None,
        "series": series,
    }


async def check(asked: ApiRequest) -> object:
    found = await asyncio.to_thread(verify.verify, asked.house.gate.memory.trail.folder)
    problems = [shown.safe(str(found.fault), "reason")] if found.fault is not None else []
    return {"whole": found.fault is None, "records": found.lines, "problems": problems, "notes": list(found.notes)}


QUERY = {
    "text": "anywhere in a record",
    "outcome": "allow, ask or deny",
    "kind": "decision, answer, grant, revoke, mode, offer or event",
    "code": "a reason code or its family",
    "session": "a session, or how it begins",
    "tool": "a tool",
    "rule": "a part of a rule",
    "runtime": "a runtime",
    "id": "a record, or how its id begins",
    "since": "seconds since the epoch",
    "until": "seconds since the epoch",
}

ENDPOINTS = (
    Endpoint(
        "GET",
        "/v1/audit",
        search,
        needs=Role.PERSON,
        summary="records of the trail, the newest first",
        query={**QUERY, "limit": f"how many, at most {MOST}"},
        gives={200: record("records more", records=listing(ANY), more=FLAG)},
    ),
    Endpoint(
        "GET",
        "/v1/audit/stats",
        stats,
        needs=Role.PERSON,
        summary="decisions and answers over time",
        query={"since": QUERY["since"], "until": QUERY["until"]},
        gives={200: record("decisions series", decisions=WHOLE, allowed=WHOLE, asked=WHOLE, series=listing(ANY))},
    ),
    Endpoint(
        "POST",
        "/v1/audit/verify",
        check,
        needs=Role.PERSON,
        summary="walk the whole trail and say whether a line was changed, dropped or moved",
        body=record(),
        gives={200: record("whole records problems", whole=FLAG, records=WHOLE, problems=TEXTS)},
    ),
)
