"""A record is written the same with and without cached parts."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.contract import Record
from assent.trail import line
from tests.unit.trail.made import record

VALUES = st.one_of(
    st.text(max_size=8), st.integers(-2, 2), st.booleans(), st.none(), st.floats(-1, 1), st.lists(st.integers(0, 1))
)
WORDS = st.sampled_from(["", "a", "b", 'x"y', "ünï", "\u202e", "1"])


def anew(given: Record) -> bytes:
    """The line that is written without cached parts."""
    line._known.clear()
    return line.body(given)


@given(
    st.lists(
        st.builds(
            lambda input, words, latency: record(
                1, input=input, session=words[0], cwd=words[1], reason=words[2], latency=latency
            ),
            st.dictionaries(st.sampled_from(["command", "timeout", "x"]), VALUES, max_size=2),
            st.tuples(WORDS, WORDS, WORDS),
            st.floats(0, 100),
        ),
        max_size=12,
    )
)
def test_what_was_written_before_changes_nothing(records: list[Record]) -> None:
    line._known.clear()
    remembered = [line.body(each) for each in (*records, *records)]
    assert remembered == [anew(each) for each in (*records, *records)]


@pytest.mark.parametrize(("one", "other"), [(1, True), (1, 1.0), (0, False), ("1", 1), ([1], [True])])
def test_values_that_compare_as_equal_and_are_written_otherwise_are_told_apart(one: object, other: object) -> None:
    for first, then in ((one, other), (other, one)):
        line._known.clear()
        line.body(record(input={"x": first}))
        assert line.body(record(input={"x": then})) == anew(record(input={"x": then}))


def test_a_secret_is_not_remembered() -> None:
    line._known.clear()
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    said = line.body(record(input={"command": f"curl -H 'Authorization: Bearer {secret}' example.com"}))
    assert secret.encode() not in said
    assert line._known == {}


def test_a_record_that_only_hints_at_secrets_is_remembered_as_it_is_written() -> None:
    line._known.clear()
    given = record(cwd="/home/me/auth-token-service", input={"command": "git log -- http/secret.py"})
    first = line.body(given)
    assert len(line._known) == 1
    assert line.body(given) == first == anew(given)
    assert b"/home/me/auth-token-service" in first


@pytest.mark.parametrize("id", ["plain-id", 'q"uote', "ünï", "\u202e", "back\\slash", "", "new\nline"])
def test_an_id_is_written_as_json_whatever_it_is(id: str) -> None:
    given = Record("event", id, 1.0, reason="x")
    assert json.loads(b"{%b}" % line.body(given))["id"] == id
    assert "\u202e".encode() not in line.body(given)


def test_the_faster_hash_is_the_same() -> None:
    before = line.chained(b'"id":"x"', 7, line.NO_HASH)
    line.hasten()
    assert line.chained(b'"id":"x"', 7, line.NO_HASH) == before
