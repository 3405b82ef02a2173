"""A writer may die between any two steps, or in the middle of a write: the next finds a chain, and nothing is lost."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from assent.trail.append import Trail
from assent.trail.verify import verify
from tests.concurrency.test_trail import written
from tests.unit.trail.made import folder, record

STEPS = ("open", "write", "pwrite", "rename", "ftruncate", "fsync", "close")
SEGMENT = 2500  # bytes: a rotation every few lines
TURNS = 8


def dying(step: int, manner: str) -> None:
    """Make this process die at its nth step on files: before it, after it, or half-way through."""
    taken = 0

    def wrap(name: str, real: Callable[..., int]) -> Callable[..., int]:
        def call(*given: object, **more: object) -> int:
            nonlocal taken
            taken += 1
            if taken != step:
                return real(*given, **more)
            try:
                if manner == "half" and name in ("write", "pwrite"):
                    handle, data, *rest = given
                    assert isinstance(data, bytes)
                    real(handle, data[: len(data) // 2], *rest)
                elif manner == "after":
                    real(*given, **more)
            finally:
                os._exit(9)

        return call

    for name in STEPS:
        setattr(os, name, wrap(name, getattr(os, name)))


def child(where: str, step: int, manner: str, told: int) -> None:
    say = os.write
    dying(step, manner)
    trail = Trail(where, segment=SEGMENT)
    for turn in range(TURNS):
        trail.append(record(1, session=f"step {step}", more={"turn": turn}))
        say(told, b".")
    trail.close()
    os._exit(0)


def run(where: str, step: int, manner: str) -> tuple[int, bool]:
    """How many lines the child was told are written, and whether it came to its end."""
    reading, telling = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            child(where, step, manner, telling)
        finally:
            os._exit(1)
    os.close(telling)
    count = 0
    while got := os.read(reading, 100):
        count += len(got)
    os.close(reading)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    assert status in (0, 9)
    return count, status == 0


@pytest.mark.parametrize("manner", ["before", "after", "half"])
def test_a_death_at_any_step_loses_nothing_and_tears_nothing(tmp_path: Path, manner: str) -> None:
    """One trail goes on through all these deaths; what one leaves behind, the next sets right, and may die of it."""
    where = folder(tmp_path)
    told: dict[str, int] = {}
    for step in range(1, 200):
        count, ended = run(where, step, manner)
        told[f"step {step}"] = count
        if ended:
            break
    else:
        pytest.fail("the steps never end")
    assert step > 20
    with Trail(where) as trail:
        trail.append(record(1, session="after", more={"turn": 0}))
    verdict = verify(where)
    assert (verdict.fault, verdict.notes) == (None, ())
    found = written(where)
    for name, count in told.items():
        turns = found.get(name, [])
        assert turns == list(range(len(turns)))
        assert count <= len(turns) <= count + 1, name
