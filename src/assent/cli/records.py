"""Records and numbers of the trail as text: one line of a list, a receipt, tables with bars. Reads no trail.

Every text of a record is made visible before it is shown: what the agent wrote must not control the terminal."""

from __future__ import annotations

import json
import os
import re
import sys
from datetime import datetime, timedelta
from itertools import pairwise

from assent.contract import PayloadError
from assent.contract.display import one_line, visible
from assent.contract.words import TELLING
from assent.trail.entries import TrailEntry
from assent.trail.stats import Stats

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
COLOURS = {"allow": "32", "ask": "33", "deny": "31"}
SHOWN = frozenset(
    "v n id time kind runtime session project cwd tool input effects outcome layer code reason rule source mode risk "
    "who channel scope timed_out latency_ms prev hash classifier contained consequences".split()
)
EIGHTHS = " ▏▎▍▌▋▊▉█"
BAR_WIDTH = 24
MOST_ROWS = 8
MOST_DAYS = 14


def when(text: str, now: datetime) -> float:
    """A time as a person writes it: `45s`, `30m`, `2h`, `1d`, `2w` ago, a date, or a date and a time of day."""
    if found := re.fullmatch(r"(\d+(?:\.\d+)?)([smhdw])", text):
        return (now - timedelta(seconds=float(found[1]) * UNITS[found[2]])).timestamp()
    if text in ("today", "yesterday"):
        day = now.replace(hour=0, minute=0, second=0, microsecond=0)
        return (day if text == "today" else day - timedelta(days=1)).timestamp()
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        examples = "2h, 1d, today, 2026-11-01 or 2026-11-01T09:30"
        raise PayloadError(f"`{text}` is not a time; write for example {examples}") from None


def local(time: str) -> str:
    """A time of the trail in the local time zone."""
    try:
        return datetime.fromisoformat(time).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    except ValueError:
        return visible(time)[:19].ljust(19)


def coloured(text: str, outcome: str) -> str:
    """Text in an outcome's colour, if the output is a terminal."""
    if outcome not in COLOURS or not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    return f"\x1b[1;{COLOURS[outcome]}m{text}\x1b[0m"


def summary(entry: TrailEntry) -> str:
    """The call as one text; for other records their message."""
    given = entry.fields.get("input")
    if isinstance(given, dict) and given:
        named = next((given[key] for key in TELLING if isinstance(given.get(key), str)), None)
        return named if isinstance(named, str) else json.dumps(given, ensure_ascii=False)
    return entry.text("reason") or entry.text("rule") or entry.text("mode")


def line(entry: TrailEntry, width: int = 0) -> str:
    """A record on one line: time, outcome, tool, call, reason code, and the id for `assent why`."""
    kind, outcome, code = entry.text("kind"), entry.text("outcome"), entry.text("code")
    word = coloured(f"{one_line(outcome if kind == 'decision' else kind, 8):8}", outcome)
    head = f"{local(entry.text('time'))}  {word} {one_line(entry.text('tool') or '-', 40):9}"
    tail = f"{f'  [{one_line(code, 60)}]' if code else ''}  {one_line(entry.text('id'))[:8]}"
    text = answered(entry) if kind == "answer" else summary(entry)
    return f"{head} {one_line(text, max(width - 40 - len(tail), 40) if width else 100)}{tail}"


def answered(entry: TrailEntry) -> str:
    """How a question ended, in words."""
    parts = [entry.text("outcome") or "ended"]
    if entry.fields.get("timed_out") is True:
        parts.append("(nobody answered in time)")
    parts += _labelled(entry, ("by", "who"), ("in", "channel"), ("for", "scope"))
    latency = entry.fields.get("latency_ms")
    if isinstance(latency, int | float):
        parts.append(f"after {latency / 1000:.1f} s")
    return " ".join(parts)


def _labelled(entry: TrailEntry, *fields: tuple[str, str]) -> list[str]:
    """The fields that a record has, each after its label."""
    return [f"{label} {entry.text(name)}".strip() for label, name in fields if entry.text(name)]


# ---------------------------------------------------------------- receipts


def receipt(entries: list[TrailEntry]) -> str:
    """All records of one id, a question and its answer together."""
    return "\n\n".join(_answer(each) if each.text("kind") == "answer" else _decision(each) for each in entries)


def _decision(entry: TrailEntry) -> str:
    kind, outcome, latency = entry.text("kind"), entry.text("outcome"), entry.fields.get("latency_ms")
    word = outcome.upper() if kind == "decision" and outcome else kind.upper()
    took = f", decided in {latency:.1f} ms" if isinstance(latency, int | float) else ""
    source = f"  from {entry.text('source')}" if entry.text("source") else ""
    effects, caused = entry.fields.get("effects"), entry.fields.get("consequences")
    call = f"{entry.text('tool')} {summary(entry)}".strip()
    lines = [f"{coloured(visible(word), outcome)}  {one_line(call, 300)}"]
    lines += _rows(
        ("id", entry.text("id")),
        ("when", f"{local(entry.text('time'))}{took}"),
        ("why", _why(entry)),
        ("rule", f"{entry.text('rule')}{source}"),
        *(("does", str(each)) for each in (effects if isinstance(effects, list) else ())),
        *(("causes", str(each)) for each in (caused if isinstance(caused, list) else ())),
        *(("model", each) for each in _model(entry.fields.get("classifier"))),
        ("runs", f"contained: {entry.text('contained')}" if entry.text("contained") else ""),
        ("mode", ", ".join(_labelled(entry, ("", "mode"), ("risk", "risk"), ("layer", "layer")))),
        ("who", " ".join(_labelled(entry, ("", "who"), ("in", "channel"), ("for", "scope")))),
        ("in", entry.text("cwd") or entry.text("project")),
        ("run by", " ".join(_labelled(entry, ("", "runtime"), ("session", "session")))),
        *_more(entry),
    )
    given = entry.fields.get("input")
    if isinstance(given, dict) and given:
        shown = visible(json.dumps(given, ensure_ascii=False, indent=1))
        lines.append("  input  " + shown.replace("\n", "\n         "))
    return "\n".join(lines)


def _answer(entry: TrailEntry) -> str:
    head = f"{coloured('ANSWER', entry.text('outcome'))}  {one_line(answered(entry), 300)}"
    return "\n".join([head, *_rows(("when", local(entry.text("time"))), ("why", _why(entry)), *_more(entry))])


def _why(entry: TrailEntry) -> str:
    code = f" [{entry.text('code')}]" if entry.text("code") else ""
    return f"{entry.text('reason')}{code}".strip()


def _rows(*rows: tuple[str, str]) -> list[str]:
    """The rows that say something; a label that repeats is shown once."""
    shown = [("", ""), *((name, text) for name, text in rows if text)]
    return [
        f"  {one_line('' if name == before else name, 12):6} {one_line(text, 400)}"
        for (before, _), (name, text) in pairwise(shown)
    ]


def _model(given: object) -> list[str]:
    """A model's opinion of the call, and its cost. Its words are quoted: they prove no more than the call that it
    read."""
    if not isinstance(given, dict):
        return []
    name, said = str(given.get("model", "a model")), given.get("said", "")
    opinion = "safe" if given.get("safe") is True else "not safe"
    error = given.get("error")
    head = f"{name} gave no opinion that counts ({error}): {said}" if error else f'{name} called it {opinion}: "{said}"'
    if given.get("cached") is True:
        return [head, "it had said so before in this session"]
    tokens = f", {given['tokens']} tokens" if given.get("tokens") else ""
    cost = f", cost {given['cost']}" if given.get("cost") else ""
    return [head, f"{given.get('latency_ms', 0)} ms{tokens}{cost}"]


def _more(entry: TrailEntry) -> list[tuple[str, str]]:
    """The fields that only some kinds of records have."""
    fields = entry.fields.items()
    return [(name, entry.text(name)) for name, value in fields if name not in SHOWN and value not in ("", [])]


# ---------------------------------------------------------------- numbers


def bar(value: float, largest: float) -> str:
    """A bar of a length in proportion, in eighths of a character; at least one for any value above 0."""
    if value <= 0 or largest <= 0:
        return ""
    eighths = max(round(value / largest * BAR_WIDTH * 8), 1)
    return "█" * (eighths // 8) + (EIGHTHS[eighths % 8] if eighths % 8 else "")


def numbers(stats: Stats) -> str:
    """All numbers of `assent audit stats`."""
    decided = sum(stats.outcomes.values())
    prompts = {"prompts": stats.prompts, "  approved": stats.approvals, "  denied": stats.denials}
    if stats.timeouts:
        prompts["  timed out"] = stats.timeouts
    lines = [f"{stats.records} records from {local(stats.first)} to {local(stats.last)}", ""]
    outcomes = {f"  {outcome}": stats.outcomes[outcome] for outcome in ("allow", "ask", "deny")}
    lines += [*_bars({"decisions": decided, **outcomes}), "", *_bars(prompts)]
    if stats.latency[1]:
        lines += ["", f"deciding took {stats.latency[0]:.1f} ms on average, {stats.latency[1]:.1f} ms at most"]
    for title, counter in {
        "decisions by tool": stats.by_tool,
        "prompts by tool": stats.prompts_by_tool,
        "busiest rules": stats.by_rule,
        "reasons": stats.by_code,
        "busiest sessions": stats.by_session,
        "approvals by channel": stats.by_channel,
    }.items():
        more = f"  and {len(counter) - MOST_ROWS} more (--json has them all)"
        rows = _table(title, counter.most_common(MOST_ROWS), 48)
        lines += [*rows, more] if len(counter) > MOST_ROWS else rows
    lines += _table("prompts by day (UTC)", sorted(stats.by_day.items())[-MOST_DAYS:], 10)
    if stats.slowest:
        lines += ["", "slowest answers"]
        lines += [
            f"  {each.seconds:9.1f} s  {local(each.time)}  {one_line(each.tool, 16):10} {one_line(each.id)[:8]}"
            for each in stats.slowest
        ]
    return "\n".join([*lines, *_classifier(stats)])


def _bars(rows: dict[str, int]) -> list[str]:
    """Rows with bars in proportion to the first."""
    largest = next(iter(rows.values()))
    return [f"{name:20} {value:8}  {bar(value, largest)}".rstrip() for name, value in rows.items()]


def _table(title: str, rows: list[tuple[str, int]], limit: int) -> list[str]:
    if not rows:
        return []
    names = [one_line(name, limit) or "-" for name, _ in rows]
    width, largest = max(map(len, names)), max(value for _, value in rows)
    return [
        *("", title),
        *(
            f"  {name:{width}} {value:8}  {bar(value, largest)}".rstrip()
            for name, (_, value) in zip(names, rows, strict=True)
        ),
    ]


def _classifier(stats: Stats) -> list[str]:
    found = stats.classifier
    judged = found.safe + found.asked + found.errors
    if not judged:
        return []
    rows = {"judged": judged, "  safe, ran": found.safe, "  put to a person": found.asked, "  no answer": found.errors}
    cost = f", cost {found.cost:.4f}" if found.cost else ""
    return [
        *("", "classifier"),
        *(f"  {row}" for row in _bars(rows)),
        f"  {found.requests} requests, {found.cached} answers from the cache; median {found.median_ms:.0f} ms, "
        f"p95 {found.p95_ms:.0f} ms; {found.tokens} tokens{cost}",
    ]
