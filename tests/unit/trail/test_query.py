"""Reading back: filters, order, bad lines, and two engines that give the same answers; counting."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from assent.contract import Record
from assent.trail import stats
from assent.trail.append import Trail
from assent.trail.entries import Malformed, TrailEntry, TrailFilter
from assent.trail.query import follow, read, thin
from tests.unit.trail.made import folder, record, write

ENGINES = ("python", "duckdb")
START = 1_762_000_000.0


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    if request.param == "duckdb":
        pytest.importorskip("duckdb")
    return str(request.param)


@pytest.fixture
def where(tmp_path: Path) -> str:
    return written(tmp_path)


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The same for tests that only read."""
    return written(tmp_path_factory.mktemp("trail"))


def written(tmp_path: Path) -> str:
    """Sixty decisions and a few other records, over several segments."""
    with Trail(folder(tmp_path), segment=8000) as trail:
        for number in range(1, 61):
            more: dict[str, object] = {"tool": "Write", "code": "floor.self"} if number % 10 == 0 else {}
            if number % 7 == 0:
                more |= {"rule": 'bash(echo "é":*)', "runtime": "codex"}
            trail.append(record(number, **more))
        trail.append(
            Record("answer", record(1).id, START + 70, outcome="allow", channel="terminal", who="me", latency=12.5)
        )
        trail.append(Record("answer", record(4).id, START + 80, outcome="deny", timed_out=True, latency=300.0))
        trail.append(
            Record("event", "e", START + 90, more={"classifier": {"cost": 0.25, "latency_ms": 40, "tokens": 9}})
        )
    return folder(tmp_path)


def numbers(found: object) -> list[object]:
    return [each.fields["n"] for each in found]  # type: ignore[attr-defined]


FILTERS: dict[str, tuple[TrailFilter, list[int]]] = {
    "all": (TrailFilter(), list(range(1, 64))),
    "since": (TrailFilter(since=START + 58), [58, 59, 60, 61, 62, 63]),
    "until": (TrailFilter(until=START + 3), [1, 2]),
    "a time": (TrailFilter(since=START + 5, until=START + 8), [5, 6, 7]),
    "session": (TrailFilter(session="session-0", until=START + 10), [3, 6, 9]),
    "beginning of a session": (TrailFilter(session="sess", until=START + 3), [1, 2]),
    "tool": (TrailFilter(tool="write"), [10, 20, 30, 40, 50, 60]),
    "outcome": (TrailFilter(outcome="deny", until=START + 10), [2, 5, 8]),
    "kind": (TrailFilter(kind="answer"), [61, 62]),
    "rule": (TrailFilter(rule='echo "é"', until=START + 20), [7, 14]),
    "code": (TrailFilter(code="floor.self", until=START + 11), [10]),
    "family of codes": (TrailFilter(code="floor", until=START + 11), [10]),
    "half a code": (TrailFilter(code="floor.se"), []),
    "runtime": (TrailFilter(runtime="codex", until=START + 20), [7, 14]),
    "id": (TrailFilter(id="00000001"), [1, 61]),
    "text": (TrailFilter(text="CART/33.test"), [33]),
    "text with quotes": (TrailFilter(text='echo "É"', until=START + 8), [7]),
    "text in two": (TrailFilter(text="codex", outcome="ask", until=START + 20), [7]),
    "nothing": (TrailFilter(session="nobody"), []),
}


@pytest.mark.parametrize("name", FILTERS)
def test_filters_find_the_same_in_both_directions(unchanged: str, engine: str, name: str) -> None:
    wanted, expected = FILTERS[name]
    assert numbers(read(unchanged, wanted, engine=engine)) == expected
    assert numbers(read(unchanged, wanted, newest_first=True, engine=engine)) == expected[::-1]
    assert numbers(read(unchanged, wanted, newest_first=True, limit=2, engine=engine)) == expected[::-1][:2]
    assert numbers(read(unchanged, wanted, limit=2, engine=engine)) == expected[:2]


def test_entries_are_what_was_written(where: str, engine: str) -> None:
    first = next(read(where, engine=engine))
    assert first.file.endswith("permissions-000000000001.jsonl")
    with open(first.file, encoding="utf-8") as file:
        assert first == TrailEntry(first.file, json.loads(file.readline()))


BAD = (b"\n", b"not json\n", b"[1, 2]\n", b'{"v":1,"n":4,"id":"x\n', b"\xff\xfe\n", b'{"v": NaN}\n', b'{"v":1,"half')


@pytest.mark.parametrize("bad", BAD)
def test_a_line_that_cannot_be_read_is_reported_and_passed_over(tmp_path: Path, engine: str, bad: bytes) -> None:
    where = write(tmp_path, 6)
    path = Path(where, "permissions.jsonl")
    whole = path.read_bytes().splitlines(keepends=True)
    ending = bad if bad.endswith(b"\n") else bad + b"\n"
    path.write_bytes(b"".join([*whole[:3], ending, *whole[3:], bad]))
    expected = [] if bad in (b"\n", b'{"v": NaN}\n') else [Malformed(str(path), 4), Malformed(str(path), 8)]
    for newest_first in (False, True):
        told: list[Malformed] = []
        found = [
            each.fields.get("n")
            for each in read(where, TrailFilter(), newest_first=newest_first, malformed=told.append, engine=engine)
        ]
        assert [each for each in found if each] == ([6, 5, 4, 3, 2, 1] if newest_first else [1, 2, 3, 4, 5, 6])
        assert sorted(told, key=lambda each: each.line) == expected


def test_there_is_nothing_where_there_is_no_trail(tmp_path: Path, engine: str) -> None:
    assert list(read(str(tmp_path / "none"), engine=engine)) == []


def test_reading_goes_on_while_others_write_and_rotate(tmp_path: Path) -> None:
    where = write(tmp_path, 30, segment=3000)
    found = read(where)
    first = next(found)
    with Trail(where, segment=3000) as trail:
        for number in range(31, 60):
            trail.append(record(number))
    assert numbers([first, *found]) == list(range(1, 31))


def test_what_nobody_hears_is_passed_over(tmp_path: Path) -> None:
    where = write(tmp_path, 1)
    hears = iter([False, True, True])
    coming = follow(where, poll=0.01, heard=lambda: next(hears))
    with Trail(where) as trail:
        for number in (2, 3, 4):
            trail.append(record(number))
    assert [next(coming).fields["id"] for _ in range(2)] == [record(3).id, record(4).id]


def test_following_sees_what_comes_over_rotations_too(tmp_path: Path) -> None:
    where = write(tmp_path, 3)
    coming = follow(where, poll=0.01)
    seen: list[object] = []

    def look() -> None:
        for entry in coming:
            seen.append(entry.fields["n"])
            if len(seen) == 40:
                return

    looking = threading.Thread(target=look)
    looking.start()
    with Trail(where, segment=3000) as trail:
        for number in range(50):
            trail.append(record(number))
    looking.join(10)
    assert seen == list(range(4, 44))


# ---------------------------------------------------------------- counting


def test_both_engines_count_the_same(where: str) -> None:
    pytest.importorskip("duckdb")
    one, two = (stats.count(thin(where, stats.FIELDS, engine=each)).as_json() for each in ENGINES)
    assert one == two


def test_what_is_counted(where: str, engine: str) -> None:
    found = stats.count(thin(where, stats.FIELDS, engine=engine))
    assert found.records == 63
    assert found.outcomes == {"allow": 20, "ask": 20, "deny": 20}
    assert (found.prompts, found.approvals, found.denials, found.timeouts) == (20, 1, 1, 1)
    assert found.by_tool == {"bash": 54, "Write": 6}
    assert found.by_rule == {'bash(echo "é":*)': 8}
    assert found.by_code == {"mode.execute": 54, "floor.self": 6}
    assert found.by_session == {f"session-{each}": 20 for each in range(3)}
    assert found.by_channel == {"terminal": 1}
    assert found.by_day == {"2025-11-01": 20}
    assert found.latency == (2.1, 2.1)
    assert [(each.seconds, each.id) for each in found.slowest] == [(300.0, record(4).id), (12.5, record(1).id)]
    assert found.classifier == stats.ClassifierStats(1, asked=1, median_ms=40.0, p95_ms=40.0, tokens=9, cost=0.25)
    assert (found.first, found.last) == ("2025-11-01T12:26:41.000Z", "2025-11-01T12:28:10.000Z")


def test_only_a_time_is_counted(where: str, engine: str) -> None:
    found = stats.count(thin(where, stats.FIELDS, since=START + 11, until=START + 21, engine=engine))
    assert found.records == 10


def test_odd_fields_do_not_stop_the_count(tmp_path: Path, engine: str) -> None:
    os.mkdir(folder(tmp_path), 0o700)
    odd = {"kind": "decision", "time": "x", "tool": ["a"], "rule": {"b": 1}, "latency_ms": "soon", "outcome": None}
    Path(folder(tmp_path), "permissions.jsonl").write_text(json.dumps(odd) + "\n[]\n")
    told: list[Malformed] = []
    assert stats.count(thin(folder(tmp_path), stats.FIELDS, malformed=told.append, engine=engine)).records == 1
    assert len(told) == 1
