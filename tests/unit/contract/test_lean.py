"""JSON is read and written as the standard library does it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.contract import lean

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


def outcome(read: object, text: str) -> object:
    try:
        return read(text)  # type: ignore[operator]  # one of the two readers
    except ValueError as error:
        return type(error), str(error)


@given(VALUES, st.booleans(), st.booleans(), st.booleans())
def test_a_value_is_written_the_same(value: object, ascii: bool, ordered: bool, spaced: bool) -> None:
    separators = (", ", ": ") if spaced else (",", ":")
    wanted = json.dumps(value, ensure_ascii=ascii, sort_keys=ordered, separators=separators)
    assert lean.dumps(value, ascii=ascii, ordered=ordered, spaced=spaced) == wanted


@given(VALUES, st.sampled_from(["", " ", "\n\t", "\r"]))
def test_a_value_is_read_the_same(value: object, blank: str) -> None:
    text = blank + json.dumps(value) + blank
    assert lean.loads(text) == lean.loads(text.encode()) == json.loads(text)


@given(st.text(alphabet='{}[]",:0123456789.eE+-truefalsn\\u \n\x00\ufeffé', max_size=12))
def test_what_is_no_value_is_refused_in_the_same_words(text: str) -> None:
    assert outcome(lean.loads, text) == outcome(json.loads, text)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {"a": {1, 2}}])
def test_what_json_cannot_say_is_refused(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        lean.dumps(value)
