"""Endpoints: search and verify the trail, counts over time."""

from __future__ import annotations

from statistics import median

from assent.server.access import Role
from assent.server.api import shown
from assent.server.api.endpoint import ANY, FLAG, TEXTS, WHOLE, ApiRequest, Endpoint, in_thread, listing, record
from assent.trail import query, verify
from assent.trail.entries import TrailFilter

MOST, STEPS, READ = 1000, 60, 200_000
WORDS = ("text", "session", "tool", "outcome", "kind", "rule", "code", "runtime", "id")


def search(asked: ApiRequest) -> object:
    limit = int(asked.query_number("limit", 100, most=MOST)) or 1
    given = {name: asked.query.get(name, "")[:500] for name in WORDS}
    what = TrailFilter(since=asked.query_number("since", 0), until=asked.query_number("until", 0), **given)
    found = list(query.read(asked.server.gate.memory.trail.folder, what, newest_first=True, limit=limit + 1))
    return {"records": [shown.entry(each.fields) for each in found[:limit]], "more": len(found) > limit}


def stats(asked: ApiRequest) -> object:
    until = asked.query_number("until", 0) or asked.server.clock()
    since = asked.query_number("since", 0) or until - 86400
    until, folder = max(until, since + 1), asked.server.gate.memory.trail.folder
    step = (until - since) / STEPS
    kinds = {"allow": 0, "ask": 0, "deny": 0, "yes": 0, "no": 0, "none": 0}
    series = [{"at": since + step * number, **kinds} for number in range(STEPS)]
    totals = {"allow": 0, "ask": 0, "deny": 0}
    refused = timed_out = 0
    waits: list[float] = []
    for entry in query.read(folder, TrailFilter(since=since, until=until), newest_first=True, limit=READ):
        at, kind, outcome = shown.seconds(entry.text("time")), entry.text("kind"), entry.text("outcome")
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


def check(asked: ApiRequest) -> object:
    found = verify.verify(asked.server.gate.memory.trail.folder)
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
        in_thread(search),
        needs=Role.PERSON,
        summary="records of the trail, the newest first",
        query={**QUERY, "limit": f"how many, at most {MOST}"},
        gives={200: record("records more", records=listing(ANY), more=FLAG)},
    ),
    Endpoint(
        "GET",
        "/v1/audit/stats",
        in_thread(stats),
        needs=Role.PERSON,
        summary="decisions and answers over time",
        query={"since": QUERY["since"], "until": QUERY["until"]},
        gives={200: record("decisions series", decisions=WHOLE, allowed=WHOLE, asked=WHOLE, series=listing(ANY))},
    ),
    Endpoint(
        "POST",
        "/v1/audit/verify",
        in_thread(check),
        needs=Role.PERSON,
        summary="verify the whole trail: whether a line was changed, dropped or moved",
        body=record(),
        gives={200: record("whole records problems", whole=FLAG, records=WHOLE, problems=TEXTS)},
    ),
)
