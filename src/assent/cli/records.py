"""Records of the trail in words: one line for a list, a receipt for one of them. Reads no trail.

Every text of a record is made visible before it is shown: what the agent wrote must not steer the screen."""

from __future__ import annotations

import json
import os
import re
import sys
from datetime import datetime, timedelta

from assent.contract import PayloadError
from assent.contract.display import one_line, visible
from assent.contract.words import TELLING
from assent.trail.entries import TrailEntry

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
COLOURS = {"allow": "32", "ask": "33", "deny": "31"}
SHOWN = frozenset(
    "v n id time kind runtime session project cwd tool input effects outcome layer code reason rule source mode risk "
    "who channel scope timed_out latency_ms prev hash classifier".split()
)


def when(text: str, now: datetime) -> float:
    """A time that a person gives: `45s`, `30m`, `2h`, `1d`, `2w` ago, a date, or a date and a time of day."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhdw])", text)
    if found:
        return (now - timedelta(seconds=float(found[1]) * UNITS[found[2]])).timestamp()
    if text in ("today", "yesterday"):
        day = now.replace(hour=0, minute=0, second=0, microsecond=0)
        return (day if text == "today" else day - timedelta(days=1)).timestamp()
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        raise PayloadError(
            f"`{text}` is no time; write for example 2h, 1d, today, 2026-11-01 or 2026-11-01T09:30"
        ) from None


def local(time: str) -> str:
    """A time of the trail as the person's clock shows it."""
    try:
        return datetime.fromisoformat(time).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    except ValueError:
        return visible(time)[:19].ljust(19)


def coloured(text: str, outcome: str) -> str:
    """Text in an outcome's colour, where there is a terminal that shows colours."""
    if outcome not in COLOURS or not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    return f"\x1b[1;{COLOURS[outcome]}m{text}\x1b[0m"


def summary(entry: TrailEntry) -> str:
    """The call in one text; for other records what they say."""
    given = entry.fields.get("input")
    if isinstance(given, dict) and given:
        named = next((given[key] for key in TELLING if isinstance(given.get(key), str)), None)
        return named if isinstance(named, str) else json.dumps(given, ensure_ascii=False)
    return entry.text("reason") or entry.text("rule") or entry.text("mode")


def line(entry: TrailEntry, width: int = 0) -> str:
    """A record on one line: when, what came of it, the tool, the call, why, and the id that `assent why` takes."""
    kind, outcome = entry.text("kind"), entry.text("outcome")
    tool = entry.text("tool") or "-"
    word = outcome if kind == "decision" else kind
    head = f"{local(entry.text('time'))}  {coloured(f'{one_line(word, 8):8}', outcome)} {one_line(tool, 40):9}"
    code = f"  [{one_line(entry.text('code'), 60)}]" if entry.text("code") else ""
    tail = f"{code}  {one_line(entry.text('id'))[:8]}"
    text = answered(entry) if kind == "answer" else summary(entry)
    return f"{head} {one_line(text, max(width - 40 - len(tail), 40) if width else 100)}{tail}"


def answered(entry: TrailEntry) -> str:
    """How a question ended, in words."""
    parts = [entry.text("outcome") or "ended"]
    if entry.fields.get("timed_out") is True:
        parts.append("(nobody answered in time)")
    if entry.text("who"):
        parts.append(f"by {entry.text('who')}")
    if entry.text("channel"):
        parts.append(f"in {entry.text('channel')}")
    if entry.text("scope"):
        parts.append(f"for {entry.text('scope')}")
    latency = entry.fields.get("latency_ms")
    if isinstance(latency, int | float):
        parts.append(f"after {latency / 1000:.1f} s")
    return " ".join(parts)


# ---------------------------------------------------------------- receipts


def receipt(entries: list[TrailEntry]) -> str:
    """All records of one id, a question and its answer together."""
    return "\n\n".join(_answer(each) if each.text("kind") == "answer" else _decision(each) for each in entries)


def _decision(entry: TrailEntry) -> str:
    kind, outcome = entry.text("kind"), entry.text("outcome")
    word = outcome.upper() if kind == "decision" and outcome else kind.upper()
    call = f"{entry.text('tool')} {summary(entry)}" if entry.text("tool") else summary(entry)
    lines = [f"{coloured(visible(word), outcome)}  {one_line(call, 300)}"]
    lines += _rows(
        ("id", entry.text("id")),
        ("when", f"{local(entry.text('time'))}{_took(entry)}"),
        ("why", f"{entry.text('reason')} [{entry.text('code')}]" if entry.text("code") else entry.text("reason")),
        ("rule", f"{entry.text('rule')}  from {entry.text('source')}" if entry.text("source") else entry.text("rule")),
        *(("does", each) for each in _listed(entry.fields.get("effects"))),
        *(("model", each) for each in _model(entry.fields.get("classifier"))),
        ("mode", _mode(entry)),
        ("who", _who(entry)),
        ("in", entry.text("cwd") or entry.text("project")),
        ("run by", " ".join(part for part in (entry.text("runtime"), f"session {entry.text('session')}") if part))
        if entry.text("session")
        else ("run by", entry.text("runtime")),
        *_more(entry),
    )
    given = entry.fields.get("input")
    if isinstance(given, dict) and given:
        shown = json.dumps(given, ensure_ascii=False, indent=1)
        lines.append("  input  " + visible(shown).replace("\n", "\n         "))
    return "\n".join(lines)


def _answer(entry: TrailEntry) -> str:
    head = f"{coloured('ANSWER', entry.text('outcome'))}  {one_line(answered(entry), 300)}"
    code = f" [{entry.text('code')}]" if entry.text("code") else ""
    why = f"{entry.text('reason')}{code}".strip()
    return "\n".join([head, *_rows(("when", local(entry.text("time"))), ("why", why), *_more(entry))])


def _rows(*rows: tuple[str, str]) -> list[str]:
    out: list[str] = []
    before = ""
    for name, text in rows:
        if text:
            label = name if name != before else ""
            out.append(f"  {one_line(label, 12):6} {one_line(text, 400)}")
            before = name
    return out


def _took(entry: TrailEntry) -> str:
    latency = entry.fields.get("latency_ms")
    return f", decided in {latency:.1f} ms" if isinstance(latency, int | float) else ""


def _mode(entry: TrailEntry) -> str:
    parts = (("", "mode"), ("risk ", "risk"), ("layer ", "layer"))
    return ", ".join(f"{label}{entry.text(name)}" for label, name in parts if entry.text(name))


def _who(entry: TrailEntry) -> str:
    parts = (("", "who"), ("in ", "channel"), ("for ", "scope"))
    return " ".join(f"{label}{entry.text(name)}" for label, name in parts if entry.text(name))


def _model(given: object) -> list[str]:
    """What a model said of the call, what came of that, and what it took. Its words are quoted: they are no more to be
    believed than the call that it read."""
    if not isinstance(given, dict):
        return []
    name = str(given.get("model", "a model"))
    if error := given.get("error"):
        head = f"{name} gave no opinion that counts ({error}): {given.get('said', '')}"
    else:
        word = "safe" if given.get("safe") is True else "not safe"
        head = f'{name} called it {word}: "{given.get("said", "")}"'
    if given.get("cached") is True:
        return [head, "it had said so before in this session"]
    parts = [f"{given.get('latency_ms', 0)} ms"]
    if given.get("tokens"):
        parts.append(f"{given['tokens']} tokens")
    if given.get("cost"):
        parts.append(f"cost {given['cost']}")
    return [head, ", ".join(parts)]


def _listed(given: object) -> list[str]:
    return [str(each) for each in given] if isinstance(given, list) else []


def _more(entry: TrailEntry) -> list[tuple[str, str]]:
    """What only some kinds of records have."""
    return [
        (name, entry.text(name)) for name, value in entry.fields.items() if name not in SHOWN and value not in ("", [])
    ]
