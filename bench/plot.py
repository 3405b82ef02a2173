"""Draws bars and curves as small SVG files that fit light and dark pages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.sax.saxutils import escape

from bench.outcome import Curve, Row, Table, shown

WIDTH = 860
STYLE = """<style>
svg { font-family: system-ui, -apple-system, "Segoe UI", sans-serif; font-size: 13px }
.back { fill: #ffffff } text { fill: #1f2328 } .faint { fill: #656d76; font-size: 12px }
.title { font-weight: 600; font-size: 14px } .grid { stroke: #d8dee4 } .axis { stroke: #8c959f }
.ours { fill: #0969da } .other { fill: #afb8c1 } .line0 { stroke: #0969da } .line1 { stroke: #bc4c00 }
.dot0 { fill: #0969da } .dot1 { fill: #bc4c00 } .line { fill: none; stroke-width: 2.2 }
@media (prefers-color-scheme: dark) {
.back { fill: #0d1117 } text { fill: #e6edf3 } .faint { fill: #8d96a0 } .grid { stroke: #30363d }
.axis { stroke: #6e7681 } .ours { fill: #4493f8 } .other { fill: #484f58 } .line0 { stroke: #4493f8 }
.line1 { stroke: #f0883e } .dot0 { fill: #4493f8 } .dot1 { fill: #f0883e }
}
</style>"""
BAR, GAP, LABEL = 18, 8, 260
PANEL_HEIGHT, TOP, BOTTOM, LEFT = 200, 44, 58, 62


def bars(tables: Sequence[Table]) -> str:
    """Bars of the median of every row, a group for each table."""
    out: list[str] = []
    at = 12
    for table in tables:
        rows = [row for row in table.rows if not row.missing]
        most = max((row.median for row in rows), default=1.0)
        out.append(f'<text class="title" x="16" y="{at + 14}">{_plain(table.caption)}, median</text>')
        at += 28
        for row in rows:
            out += _bar(row, row.median, most, at)
            at += BAR + GAP
        at += 12
    return _drawing(at, out, "; ".join(f"{_plain(table.caption)}, median" for table in tables))


def _bar(row: Row, figure: float, most: float, at: int) -> list[str]:
    width = max((WIDTH - LABEL - 110) * figure / most, 1.5)
    kind = "ours" if row.who.startswith("**") else "other"
    return [
        f'<text x="{LABEL - 8}" y="{at + 14}" text-anchor="end">{_plain(row.who)}</text>',
        f'<rect class="{kind}" x="{LABEL}" y="{at}" width="{width:.1f}" height="{BAR}" rx="3"/>',
        f'<text class="faint" x="{LABEL + width + 8:.1f}" y="{at + 14}">{shown(figure)}</text>',
    ]


def curves(found: Sequence[Curve]) -> str:
    """A panel for each curve, side by side."""
    out: list[str] = []
    wide = WIDTH / len(found)
    for number, curve in enumerate(found):
        out += _panel(curve, number * wide, wide)
    return _drawing(TOP + PANEL_HEIGHT + BOTTOM, out, "; ".join(_plain(curve.title) for curve in found))


def _panel(curve: Curve, x: float, wide: float) -> list[str]:
    left, right = x + LEFT, x + wide - 22
    lines = {who: _heights(points, flat=curve.flat) for who, points in curve.lines.items()}
    sizes = sorted({size for points in lines.values() for size, _ in points})
    low, high = (0.0, max(2.0, *(y for points in lines.values() for _, y in points))) if curve.flat else _decades(lines)

    def across(size: float) -> float:
        return left + (right - left) * sizes.index(size) / max(len(sizes) - 1, 1)

    def down(value: float) -> float:
        share = (value - low) / (high - low) if curve.flat else (math.log10(value) - low) / (high - low)
        return TOP + PANEL_HEIGHT * (1 - share)

    out = [f'<text class="title" x="{left:.1f}" y="24">{escape(curve.title)}</text>']
    for value in _ticks(low, high, flat=curve.flat):
        y = down(value)
        out.append(f'<line class="grid" x1="{left:.1f}" x2="{right:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>')
        text = f"{value:g}×" if curve.flat else shown(value).replace(".0 ", " ")
        out.append(f'<text class="faint" x="{left - 8:.1f}" y="{y + 4:.1f}" text-anchor="end">{text}</text>')
    bottom = TOP + PANEL_HEIGHT
    out.append(f'<line class="axis" x1="{left:.1f}" x2="{right:.1f}" y1="{bottom}" y2="{bottom}"/>')
    for size in sizes:
        out.append(
            f'<text class="faint" x="{across(size):.1f}" y="{bottom + 18}" text-anchor="middle">{_short(size)}</text>'
        )
    out.append(
        f'<text class="faint" x="{(left + right) / 2:.1f}" y="{bottom + 40}" text-anchor="middle">'
        f"{escape(curve.across)}</text>"
    )
    for number, (who, points) in enumerate(lines.items()):
        path = " ".join(f"{across(size):.1f},{down(value):.1f}" for size, value in points)
        out.append(f'<polyline class="line line{number % 2}" points="{path}"/>')
        out += [
            f'<circle class="dot{number % 2}" cx="{across(size):.1f}" cy="{down(value):.1f}" r="3.5"/>'
            for size, value in points
        ]
        if len(lines) > 1:
            y = TOP + 14 + 18 * number
            out.append(f'<circle class="dot{number % 2}" cx="{left + 14:.1f}" cy="{y - 4}" r="4"/>')
            out.append(f'<text class="faint" x="{left + 24:.1f}" y="{y}">{_plain(who)}</text>')
    return out


def _heights(points: tuple[tuple[float, float], ...], *, flat: bool) -> list[tuple[float, float]]:
    """The points to draw, relative to the first one if the curve should be flat."""
    return [(size, value / points[0][1] if flat else value) for size, value in points]


def _decades(lines: dict[str, list[tuple[float, float]]]) -> tuple[float, float]:
    values = [value for points in lines.values() for _, value in points]
    return math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))


def _ticks(low: float, high: float, *, flat: bool) -> list[float]:
    if flat:
        return (
            [step / 2 for step in range(int(high * 2) + 1)]
            if high <= 3
            else [float(step) for step in range(int(high) + 1)]
        )
    return [10.0**power for power in range(int(low), int(high) + 1)]


def _short(size: float) -> str:
    for unit, many in (("M", 1_000_000), ("k", 1_000)):
        if size >= many:
            return f"{size / many:g}{unit}"
    return f"{size:g}"


def _plain(text: str) -> str:
    return escape(text.replace("*", "").replace("`", ""))


def _drawing(height: float, parts: list[str], title: str) -> str:
    """The whole file. The title is escaped already."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:.0f}" '
        f'viewBox="0 0 {WIDTH} {height:.0f}" role="img">\n<title>{title}</title>\n{STYLE}\n'
        f'<rect class="back" width="{WIDTH}" height="{height:.0f}" rx="8"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )
