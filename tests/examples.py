"""How many generated examples a test tries: a few by default, the number it names under `make thorough`."""

from __future__ import annotations

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
    few = settings.get_current_profile_name() != "thorough"
    return settings(max_examples=max(thorough // FEWER, FEWEST) if few else thorough, deadline=None, **more)
