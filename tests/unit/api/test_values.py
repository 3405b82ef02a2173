"""Arguments as data: what is read is what there is, and what cannot be read is never taken for a text."""

from __future__ import annotations

import dataclasses
import enum
import math
from collections import deque
from datetime import date
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent import PayloadError
from assent.api.values import plain, read_arguments


class Liar(str):
    def __str__(self) -> str:
        return "harmless.txt"

    def __repr__(self) -> str:
        return "'harmless.txt'"


class Count(int):
    pass


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Order:
    target: Path
    again: tuple[str, ...] = ("a",)


class Shown:
    def __repr__(self) -> str:
        return "notes.txt"


class Raising:
    def __repr__(self) -> str:
        raise ValueError("no")


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (Liar("/etc/shadow"), "/etc/shadow"),
        (b"/etc/shadow", "/etc/shadow"),
        (b"\xff", {"object": "b'\\xff'"}),
        (PurePosixPath("/etc/shadow"), "/etc/shadow"),
        (Count(3), 3),
        (True, True),
        (Colour.RED, "red"),
        (Order(Path("/etc")), {"target": "/etc", "again": ["a"]}),
        (("a", {"b": deque(["c"])}), ["a", {"b": ["c"]}]),
        (MappingProxyType({"a": 1, 2: "b"}), {"a": 1, "2": "b"}),
        (date(2026, 1, 2), "datetime.date(2026, 1, 2)"),
        (Shown(), {"object": "notes.txt"}),
    ],
)
def test_a_value_is_read_as_what_it_is(value: object, wanted: object) -> None:
    found = plain(value)
    assert (found, type(found)) == (wanted, type(wanted))


def within(value: list[Any]) -> list[Any]:
    value.append(value)
    return value


@pytest.mark.parametrize("value", [{1: "a", "1": "b"}, within([]), Raising(), [Raising()]])
def test_what_cannot_be_read_or_in_two_ways_is_refused(value: object) -> None:
    with pytest.raises(PayloadError):
        plain(value)


def test_a_number_that_is_none_is_itself() -> None:
    nan = {"a": [math.nan]}
    assert read_arguments(nan) == read_arguments(nan)


DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.dictionaries(st.text(), DATA))
@pytest.mark.slow
def test_data_is_left_as_it_is(given: dict[str, object]) -> None:
    assert read_arguments(given) == given


class Thing:
    pass


def test_an_object_is_known_by_more_than_its_place_in_memory() -> None:
    first = Thing()
    found = plain(first)
    assert plain(first) == found
    seen = []
    for _ in range(50):  # new ones, many of which get the place of the last
        seen.append(repr(plain(Thing())))
    assert len(set(seen)) == 50
