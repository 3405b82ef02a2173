"""Counts records of the trail: prompts, answers, rules, latencies, days.

A *prompt* is a decision with outcome `ask`; an *answer* is how one ended. Counts of the busiest things are exact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from heapq import heappop, heappush
from math import ceil

from assent.trail.entries import TrailEntry

SLOWEST = 10
_GROUPED = ("kind", "outcome", "tool", "rule", "session", "code", "channel", "timed_out")
FIELDS = (*_GROUPED, "time", "id", "latency_ms", "classifier")  # the fields of a record that are counted


@dataclass(frozen=True, slots=True)
class Slow:
    seconds: float
    id: str
    tool: str
    session: str
    time: str


@dataclass(slots=True)
class ClassifierStats:
    """The results and cost of the classifier, from records with a `classifier` object.

    `requests` were sent to the model; `cached` opinions and those never requested cost nothing. `safe` ones let calls
    run, `asked` went to a person although the model answered, `errors` because it did not. Latencies are of requests,
    in milliseconds."""

    requests: int = 0
    cached: int = 0
    safe: int = 0
    asked: int = 0
    errors: int = 0
    median_ms: float = 0.0
    p95_ms: float = 0.0
    tokens: int = 0
    cost: float = 0.0

    def add(self, given: dict[str, object], latencies: list[float]) -> None:
        """Count one such object; the latency of a request goes to `latencies`."""
        took = _number(given.get("latency_ms"))
        if given.get("cached") is True:
            self.cached += 1
        elif took:
            self.requests += 1
            latencies.append(took)
        if given.get("settled") is True:
            self.safe += 1
        elif given.get("error"):
            self.errors += 1
        else:
            self.asked += 1
        self.tokens += int(_number(given.get("tokens")))
        self.cost += _number(given.get("cost"))

    def finish(self, latencies: list[float]) -> None:
        latencies.sort()
        self.median_ms, self.p95_ms = _at(latencies, 0.5), _at(latencies, 0.95)
        self.cost = round(self.cost, 9)


class Stats:
    """The counts. `latency` is of deciding, in milliseconds: (mean, largest)."""

    def __init__(self) -> None:
        self.records = self.prompts = self.approvals = self.timeouts = 0
        self.denials = 0  # of answers, timeouts included
        self.first = self.last = ""
        self.outcomes: Counter[str] = Counter()  # of decisions
        self.by_tool: Counter[str] = Counter()
        self.prompts_by_tool: Counter[str] = Counter()
        self.by_rule: Counter[str] = Counter()
        self.by_session: Counter[str] = Counter()
        self.by_code: Counter[str] = Counter()
        self.by_channel: Counter[str] = Counter()  # approvals
        self.by_day: Counter[str] = Counter()  # prompts
        self.kinds: Counter[str] = Counter()
        self.slowest: list[Slow] = []
        self.classifier = ClassifierStats()
        self.latency = (0.0, 0.0)

    def as_json(self) -> dict[str, object]:
        """All counts, the largest first."""
        counters = {name: dict(value.most_common()) for name, value in vars(self).items() if isinstance(value, Counter)}
        counters["by_day"] = dict(sorted(self.by_day.items()))
        plain = ("records", "first", "last", "prompts", "approvals", "denials", "timeouts")
        return {
            **{name: getattr(self, name) for name in plain},
            **counters,
            "decision_latency_ms": {"mean": self.latency[0], "max": self.latency[1]},
            "slowest": [asdict(each) for each in self.slowest],
            "classifier": asdict(self.classifier),
        }


def count(entries: Iterable[TrailEntry]) -> Stats:
    stats = Stats()
    groups: Counter[tuple[object, ...]] = Counter()  # few, where records are many
    heap: list[tuple[float, int, Slow]] = []
    total, timed, largest = 0.0, 0, 0.0
    latencies: list[float] = []  # of the classifier
    for entry in entries:
        get = entry.fields.get
        stats.records += 1
        time, kind = str(get("time", "")), get("kind")
        group = (time[:10], *map(get, _GROUPED))
        try:
            groups[group] += 1
        except TypeError:  # a field that is no text
            groups[tuple(map(str, group))] += 1
        stats.first = min(stats.first or time, time)
        stats.last = max(stats.last, time)
        if kind == "answer":
            _keep(heap, stats.records, _number(get("latency_ms")), entry)
        elif kind == "decision" and (latency := _number(get("latency_ms"))):
            total, timed, largest = total + latency, timed + 1, max(largest, latency)
        if isinstance(classifier := get("classifier"), dict):
            stats.classifier.add(classifier, latencies)
    for group, times in groups.items():
        _add(stats, group, times)
    stats.slowest = [slow for _, _, slow in sorted(heap, reverse=True)]
    stats.classifier.finish(latencies)
    stats.latency = (round(total / timed, 3) if timed else 0.0, largest)
    return stats


def _add(stats: Stats, group: tuple[object, ...], times: int) -> None:
    """Count a group of records with equal counted fields."""
    day, kind, outcome, tool, rule, session, code, channel, timed_out = (
        "" if each is None else str(each) for each in group
    )
    stats.kinds[kind] += times
    if kind == "decision":
        stats.outcomes[outcome] += times
        stats.by_tool[tool] += times
        for value, counter in ((rule, stats.by_rule), (session, stats.by_session), (code, stats.by_code)):
            if value:
                counter[value] += times
        if outcome == "ask":
            stats.prompts += times
            stats.prompts_by_tool[tool] += times
            stats.by_day[day] += times
    elif kind == "answer":
        stats.timeouts += times if timed_out == "True" else 0
        if outcome == "allow":
            stats.approvals += times
            stats.by_channel[channel or "unknown"] += times
        else:
            stats.denials += times


def _keep(heap: list[tuple[float, int, Slow]], index: int, latency: float, entry: TrailEntry) -> None:
    seconds = latency / 1000
    if len(heap) == SLOWEST and seconds <= heap[0][0]:
        return
    slow = Slow(seconds, entry.text("id"), entry.text("tool"), entry.text("session"), entry.text("time"))
    heappush(heap, (seconds, -index, slow))
    if len(heap) > SLOWEST:
        heappop(heap)


def _at(ordered: list[float], share: float) -> float:
    """The quantile: the smallest value that this share does not exceed."""
    return ordered[max(ceil(len(ordered) * share) - 1, 0)] if ordered else 0.0


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
