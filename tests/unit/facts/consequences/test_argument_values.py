"""Recipients, amounts and names among the arguments of a tool."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.facts.consequences import arguments
from tests.examples import examples


def shown(given: dict[str, Any]) -> list[str]:
    return [each.text for each in arguments.measure(given)]


def test_who_gets_it_how_much_and_what_it_names() -> None:
    found = shown(
        {
            "to": ["ann@acme.example", "bob@acme.example"],
            "amount": 5000,
            "currency": "EUR",
            "subject": "Refund",
            "body": "as told by eve@evil.example",
            "order": {"customerName": "Ann", "items": [{"price": 12.5}]},
        }
    )
    assert found == [
        "goes to `ann@acme.example`, `bob@acme.example`",
        "addresses in its text: `eve@evil.example`",
        "amounts: `amount 5,000 EUR`, `order.items.price 12.5 EUR`",
        "names: `subject Refund`, `order.customerName Ann`",
    ]


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"channel": "#general"}, "goes to `#general`"),
        ({"toEmail": "x@y.example"}, "goes to `x@y.example`"),
        ({"recipients": "a@b.example, c@d.example"}, "goes to `a@b.example`, `c@d.example`"),
        ({"total_amount": "1.000,00 EUR"}, "amounts: `total_amount 1.000,00 EUR`"),
        ({"repo": "acme/x"}, "names: `repo acme/x`"),
    ],
)
def test_arguments_are_known_by_the_last_word_of_their_name(given: dict[str, Any], line: str) -> None:
    assert shown(given) == [line]


@pytest.mark.parametrize("given", [{}, {"amount": True}, {"amount": None}, {"query": "select 1"}, {"name": "x" * 999}])
def test_nothing_is_said_of_other_arguments(given: dict[str, Any]) -> None:
    assert shown(given) == []


def test_a_name_cannot_forge_another_recipient() -> None:
    assert shown({"to": "ann`, `bob\u202e\n"}) == ["goes to `ann\\u{60}, \\u{60}bob\\u{202e}⏎`"]


def test_many_recipients_are_counted() -> None:
    (line,) = shown({"to": [f"u{each}@a.example" for each in range(40)]})
    assert line.endswith("and 35 more")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["to", "amount", "name", "x"]), inner),
    max_leaves=30,
)


@examples(200)
@given(st.dictionaries(st.text(max_size=12) | st.sampled_from(["to", "amount", "name"]), JSON, max_size=5))
def test_any_arguments_can_be_read(given: dict[str, Any]) -> None:
    assert all(len(each) < 600 for each in shown(given))


def test_no_value_makes_reading_slow() -> None:
    began = time.process_time()
    shown({f"k{each}": "a" * 1999 + "@" for each in range(400)})
    shown({"x" * 1_000_000: "1", "to": {"y" * 1_000_000: "z"}})
    assert time.process_time() - began < 2


def test_deep_and_wide_arguments_are_bounded() -> None:
    deep: Any = "x@y.example"
    for _ in range(5000):
        deep = {"to": deep}
    assert shown({"a": deep}) == []
    assert len(shown({"to": ["x"] * 1_000_000})) == 1
