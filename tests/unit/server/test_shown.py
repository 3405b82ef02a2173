"""Text that is sent to a page hides nothing."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from assent.contract.display import is_hidden
from assent.server.api import shown

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for key, each in value.items() for text in (key, *texts(each))]
    return [text for each in value for text in texts(each)] if isinstance(value, list) else []


@given(st.dictionaries(st.text().filter(lambda name: name not in shown.KEPT), JSON))
def test_no_text_that_is_sent_to_be_shown_hides_anything(value: dict[str, object]) -> None:
    found = shown.safe(value)
    assert [text for text in texts(found) if any(map(is_hidden, text))] == []
    json.dumps(found)


def test_what_goes_back_to_us_stays_as_it_is() -> None:
    assert shown.safe({"id": "a\u202e", "digest": "\u200b", "rule": "\u200b"}) == {
        "id": "a\u202e",
        "digest": "\u200b",
        "rule": "\\u{200b}",
    }


def test_times_of_the_trail_are_seconds() -> None:
    assert shown.seconds("1970-01-02T00:00:01.250Z") == 86401.25
    assert shown.seconds("yesterday") == 0.0
