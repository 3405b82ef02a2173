"""More questions than a server holds: what is too many is denied at once, with the reason."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.examples import all_of_it
from tests.server.crowd import Crowd, many_files
from tests.server.program import Program

__all__ = ["many_files"]  # a fixture


@pytest.mark.usefixtures("many_files")
def test_no_session_takes_the_places_of_all_and_no_calls_fill_the_memory(tmp_path: Path) -> None:
    places = 1000 if all_of_it() else 200
    program = Program(tmp_path, crowded=not all_of_it())
    crowd, heavy = Crowd(program), Crowd(program)
    try:
        for number in range(places + 10):
            crowd.ask(number, "greedy")
        for number in range(12):
            heavy.ask(number, f"heavy-{number}", "y" * 7_000_000)
        until = time.monotonic() + 60
        while program.held_now() < places + 9 and time.monotonic() < until:
            time.sleep(0.2)
        assert program.call("make modest", session="modest", wait=0).status == 202
    finally:
        program.stop()
    words = [each["message"] for each in crowd.answers()]
    assert sum(f"{places} calls of this session wait for a person already" in each for each in words) == 10
    words = [each["message"] for each in heavy.answers()]
    assert sum("fill 64 MiB already" in each for each in words) == 3
