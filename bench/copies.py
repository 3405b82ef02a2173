"""Undo: what a copy of 1, 1,000 and 20,000 files costs before a call runs, and putting it back."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

from assent.engine.copies import SECONDS
from assent.undo.copy import About, Copy
from assent.undo.restore import put_back
from assent.undo.store import CopyStore, Limits
from assent.undo.take import take
from bench.measure import Block, Turn, in_turns
from bench.outcome import Aim, Chapter, Table, rows_of

SIZES = (1, 1_000, 20_000)
LENGTH = 2_000  # bytes of a file
FIRST, AGAIN, BACK = "**Assent**, the first copy", "**Assent**, again, unchanged", "**Assent**, putting it back"
LIMITS = Limits(size=10**10, files=10**6)


def chapter(folder: Path, *, quick: bool = False) -> Chapter:
    sizes = (*SIZES[:1], 50) if quick else SIZES
    trees = {size: tree(folder / f"tree{size}", size) for size in sizes}
    tables = []
    for size, path in trees.items():
        rounds = 2 if quick or size > 1_000 else 5 if size > 1 else 20
        contenders: dict[str, Turn] = {
            "`shutil.copytree`": copying(path, folder / "cp"),
            FIRST: first(path, folder / f"first{size}"),
            AGAIN: again(path, folder / f"again{size}"),
            BACK: back(path, folder / f"back{size}"),
        }
        caption = f"{size:,} file{'' if size == 1 else 's'} of {LENGTH:,} bytes"
        tables.append(Table(caption, rows_of(in_turns(contenders, rounds, warm=1)), "`shutil.copytree`"))
    longest = tables[-1].row(FIRST)
    measured = longest.median if longest else None
    limit = SECONDS * 1_000_000  # what takes longer has no copy
    return Chapter(
        "Undo",
        "Before a call deletes files they are copied: contents by their digest, with modes, times and attributes, on\n"
        "the disk before the answer. `shutil.copytree` copies without digests and without waiting for the disk. A\n"
        "content that is there already is not written again.",
        tables=tuple(tables),
        aims=(Aim(f"the first copy of {sizes[-1]:,} files: median", limit, measured, unit="µs"),),
    )


def tree(path: Path, count: int) -> Path:
    for number in range(count):
        file = path / f"part{number % 50}/file{number}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(f"{number:08}".encode() * (LENGTH // 8))
    return path


def copying(path: Path, target: Path) -> Turn:
    def turn(_: int) -> Block:
        shutil.rmtree(target, ignore_errors=True)
        return timed(lambda: shutil.copytree(path, target, symlinks=True))

    return turn


def first(path: Path, state: Path) -> Turn:
    def turn(_: int) -> Block:
        shutil.rmtree(state, ignore_errors=True)
        return timed(lambda: kept(path, state))

    return turn


def again(path: Path, state: Path) -> Turn:
    kept(path, state)
    return lambda _: timed(lambda: kept(path, state))


def back(path: Path, state: Path) -> Turn:
    store, copy = CopyStore(str(state)), kept(path, state)

    def turn(_: int) -> Block:
        shutil.rmtree(path)
        return timed(lambda: put_back(store, copy, id="back", now=time.time(), limits=LIMITS))

    return turn


def kept(path: Path, state: Path) -> Copy:
    store = CopyStore(str(state))
    return take(store, [str(path)], id="copy", now=time.time(), about=About("rm"), limits=LIMITS)


def timed(run: Callable[[], object]) -> Block:
    spent, started = time.thread_time_ns(), time.perf_counter_ns()
    run()
    return Block([(time.perf_counter_ns() - started) / 1000], [(time.thread_time_ns() - spent) / 1000])
