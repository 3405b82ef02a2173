"""Counters of the server, and their endpoint for Prometheus."""

from __future__ import annotations

from time import time

from assent.contract import Outcome
from assent.server.access import Role
from assent.server.api.endpoint import TEXT, ApiRequest, Endpoint, HttpReply


class Metrics:
    """Counts since the start."""

    def __init__(self) -> None:
        self.started = time()
        self.requests = self.refused = self.faults = 0
        self.checks = dict.fromkeys(Outcome, 0)
        self.decisions = dict.fromkeys(Outcome, 0)


async def metrics(asked: ApiRequest) -> object:
    server, found = asked.server, asked.server.metrics
    families: tuple[tuple[str, str, str, dict[str, int]], ...] = (
        ("checks_total", "counter", "decisions without a record", _by_outcome(found.checks)),
        ("decisions_total", "counter", "decisions of calls", _by_outcome(found.decisions)),
        ("held", "gauge", "questions that wait", {"": len(server.gate.broker.pending())}),
        ("streams", "gauge", "open event streams", {"": len(server.hub.streams)}),
        ("requests_total", "counter", "requests", {"": found.requests}),
        ("refused_total", "counter", "requests that were refused", {"": found.refused}),
        ("faults_total", "counter", "faults inside", {"": found.faults}),
        ("policy_loads_total", "counter", "policies read from their files", {"": server.engines.loads}),
        ("start_time_seconds", "gauge", "when the server started", {"": round(found.started)}),
    )
    lines: list[str] = []
    for name, kind, words, rows in families:
        lines += [f"# HELP assent_{name} {words}", f"# TYPE assent_{name} {kind}"]
        lines += [f"assent_{name}{labels} {value}" for labels, value in rows.items()]
    return HttpReply(("\n".join(lines) + "\n").encode(), kind="text/plain; version=0.0.4; charset=utf-8")


def _by_outcome(counts: dict[Outcome, int]) -> dict[str, int]:
    return {f'{{outcome="{outcome.word}"}}': count for outcome, count in counts.items()}


ENDPOINTS = (
    Endpoint(
        "GET",
        "/metrics",
        metrics,
        needs=Role.PERSON,
        scraped=True,
        summary="counters for Prometheus, as text; also for the token in `metrics.token`",
        gives={200: TEXT},
        kind="text/plain",
    ),
)
