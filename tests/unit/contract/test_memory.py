"""A bounded memory holds the latest."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assent.contract import keep


@given(st.lists(st.integers(0, 20), max_size=60), st.integers(1, 8))
def test_a_memory_never_grows_beyond_its_bound_and_holds_what_came_last(keys: list[int], most: int) -> None:
    memory: dict[int, int] = {}
    for place, key in enumerate(keys):
        keep(memory, key, place, most)
        assert len(memory) <= most
        assert memory[key] == place


def test_the_oldest_is_forgotten_first() -> None:
    memory: dict[str, int] = {}
    for place, key in enumerate("abcd"):
        keep(memory, key, place, 3)
    assert memory == {"b": 1, "c": 2, "d": 3}
