"""Puts a bench's table into `docs/benchmarks.md`, under its heading and beside the others. Measures nothing."""

from __future__ import annotations

import os
import platform
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
HEAD = """# Benchmarks

Made by `make bench`. Machines are noisy: compare the rows of one table, never two runs.
"""


def machine() -> str:
    """What it ran on, in a few words."""
    return f"Python {platform.python_version()}, {platform.system()}, {os.cpu_count()} processors"


def write(heading: str, text: str) -> None:
    """Put a section in place of the one with the same heading."""
    page = PAGE.read_text(encoding="utf-8") if PAGE.exists() else HEAD
    sections = page.split("\n## ")
    kept = [each for each in sections[1:] if each.partition("\n")[0] != heading]
    kept.append(f"{heading}\n\n{text.strip()}\n")
    PAGE.write_text("\n## ".join([sections[0].rstrip("\n") + "\n", *sorted(kept)]), encoding="utf-8")
