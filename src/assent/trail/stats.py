"""Counts what the trail tells: prompts, answers, rules, latencies, days. Shows nothing: that is the surface's.

A *prompt* is a decision with outcome `ask`; an *answer* is how one ended. Counts of the busiest things are exact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from heapq import heappop, heappush
from math import ceil

from assent.contract import Value
from assent.trail.entries import TrailEntry

SLOWEST = 10
_GROUPED = ("kind", "outcome", "tool", "rule", "session", "code", "channel", "timed_out")
FIELDS = (*_GROUPED, "time", "id", "latency_ms", "classifier")  # what counting needs of a record


class Slow(Value):
    """An answer that took long, in seconds."""

    __slots__ = ("seconds", "id", "tool", "session", "time")

    def __init__(self, seconds: float, id: str, tool: str, session: str, time: str) -> None:
        self.seconds = seconds
        self.id = id
        self.tool = tool
        self.session = session
        self.time = time


class ClassifierStats(Value):
    """What the classifier did and cost, from records that carry a `classifier` object.

    `requests` were made to the model; `cached` opinions and those that were never asked for cost nothing. Of all,
    `safe` let calls run, `asked` went to a person though the model answered, `errors` because it did not. Latencies
    are of requests, in milliseconds."""

    __slots__ = ("requests", "cached", "safe", "asked", "errors", "median_ms", "p95_ms", "tokens", "cost")

    def __init__(
        self,
        requests: int = 0,
        cached: int = 0,
        safe: int = 0,
        asked: int = 0,
        errors: int = 0,
        *,
        median_ms: float = 0.0,
        p95_ms: float = 0.0,
        tokens: int = 0,
        cost: float = 0.0,
    ) -> None:
        self.requests = requests
        self.cached = cached
        self.safe = safe
        self.asked = asked
        self.errors = errors
        self.median_ms = median_ms
        self.p95_ms = p95_ms
        self.tokens = tokens
        self.cost = cost


class Stats:
    """The counts. `latency` is of deciding, in milliseconds: (mean, largest)."""

    def __init__(self) -> None:
        self.records = 0
        self.first = ""
        self.last = ""
        self.outcomes: Counter[str] = Counter()  # of decisions
        self.prompts = 0
        self.approvals = 0
        self.denials = 0  # of answers, timeouts among them
        self.timeouts = 0
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
            "slowest": [{name: getattr(each, name) for name in each.__slots__} for each in self.slowest],
            "classifier": {name: getattr(self.classifier, name) for name in self.classifier.__slots__},
        }


def count(entries: Iterable[TrailEntry]) -> Stats:
    """Count records in any order."""
    stats = Stats()
    groups: Counter[tuple[object, ...]] = Counter()  # few, where records are many
    heap: list[tuple[float, int, Slow]] = []
    total, timed, largest = 0.0, 0, 0.0
    opinions = _Opinions()
    for entry in entries:
        get = entry.fields.get
        stats.records += 1
        time, kind = str(get("time", "")), get("kind")
        group = (time[:10], *map(get, _GROUPED))
        try:
            groups[group] += 1
        except TypeError:  # a field that is no text
            groups[tuple(map(str, group))] += 1
        if time < stats.first or not stats.first:
            stats.first = time
        if time > stats.last:
            stats.last = time
        if kind == "answer":
            _keep(heap, stats.records, _number(get("latency_ms")), entry)
        elif kind == "decision" and (latency := _number(get("latency_ms"))):
            total, timed, largest = total + latency, timed + 1, max(largest, latency)
        if isinstance(classifier := get("classifier"), dict):
            opinions.add(classifier)
    for group, times in groups.items():
        _add(stats, group, times)
    stats.slowest = [slow for _, _, slow in sorted(heap, reverse=True)]
    stats.classifier = opinions.counted()
    stats.latency = (round(total / timed, 3) if timed else 0.0, largest)
    return stats


def _add(stats: Stats, group: tuple[object, ...], times: int) -> None:
    """Count a group of records that are alike in what is counted."""
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
    """Keep an answer while it is among the slowest."""
    seconds = latency / 1000
    if len(heap) == SLOWEST and seconds <= heap[0][0]:
        return
    slow = Slow(seconds, entry.text("id"), entry.text("tool"), entry.text("session"), entry.text("time"))
    heappush(heap, (seconds, -index, slow))
    if len(heap) > SLOWEST:
        heappop(heap)


class _Opinions:
    """The opinions of models while they are counted."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.times: list[float] = []
        self.tokens = 0
        self.cost = 0.0

    def add(self, given: dict[str, object]) -> None:
        took = _number(given.get("latency_ms"))
        if given.get("cached") is True:
            self.counts["cached"] += 1
        elif took:
            self.counts["requests"] += 1
            self.times.append(took)
        settled = given.get("settled") is True
        self.counts["safe" if settled else "errors" if given.get("error") else "asked"] += 1
        self.tokens += int(_number(given.get("tokens")))
        self.cost += _number(given.get("cost"))

    def counted(self) -> ClassifierStats:
        times = sorted(self.times)
        median, late = _at(times, 0.5), _at(times, 0.95)
        names = ("requests", "cached", "safe", "asked", "errors")
        counts = [self.counts[name] for name in names]
        return ClassifierStats(*counts, median_ms=median, p95_ms=late, tokens=self.tokens, cost=round(self.cost, 9))


def _at(ordered: list[float], share: float) -> float:
    """The smallest value that so large a share does not exceed."""
    return ordered[max(ceil(len(ordered) * share) - 1, 0)] if ordered else 0.0


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
