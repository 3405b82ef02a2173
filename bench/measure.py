"""Measures contenders in turns: each round runs every contender once, in random order.

Machines are noisy, so only figures of one run are compared."""

from __future__ import annotations

import gc
import os
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence

from assent.contract import Value


class Block(Value):
    """One turn: how long each piece of work took, and processor times of one, in microseconds."""

    __slots__ = ("walls", "cpus")

    def __init__(self, walls: list[float], cpus: list[float]) -> None:
        self.walls = walls
        self.cpus = cpus


def late(values: Sequence[float]) -> float:
    """The 99th percentile."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]


class Taken:
    """All measurements of one contender."""

    __slots__ = ("walls", "cpus", "spent")

    def __init__(self) -> None:
        self.walls: list[float] = []
        self.cpus: list[float] = []
        self.spent = 0.0  # seconds of wall time in all turns

    def add(self, block: Block, spent: float) -> None:
        self.walls += block.walls
        self.cpus += block.cpus
        self.spent += spent

    @property
    def median(self) -> float:
        return statistics.median(self.walls)

    @property
    def p99(self) -> float:
        return late(self.walls)

    @property
    def cpu(self) -> float:
        return statistics.median(self.cpus)

    @property
    def cpu_p99(self) -> float:
        """Other work on the machine does not count."""
        return late(self.cpus)

    @property
    def rate(self) -> float:
        """Pieces of work in a second of its turns."""
        return len(self.walls) / self.spent


Jobs = Callable[[int], Sequence[str]]
"""The pieces of work of a round."""

Turn = Callable[[int], Block]
"""Runs one turn; the number is another in each round, below 0 in those that do not count."""


def in_turns(contenders: Mapping[str, Turn], rounds: int, *, warm: int = 1) -> dict[str, Taken]:
    """Run every contender once a round. The first `warm` rounds do not count: they fill caches."""
    lot = random.Random(1)
    order = list(contenders.items())
    taken = {name: Taken() for name in contenders}
    for number in range(-warm, rounds):
        lot.shuffle(order)
        for name, turn in order:
            started = time.perf_counter()
            block = turn(number)
            if number >= 0:
                taken[name].add(block, time.perf_counter() - started)
    return taken


def calling(run: Callable[[str], object], jobs: Jobs) -> Turn:
    """A turn of calls in this process, one for each job of the round, with garbage collection off."""

    def turn(number: int) -> Block:
        walls: list[float] = []
        cpus: list[float] = []
        clock, spent = time.perf_counter_ns, time.thread_time_ns
        gc.disable()
        for job in jobs(number):
            before = spent()
            started = clock()
            run(job)
            walls.append((clock() - started) / 1000)
            cpus.append((spent() - before) / 1000)
        gc.enable()
        return Block(walls, cpus)

    return turn


def starting(words: Sequence[str], text: bytes, environ: Mapping[str, str]) -> Turn:
    """A turn of one process that reads `text`, with the processor time that the kernel counted for it."""

    def turn(number: int) -> Block:
        reading, writing = os.pipe()
        os.write(writing, text)
        os.close(writing)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        ends = [(os.POSIX_SPAWN_DUP2, reading, 0), (os.POSIX_SPAWN_DUP2, nowhere, 1), (os.POSIX_SPAWN_DUP2, nowhere, 2)]
        started = time.perf_counter_ns()
        child = os.posix_spawn(words[0], list(words), dict(environ), file_actions=ends)
        _, _, usage = os.wait4(child, 0)
        wall = (time.perf_counter_ns() - started) / 1000
        os.close(reading)
        os.close(nowhere)
        return Block([wall], [(usage.ru_utime + usage.ru_stime) * 1e6])

    return turn
