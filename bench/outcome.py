"""The results of a benchmark: tables, curves, and aims with whether they are met."""

from __future__ import annotations

from collections.abc import Mapping

from assent.contract import Value
from bench.measure import Taken


def shown(microseconds: float) -> str:
    """A time in a fitting unit."""
    for unit, size in (("s", 1e6), ("ms", 1e3), ("µs", 1.0)):
        if microseconds >= size or unit == "µs":
            number = microseconds / size
            return f"{number:.0f} {unit}" if number >= 100 else f"{number:.1f} {unit}"
    raise AssertionError


class Row(Value):
    """One contender: medians and 99th percentiles of wall and processor time, in microseconds. `missing` says why there
    are none."""

    __slots__ = ("who", "median", "p99", "cpu", "cpu_p99", "rate", "missing")

    def __init__(self, who: str, taken: Taken | None = None, *, missing: str = "") -> None:
        self.who = who
        self.median = taken.median if taken else 0.0
        self.p99 = taken.p99 if taken else 0.0
        self.cpu = taken.cpu if taken else 0.0
        self.cpu_p99 = taken.cpu_p99 if taken else 0.0
        self.rate = taken.rate if taken else 0.0
        self.missing = missing


def rows_of(taken: Mapping[str, Taken], missing: Mapping[str, str] | None = None) -> tuple[Row, ...]:
    """The rows of a run, and those of contenders that are missing."""
    found = [Row(who, each) for who, each in taken.items()]
    return (*found, *(Row(who, missing=why) for who, why in (missing or {}).items()))


class Table(Value):
    """Rows under a caption, compared with the `yardstick` row by wall or CPU time."""

    __slots__ = ("caption", "rows", "yardstick", "by")

    def __init__(self, caption: str, rows: tuple[Row, ...], yardstick: str, by: str = "median") -> None:
        self.caption = caption
        self.rows = rows
        self.yardstick = yardstick
        self.by = by

    def row(self, who: str) -> Row | None:
        return next((row for row in self.rows if row.who == who and not row.missing), None)

    def ratio(self, who: str, to: str, by: str = "") -> float | None:
        """The figure of `who` divided by that of `to`; None if one is missing."""
        mine, other = self.row(who), self.row(to)
        if mine is None or other is None:
            return None
        return float(getattr(mine, by or self.by)) / float(getattr(other, by or self.by))

    def lines(self) -> list[str]:
        what = f"{'CPU' if self.by == 'cpu' else 'median'}, {self.yardstick} = 1" if self.yardstick else ""
        out = [
            f"*{self.caption}*",
            "",
            f"|  | median | p99 | CPU, median | CPU, p99 | {what} |",
            "|---|---:|---:|---:|---:|---:|",
        ]
        for row in self.rows:
            if row.missing:
                out.append(f"| {row.who} | – | – | – | – | {row.missing} |")
                continue
            ratio = self.ratio(row.who, self.yardstick)
            times = " | ".join(map(shown, (row.median, row.p99, row.cpu, row.cpu_p99)))
            out.append(f"| {row.who} | {times} | {'' if ratio is None else f'{ratio:.2f}'} |")
        return [*out, ""]


class Aim(Value):
    """A limit and the measured value, None if there is none. `most`: the limit is an upper one."""

    __slots__ = ("what", "limit", "measured", "most", "unit")

    def __init__(self, what: str, limit: float, measured: float | None, *, most: bool = True, unit: str = "×") -> None:
        self.what = what
        self.limit = limit
        self.measured = measured
        self.most = most
        self.unit = unit

    @property
    def met(self) -> bool | None:
        if self.measured is None:
            return None
        return self.measured <= self.limit if self.most else self.measured >= self.limit

    def line(self) -> str:
        word = {True: "yes", False: "**no**", None: "not measured"}[self.met]
        found = "–" if self.measured is None else self._shown(self.measured)
        return (
            f"| {self.what} | {'at most' if self.most else 'at least'} {self._shown(self.limit)} | {found} | {word} |"
        )

    def _shown(self, number: float) -> str:
        if self.unit == "µs":
            return shown(number)
        if self.unit == "/s":
            return f"{number:,.0f}/s"
        return f"{number:.2f}{self.unit}".replace(f".00{self.unit}", self.unit)


class Curve(Value):
    """How a figure grows: points of (size, microseconds) for each line. `flat`: it should not grow, so it is
    drawn relative to its first point."""

    __slots__ = ("title", "across", "lines", "flat")

    def __init__(
        self, title: str, across: str, lines: Mapping[str, tuple[tuple[float, float], ...]], *, flat: bool = True
    ) -> None:
        self.title = title
        self.across = across
        self.lines = lines
        self.flat = flat

    def table(self) -> list[str]:
        sizes = sorted({size for points in self.lines.values() for size, _ in points})
        out = [
            f"| {self.across} | " + " | ".join(f"{size:,.0f}" for size in sizes) + " |",
            "|---|" + "---:|" * len(sizes),
        ]
        for who, points in self.lines.items():
            found = dict(points)
            out.append(
                f"| {who} | " + " | ".join(shown(found[size]) if size in found else "–" for size in sizes) + " |"
            )
        return [*out, ""]


class Chapter(Value):
    """A section of the page: text, tables, curves, aims."""

    __slots__ = ("title", "words", "tables", "curves", "aims")

    def __init__(
        self,
        title: str,
        words: str,
        *,
        tables: tuple[Table, ...] = (),
        curves: tuple[Curve, ...] = (),
        aims: tuple[Aim, ...] = (),
    ) -> None:
        self.title = title
        self.words = words
        self.tables = tables
        self.curves = curves
        self.aims = aims
