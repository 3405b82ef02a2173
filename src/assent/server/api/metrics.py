"""Counters of the server, and the endpoint that gives them to Prometheus. Counts no content."""

from __future__ import annotations

from time import time

from assent.contract import Decision, Outcome
from assent.server.access import Role
from assent.server.api.endpoint import TEXT, ApiRequest, Endpoint, HttpReply


class Metrics:
    """What happened since the start."""

    def __init__(self) -> None:
        self.started = time()
        self.requests = self.refused = self.faults = 0
        self.checks = dict.fromkeys(Outcome, 0)
        self.decisions = dict.fromkeys(Outcome, 0)

    def checked(self, decision: Decision) -> None:
        self.checks[decision.outcome] += 1

    def decided(self, decision: Decision) -> None:
        self.decisions[decision.outcome] += 1


async def metrics(asked: ApiRequest) -> object:
    house, found = asked.house, asked.house.metrics
    lines: list[str] = []

    def family(name: str, kind: str, words: str, rows: dict[str, float]) -> None:
        lines.append(f"# HELP assent_{name} {words}")
        lines.append(f"# TYPE assent_{name} {kind}")
        lines.extend(f"assent_{name}{labels} {round(value)}" for labels, value in rows.items())

    family("checks_total", "counter", "decisions without a record", _by_outcome(found.checks))
    family("decisions_total", "counter", "decisions of calls", _by_outcome(found.decisions))
    family("held", "gauge", "questions that wait", {"": len(house.gate.broker.pending())})
    family("streams", "gauge", "open event streams", {"": len(house.hub.streams)})
    family("requests_total", "counter", "requests", {"": found.requests})
    family("refused_total", "counter", "requests that were refused", {"": found.refused})
    family("faults_total", "counter", "faults inside", {"": found.faults})
    family("policy_loads_total", "counter", "policies read from their files", {"": house.gates.loads})
    family("start_time_seconds", "gauge", "when the server started", {"": round(found.started)})
    return HttpReply(("\n".join(lines) + "\n").encode(), kind="text/plain; version=0.0.4; charset=utf-8")


def _by_outcome(counts: dict[Outcome, int]) -> dict[str, float]:
    return {f'{{outcome="{outcome.word}"}}': float(count) for outcome, count in counts.items()}


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
