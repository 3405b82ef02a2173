"""How much a test tries: some of it by default, all of it under `make thorough`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from hypothesis import settings

FEWER, FEWEST = 8, 20  # a test that names 400 tries 50, and none tries less than 20


def register() -> None:
    """The two profiles. `pytest --hypothesis-profile thorough` selects the other one."""
    settings.register_profile("thorough", settings.default, deadline=None)
    settings.register_profile("quick", settings.default, deadline=None, max_examples=FEWEST)
    settings.load_profile("quick")


def examples(thorough: int, **more: Any) -> settings:
    """Settings of a test that tries `thorough` examples in the profile of that name."""
    return settings(max_examples=thorough if all_of_it() else max(thorough // FEWER, FEWEST), deadline=None, **more)


def all_of_it() -> bool:
    """Whether this is `make thorough`."""
    return settings.get_current_profile_name() == "thorough"


def some(rows: Sequence[Any]) -> Sequence[Any]:
    """All rows in the profile `thorough`, by default every fourth."""
    return rows if all_of_it() else rows[::4]


def combinations(*lists: Sequence[Any]) -> list[tuple[Any, ...]]:
    """For a test that starts processes: all combinations in the profile `thorough`, by default as few as have every
    value of each list."""
    if all_of_it():
        return list(product(*lists))
    return [tuple(each[at % len(each)] for each in lists) for at in range(max(map(len, lists)))]
