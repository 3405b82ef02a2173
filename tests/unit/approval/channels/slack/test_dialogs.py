"""What a dialog is submitted with is read whole or not at all, and rules go back as they were offered."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.approval.channels.slack import dialogs
from assent.contract.approval import Scope, Suggestion
from tests.broker.stage import held


def view(kind: str = dialogs.RULE) -> dict[str, Any]:
    question = held()
    made = (
        dialogs.rule(question, "id.word", ("bash(make:*)",), Scope.SESSION, None)
        if kind == dialogs.RULE
        else dialogs.reason(question, "id.word")
    )
    values = {
        "rule": {"rule": {"value": "bash(make all)"}},
        "scope": {"scope": {"selected_option": {"value": "15m"}}},
        "reason": {"reason": {"value": " no "}},
        "stop": {"stop": {"selected_options": [{"value": "stop"}]}},
    }
    return {**made, "state": {"values": values}}


def test_what_was_typed_and_picked_is_read() -> None:
    mark = dialogs.mark(("bash(make:*)",), Scope.SESSION)
    assert dialogs.read(view()) == dialogs.Asked(
        dialogs.RULE, "id.word", shown=mark, rules="bash(make all)", scope=Scope.QUARTER
    )
    assert dialogs.read(view(dialogs.REASON)) == dialogs.Asked(dialogs.REASON, "id.word", message="no", stop=True)


NAMES = st.sampled_from(["rule", "value", "values", "ticket"])
JSON = st.recursive(
    st.none() | st.booleans() | st.text(max_size=5), lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner)
)
PLACES = st.sampled_from(
    [
        "private_metadata", "state", "callback_id", "state.values", "state.values.scope", "state.values.rule",
        "state.values.reason",
    ]
)  # fmt: skip


@given(st.sampled_from([dialogs.RULE, dialogs.REASON]), st.lists(PLACES, min_size=1, max_size=3), JSON)
def test_what_is_not_of_that_form_is_none_or_carries_nothing_it_was_not_given(
    kind: str, places: list[str], value: object
) -> None:
    broken = copy.deepcopy(view(kind))
    for place in places:
        inner: Any = broken
        *path, last = place.split(".")
        for name in path:
            inner = inner.get(name) if isinstance(inner, dict) else None
        if isinstance(inner, dict):
            inner[last] = value
    found = dialogs.read(broken)
    assert found is None or found.ticket in ("id.word", "") or "ticket" in str(value)


def test_a_rule_that_was_offered_goes_back_as_it_was_offered() -> None:
    question = held()
    odd = ("bash(make \u202e)",)
    question.suggestions = (Suggestion(odd, "x"),)
    assert dialogs.shown(odd) == "bash(make \\u{202e})"
    assert dialogs.typed_rules(question, dialogs.shown(odd)) == odd
    assert dialogs.typed_rules(question, "bash(a)\n\n  bash(b) \n") == ("bash(a)", "bash(b)")


@pytest.mark.parametrize("other", [(("bash(make)",), Scope.QUARTER), (("bash(make", ")"), Scope.SESSION)])
def test_rules_that_were_not_shown_have_another_mark(other: tuple[tuple[str, ...], Scope]) -> None:
    assert dialogs.mark(("bash(make)",), Scope.SESSION) != dialogs.mark(*other)
