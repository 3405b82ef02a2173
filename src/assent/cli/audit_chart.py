"""Numbers of the trail as tables and small charts of bars for a terminal. Counts nothing itself."""

from __future__ import annotations

from collections import Counter

from assent.cli.records import local
from assent.contract.display import one_line
from assent.trail.stats import Stats

EIGHTHS = " ▏▎▍▌▋▊▉█"
WIDTH = 24
ROWS = 8
DAYS = 14


def bar(value: float, largest: float, width: int = WIDTH) -> str:
    """A bar of a length in proportion, in eighths of a character; never nothing for something."""
    if value <= 0 or largest <= 0:
        return ""
    eighths = max(round(value / largest * width * 8), 1)
    return "█" * (eighths // 8) + (EIGHTHS[eighths % 8] if eighths % 8 else "")


def numbers(stats: Stats) -> str:
    """Everything that was counted, for a person."""
    decided = sum(stats.outcomes.values())
    lines = [f"{stats.records} records from {local(stats.first)} to {local(stats.last)}", ""]
    lines += _row("decisions", decided, decided)
    for outcome in ("allow", "ask", "deny"):
        lines += _row(f"  {outcome}", stats.outcomes[outcome], decided)
    lines += ["", *_row("prompts", stats.prompts, stats.prompts)]
    lines += _row("  approved", stats.approvals, stats.prompts)
    lines += _row("  denied", stats.denials, stats.prompts)
    if stats.timeouts:
        lines += _row("  timed out", stats.timeouts, stats.prompts)
    if stats.latency[1]:
        lines += ["", f"deciding took {stats.latency[0]:.1f} ms on average, {stats.latency[1]:.1f} ms at most"]
    lines += _table("decisions by tool", stats.by_tool)
    lines += _table("prompts by tool", stats.prompts_by_tool)
    lines += _table("busiest rules", stats.by_rule)
    lines += _table("reasons", stats.by_code)
    lines += _table("busiest sessions", stats.by_session)
    lines += _table("approvals by channel", stats.by_channel)
    lines += _days(stats.by_day)
    if stats.slowest:
        lines += ["", "slowest answers"]
        lines += [
            f"  {each.seconds:9.1f} s  {local(each.time)}  {one_line(each.tool, 16):10} {one_line(each.id)[:8]}"
            for each in stats.slowest
        ]
    return "\n".join([*lines, *_classifier(stats)])


def _row(name: str, value: int, largest: int) -> list[str]:
    return [f"{name:20} {value:8}  {bar(value, largest)}".rstrip()]


def _table(title: str, counter: Counter[str]) -> list[str]:
    if not counter:
        return []
    rows = counter.most_common(ROWS)
    names = [one_line(name, 48) or "-" for name, _ in rows]
    width = max(map(len, names))
    lines = ["", title]
    for name, (_, value) in zip(names, rows, strict=True):
        lines.append(f"  {name:{width}} {value:8}  {bar(value, rows[0][1])}".rstrip())
    if len(counter) > ROWS:
        lines.append(f"  and {len(counter) - ROWS} more (--json has them all)")
    return lines


def _days(days: Counter[str]) -> list[str]:
    if not days:
        return []
    shown = sorted(days.items())[-DAYS:]
    largest = max(value for _, value in shown)
    lines = ["", "prompts by day (UTC)"]
    return lines + [f"  {one_line(day, 10):10} {value:8}  {bar(value, largest)}" for day, value in shown]


def _classifier(stats: Stats) -> list[str]:
    found = stats.classifier
    judged = found.safe + found.asked + found.errors
    if not judged:
        return []
    lines = ["", "classifier"]
    rows = {"judged": judged, "  safe, ran": found.safe, "  put to a person": found.asked, "  no answer": found.errors}
    for name, value in rows.items():
        lines += [f"  {line}" for line in _row(name, value, judged)]
    cost = f", cost {found.cost:.4f}" if found.cost else ""
    lines.append(
        f"  {found.requests} requests, {found.cached} answered from memory; median {found.median_ms:.0f} ms, "
        f"p95 {found.p95_ms:.0f} ms; {found.tokens} tokens{cost}"
    )
    return lines
