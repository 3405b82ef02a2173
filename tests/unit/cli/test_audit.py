"""How times, records and bars are read and shown."""

from __future__ import annotations

import time
from datetime import datetime

import pytest

from assent.cli import records
from assent.contract import PayloadError
from assent.trail.entries import TrailEntry

NOW = datetime(2026, 11, 15, 12, 0, 0).astimezone()


@pytest.mark.parametrize(
    ("text", "ago"), [("45s", 45), ("30m", 1800), ("2h", 7200), ("1d", 86400), ("1.5h", 5400), ("2w", 14 * 86400)]
)
def test_times_can_be_given_as_how_long_ago(text: str, ago: int) -> None:
    assert records.when(text, NOW) == NOW.timestamp() - ago


def test_times_can_be_given_as_dates() -> None:
    assert records.when("2026-11-01", NOW) == datetime(2026, 11, 1).timestamp()
    assert records.when("2026-11-01T09:30", NOW) == datetime(2026, 11, 1, 9, 30).timestamp()
    assert records.when("today", NOW) == datetime(2026, 11, 15).timestamp()
    assert records.when("yesterday", NOW) == datetime(2026, 11, 14).timestamp()
    for wrong in ("", "soon", "5", "-1d", "2026-13-01"):
        with pytest.raises(PayloadError, match="is not a time"):
            records.when(wrong, NOW)


def test_times_are_shown_in_local_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert records.local("2026-11-15T12:00:00.000Z") == "2026-11-15 21:00:00"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_record_with_odd_fields_can_be_shown() -> None:
    odd = TrailEntry("f", {"time": "\x1b[2J", "kind": None, "id": 5, "input": [1], "outcome": {"a": 1}, "\x1b": "\x1b"})
    assert "\x1b" not in records.line(odd)
    assert "\x1b" not in records.receipt([odd])


def test_bars_are_in_proportion_and_never_nothing_for_something() -> None:
    assert [records.bar(value, 48) for value in (8, 4, 1, 0)] == ["████", "██", "▌", ""]
    assert records.bar(1, 1_000_000) == "▏"
