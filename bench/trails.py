"""The trail: the cost of a line and of a cold hook with a short and a long trail."""

from __future__ import annotations

import os
import time
from pathlib import Path

from assent.contract import Record
from assent.hook import bundle, launcher
from assent.trail import line
from assent.trail.append import SEGMENT, Trail
from assent.trail.segments import CURRENT, HEAD, Head, old_name
from bench import places
from bench.measure import calling, in_turns, starting
from bench.outcome import Aim, Chapter, Curve
from bench.peers import Run

COMMAND = "git status && ls -la"
APPEND, COLD = "a line in process, CPU", "a cold hook, CPU"
SIZES = (0, 1_000, 10_000, 100_000, 1_000_000)


def chapter(folder: Path, *, quick: bool = False) -> Chapter:
    root = places.project(folder)
    sizes = (0, 100) if quick else SIZES
    states = {size: folder / f"trail-{size}" for size in sizes}
    bundle.renew()  # as `assent install` does
    started = time.perf_counter()
    for size, state in states.items():
        launcher.write(str(state))
        fill(state / "audit", size)
    took = time.perf_counter() - started
    trails = {size: Trail(str(state / "audit")) for size, state in states.items()}
    each = {str(size): calling(_appending(trail), lambda number: ["x"] * 20) for size, trail in trails.items()}
    appended = in_turns(each, 2 if quick else 30)
    for trail in trails.values():
        trail.close()
    text, environ = places.event(root, COMMAND), places.environ(folder, root)
    hooks = {str(size): starting(_words(state), text, environ) for size, state in states.items()}
    started_anew = in_turns(hooks, 2 if quick else 25, warm=2)
    lines = {
        APPEND: tuple((float(size), appended[str(size)].cpu) for size in sizes),
        COLD: tuple((float(size), started_anew[str(size)].cpu) for size in sizes),
    }
    return Chapter(
        "The trail",
        f"A million lines in segments of {SEGMENT >> 20} MB. Putting such trails there took {took:.0f} s.",
        curves=(Curve("Behind a longer trail", "lines in the trail", lines),),
        aims=tuple(
            Aim(f"{who}: {sizes[-1]:,} lines to none", 1.2, points[-1][1] / points[0][1])
            for who, points in lines.items()
        ),
    )


def record(number: int) -> Record:
    return Record(
        "decision",
        f"00000000-0000-4000-8000-{number:012d}",
        1_700_000_000.0 + number,
        runtime="claude",
        session="bench",
        tool="bash",
        input={"command": COMMAND},
        outcome="allow",
        code="intrinsic.read-only",
    )


def fill(folder: Path, count: int) -> None:
    """Write a valid trail of that many lines, in large pieces."""
    folder.mkdir(mode=0o700, parents=True)
    head = Head()
    middle = line.body(record(0))
    pieces: list[bytes] = []
    offset = 0
    for _ in range(count):
        data, found = line.chained(middle, head.count + 1, head.hash)
        pieces.append(data)
        offset += len(data)
        head = Head(head.count + 1, found, offset, head.first)
        if offset >= SEGMENT and head.count < count:
            _put(folder / old_name(head.first), pieces)
            pieces, offset = [], 0
            head = Head(head.count, head.hash, 0, head.count + 1)
    if count:
        _put(folder / CURRENT, pieces)
        _put(folder / HEAD, [head.encode()])


def _put(path: Path, pieces: list[bytes]) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.writelines(pieces)


def _appending(trail: Trail) -> Run:
    made = record(1)
    return lambda _: trail.append(made)


def _words(state: Path) -> list[str]:
    return list(launcher.launcher(str(state), "claude", socket=str(state / "none.sock"), deadline=60))
