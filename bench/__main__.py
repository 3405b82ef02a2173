"""Runs the benchmarks and writes `docs/benchmarks.md`: `make bench`, or `python -m bench --quick` for a short run."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench import contained, copies, decisions, hooks, page, servers, trails
from bench.outcome import Chapter

CHAPTERS: dict[str, Callable[..., Chapter]] = {
    "hooks": hooks.chapter,
    "decisions": decisions.chapter,
    "servers": servers.chapter,
    "trails": trails.chapter,
    "contained": contained.chapter,
    "undo": copies.chapter,
}


def main(given: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("chapters", nargs="*", metavar="CHAPTER", help=f"{', '.join(CHAPTERS)} (default: all)")
    parser.add_argument(
        "--quick", action="store_true", help="run a few rounds of everything, as a test of the benchmarks"
    )
    parser.add_argument(
        "--docs", type=Path, help="the folder to write to (default: docs for a whole run, else print only)"
    )
    options = parser.parse_args(given)
    unknown = [name for name in options.chapters if name not in CHAPTERS]
    if unknown:
        parser.error(f"unknown chapter `{unknown[0]}`; choose from {', '.join(CHAPTERS)}")
    load = [os.getloadavg()[0]]
    found = [run(name, quick=options.quick) for name in options.chapters or CHAPTERS]
    load.append(os.getloadavg()[0])
    whole = not options.chapters and not options.quick
    docs = options.docs or (page.DOCS if whole else None)
    if docs is not None:
        print(f"wrote {page.write(found, 'make bench' if whole else 'python -m bench', docs, load=load)}")
    return 0


def run(name: str, *, quick: bool) -> Chapter:
    """Run one chapter in a temporary folder and print its figures."""
    print(f"{name} …", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="assent-bench-") as folder:
        chapter = CHAPTERS[name](Path(folder).resolve(), quick=quick)
    lines = [line for table in chapter.tables for line in table.lines()]
    lines += [line for curve in chapter.curves for line in (f"*{curve.title}*", "", *curve.table())]
    print("\n".join([f"## {chapter.title}", "", *lines, *(aim.line() for aim in chapter.aims), ""]))
    return chapter


if __name__ == "__main__":
    sys.exit(main())
