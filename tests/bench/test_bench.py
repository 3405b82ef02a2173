"""The benchmarks run in their smallest form and report results. No test checks speed."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from assent.trail.verify import verify
from bench import contained, copies, decisions, hooks, page, servers, trails
from bench.__main__ import CHAPTERS, main
from bench.measure import Block, Taken, in_turns
from bench.outcome import Aim, Chapter, Curve, Row, Table, rows_of, shown


def taken(*walls: float) -> Taken:
    found = Taken()
    found.add(Block(list(walls), [10.0]), spent=2.0)
    return found


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_bench_has_figures_of_ours(tmp_path: Path, name: str) -> None:
    found = CHAPTERS[name](tmp_path, quick=True)
    ours = [row for table in found.tables for row in table.rows if row.who.startswith("**")]
    assert found.words
    assert found.aims
    assert all(row.median > 0 and row.cpu_p99 >= 0 for row in ours if not row.missing)
    assert {row.who for row in ours} == {
        "decisions": {decisions.ASSENT},
        "hooks": {hooks.COLD, hooks.WARM, hooks.COMPILED},
        "servers": {servers.CHECK, servers.HOOK},
        "trails": set(),
        "contained": {contained.OURS, contained.LARGE, contained.ISSUE},
        "undo": {copies.FIRST, copies.AGAIN, copies.BACK},
    }[name]
    assert all(value > 0 for curve in found.curves for points in curve.lines.values() for _, value in points)


def test_part_of_a_bench_is_printed_and_written_nowhere(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(page, "DOCS", tmp_path)
    assert main(["trails", "--quick"]) == 0
    assert "lines in the trail" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_everybody_runs_once_in_each_round_and_the_first_rounds_do_not_count() -> None:
    ran: list[tuple[str, int]] = []

    def turn(name: str, number: int) -> Block:
        ran.append((name, number))
        return Block([1.0, 3.0], [2.0])

    found = in_turns({"a": lambda number: turn("a", number), "b": lambda number: turn("b", number)}, 2, warm=1)
    assert sorted(ran) == [(name, number) for name in "ab" for number in (-1, 0, 1)]
    assert [number for _, number in ran] == [-1, -1, 0, 0, 1, 1]
    assert (found["a"].walls, found["a"].cpus, found["a"].median) == ([1.0, 3.0, 1.0, 3.0], [2.0, 2.0], 2.0)


def test_figures_are_of_the_turns() -> None:
    row = Row("us", taken(*range(1, 101)))
    assert (row.median, row.p99, row.cpu, row.rate) == (50.5, 100, 10.0, 50.0)


@pytest.mark.parametrize(
    ("aim", "met", "line"),
    [
        (Aim("a", 2, 1.5), True, "| a | at most 2× | 1.50× | yes |"),
        (Aim("a", 2, 2.5), False, "| a | at most 2× | 2.50× | **no** |"),
        (Aim("a", 10, 9, most=False), False, "| a | at least 10× | 9× | **no** |"),
        (Aim("a", 150.0, 99.5, unit="µs"), True, "| a | at most 150 µs | 99.5 µs | yes |"),
        (Aim("a", 10, None), None, "| a | at most 10× | – | not measured |"),
    ],
)
def test_an_aim_says_whether_it_is_met(aim: Aim, met: bool | None, line: str) -> None:
    assert (aim.met, aim.line()) == (met, line)


def test_a_time_has_the_unit_that_fits() -> None:
    assert [shown(each) for each in (0.4, 37.1, 999.0, 1_200.0, 250_000.0, 3_000_000.0)] == [
        *("0.4 µs", "37.1 µs", "999 µs", "1.2 ms", "250 ms", "3.0 s")
    ]


def test_who_is_missing_has_a_row_that_says_why() -> None:
    table = Table("t", rows_of({"us": taken(4.0)}, {"peer": "not installed"}), "us")
    assert table.ratio("us", "peer") is None
    assert table.lines()[-2] == "| peer | – | – | – | – | not installed |"


def test_the_page_holds_everything_and_its_pictures_are_whole(tmp_path: Path) -> None:
    rows = rows_of({"**us** <&>": taken(1.0), "peer": taken(2.0)})
    curve = Curve("Growth & more", "sizes", {"a": ((0.0, 1.0), (10.0, 3.0)), "b": ((0.0, 2.0), (10.0, 2.0))})
    lengths = Curve("Lengths", "characters", {"a": ((100.0, 90.0), (1000.0, 4000.0))}, flat=False)
    made = Chapter(
        "A hook", "words", tables=(Table("t", rows, "peer"),), curves=(curve, lengths), aims=(Aim("x", 1, 2),)
    )
    written = page.write([made], "make bench", tmp_path)
    text = written.read_text(encoding="utf-8")
    assert "| x | at most 1× | 2× | **no** |" in text
    assert "| **us** <&> | 1.0 µs |" in text
    pictures = sorted(path.name for path in (tmp_path / "pictures").iterdir())
    assert pictures == ["bench-growth.svg", "bench-hooks.svg"]
    for name in pictures:
        assert f"(pictures/{name})" in text
        drawn = ElementTree.parse(tmp_path / "pictures" / name).getroot()
        assert drawn.tag.endswith("svg")
        assert "prefers-color-scheme: dark" in (tmp_path / "pictures" / name).read_text(encoding="utf-8")


def test_a_trail_that_is_made_for_a_bench_is_a_trail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trails, "SEGMENT", 4000)
    trails.fill(tmp_path / "audit", 50)
    found = verify(str(tmp_path / "audit"))
    assert (found.fault, found.lines, found.segments > 3) == (None, 50, True)
