"""Writes the results to `docs/benchmarks.md` and its pictures."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Sequence
from pathlib import Path

from bench import peers, plot
from bench.outcome import Chapter

DOCS = Path(__file__).parents[1] / "docs"
HEAD = """# Benchmarks

Written by `{command}` on {day}, on {machine}. The load average was {load}; above the number of processors, other work
ran at the same time. Compared with: {versions}.

All rows of a table were measured in turns, in random order, in one run. Machines are noisy: compare the rows of one
table, never two runs. CPU time leaves out what other programs did, wall time does not: on a busy machine a 99th
percentile of wall time is mostly waiting for a processor.

## Aims

The limits that the gate must keep, and whether it kept them in this run.

| aim | limit | measured | met |
|---|---|---|---|
{aims}
"""


def write(chapters: Sequence[Chapter], command: str, docs: Path = DOCS, *, load: Sequence[float] = ()) -> Path:
    """Write the page and its pictures. `load`: load averages before and after the run."""
    pictures = docs / "pictures"
    pictures.mkdir(parents=True, exist_ok=True)
    page = docs / "benchmarks.md"
    text = HEAD.format(
        command=command,
        day=time.strftime("%Y-%m-%d", time.gmtime()),
        machine=machine(),
        load=" to ".join(f"{each:.1f}" for each in load) or "not measured",
        versions=", ".join(f"{name} {version}" for name, version in sorted(peers.versions().items())) or "nobody",
        aims="\n".join(aim.line() for chapter in chapters for aim in chapter.aims),
    )
    drawn = _growth(chapters, pictures)
    for chapter in chapters:
        text += f"\n## {chapter.title}\n\n{chapter.words}\n\n" + _bars(chapter, pictures)
        for table in chapter.tables:
            text += "\n".join(table.lines()) + "\n"
        for curve in chapter.curves:
            text += f"*{curve.title}*\n\n" + "\n".join(curve.table()) + "\n"
    text = "\n".join(line.rstrip() for line in (text + drawn).split("\n"))
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    page.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    return page


def machine() -> str:
    """What it ran on, in a few words."""
    name = _processor()
    system = f"{platform.system()} {platform.release().partition('-')[0]}"
    return f"{os.cpu_count()} processors{f' ({name})' if name else ''}, {system}, Python {platform.python_version()}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n")
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


PICTURED = {"A decision in process": ("decisions", 2), "A hook": ("hooks", 1)}
"""Chapters with a picture: its name, and of how many of the tables."""


def _bars(chapter: Chapter, pictures: Path) -> str:
    if chapter.title not in PICTURED:
        return ""
    name, count = PICTURED[chapter.title]
    (pictures / f"bench-{name}.svg").write_text(plot.bars(chapter.tables[:count]), encoding="utf-8")
    return f"![medians as bars](pictures/bench-{name}.svg)\n\n"


def _growth(chapters: Sequence[Chapter], pictures: Path) -> str:
    found = [curve for chapter in chapters for curve in chapter.curves]
    if not found:
        return ""
    (pictures / "bench-growth.svg").write_text(plot.curves(found), encoding="utf-8")
    return "\n## Growth\n\n![with rules, with length, with the trail](pictures/bench-growth.svg)\n"
