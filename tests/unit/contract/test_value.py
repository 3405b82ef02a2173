"""Values are equal by their fields; a cache keeps the latest entries."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assent.contract import Value, keep


class Pair(Value):
    __slots__ = ("left", "right")

    def __init__(self, left: object, right: object) -> None:
        self.left = left
        self.right = right


class Twin(Pair):
    __slots__ = ()


class Single(Value):
    __slots__ = ("only",)

    def __init__(self, only: object) -> None:
        self.only = only


class Triple(Pair):
    __slots__ = ("more",)

    def __init__(self, left: object, right: object, more: object) -> None:
        super().__init__(left, right)
        self.more = more


class Nothing(Value):
    __slots__ = ()


def test_values_with_the_same_fields_are_equal_and_hash_alike() -> None:
    assert Pair(1, ("a",)) == Pair(1, ("a",))
    assert len({Pair(1, 2), Pair(1, 2), Pair(2, 1)}) == 2
    assert Single("x") == Single("x") != Single("y")
    assert Nothing() == Nothing()
    assert hash(Nothing()) == hash(Nothing())


def test_values_of_different_classes_are_different_whatever_they_hold() -> None:
    assert Pair(1, 2) != Twin(1, 2)
    assert Pair(1, 2) != (1, 2)
    assert Single((1, 2)) != Pair(1, 2)
    assert Twin(1, 2) == Twin(1, 2) != Twin(1, 3)
    assert Triple(1, 2, 3) == Triple(1, 2, 3) != Triple(1, 0, 3)


def test_a_value_shows_its_fields() -> None:
    assert repr(Pair(1, "a")) == "Pair(left=1, right='a')"


@given(st.lists(st.integers(0, 20), max_size=60), st.integers(1, 8))
def test_a_cache_never_exceeds_its_bound_and_holds_the_latest(keys: list[int], most: int) -> None:
    cache: dict[int, int] = {}
    for place, key in enumerate(keys):
        keep(cache, key, place, most)
        assert len(cache) <= most
        assert cache[key] == place


def test_the_oldest_entry_is_dropped_first() -> None:
    cache: dict[str, int] = {}
    for place, key in enumerate("abcd"):
        keep(cache, key, place, 3)
    assert cache == {"b": 1, "c": 2, "d": 3}


def test_a_large_cache_drops_its_oldest_few_at_once() -> None:
    cache = dict.fromkeys(range(256))
    keep(cache, 256, None, 256)
    assert list(cache) == list(range(9, 257))
