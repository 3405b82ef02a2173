"""Records and trails for these tests."""

from __future__ import annotations

import json
import os
from pathlib import Path

from assent.contract import Record
from assent.trail.append import Trail

FULL = os.environ.get("ASSENT_TRAIL_FULL") == "1"  # the large numbers, which take minutes


def record(number: int = 1, **more: object) -> Record:
    """An ordinary decision."""
    given: dict[str, object] = {
        "runtime": "claude-code",
        "session": f"session-{number % 3}",
        "project": "/home/me/shop",
        "cwd": "/home/me/shop/api",
        "tool": "bash",
        "input": {"command": f"npm run test -- cart/{number}.test.ts | tail -40", "description": "Run the tests"},
        "effects": ("run npm",),
        "outcome": ("allow", "ask", "deny")[number % 3],
        "layer": "mode",
        "code": "mode.execute",
        "reason": "running a program needs assent",
        "mode": "auto",
        "risk": "medium",
        "latency": 0.0021,
    }
    return Record("decision", f"{number:08x}-id", 1_762_000_000.0 + number, **(given | more))  # type: ignore[arg-type]


def folder(path: Path) -> str:
    return str(path / "audit")


def write(path: Path, count: int, *, segment: int = 1 << 30) -> str:
    """A trail of so many records; its folder."""
    with Trail(folder(path), segment=segment) as trail:
        for number in range(1, count + 1):
            trail.append(record(number))
    return folder(path)


def lines(where: str, name: str = "permissions.jsonl") -> list[bytes]:
    return Path(where, name).read_bytes().splitlines(keepends=True)


def fields(where: str) -> list[dict[str, object]]:
    """All lines of the current segment, parsed."""
    return [json.loads(each) for each in lines(where)]
