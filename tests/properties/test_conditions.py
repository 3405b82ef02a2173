"""The asymmetry of conditions: what is done to an argument may add a question or a denial, and never takes one away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as some

from assent.contract import Arguments, Call
from assent.policy.conditions import conditions_of, holds, proves, reaches
from tests.cases import call, gate
from tests.examples import examples

KEYS = ("amount", "to", "env", "dry_run", "day")
CONDITIONS = (
    "amount > 100",
    "amount <= 5",
    "number(amount) < 7",
    "amount = 5",
    "amount != 5",
    "to ~ *@acme.example",
    "to !~ *@acme.example",
    "to in [a@acme.example, x]",
    "env = prod",
    "env != prod",
    "dry_run = true",
    "dry_run != true",
    "day < 2027-01-31",
    "order.amount > 100",
    "items[*].amount > 100",
)
SCALARS = some.one_of(
    some.sampled_from([4, 5, 6, 500, 5.0, -0.0, True, False, "5", "500", "prod", "PROD ", "test", "2027-01-30"]),
    some.sampled_from(["a@acme.example", "b@evil.example", "b@evil.example,a@acme.example", "x", ""]),
    some.text(max_size=5),
)
VALUES = some.one_of(SCALARS, some.lists(SCALARS, max_size=3))
OBJECTS = some.dictionaries(some.sampled_from(KEYS), VALUES, max_size=4)
ARGUMENTS = some.builds(
    lambda flat, order, items: {
        **flat,
        **({"order": order} if order is not None else {}),
        **({"items": items} if items is not None else {}),
    },
    OBJECTS,
    some.none() | OBJECTS,
    some.none() | some.lists(OBJECTS, max_size=2),
)
TEXTS = some.lists(some.sampled_from(CONDITIONS), min_size=1, max_size=1).map(", ".join)


def arguments(given: Mapping[str, object]) -> Arguments:
    return Arguments(given, lambda _: False)


@given(TEXTS, ARGUMENTS, some.data())
@examples(800)
def test_removing_an_argument_never_loosens(text: str, before: dict[str, Any], data: some.DataObject) -> None:
    key = data.draw(some.sampled_from([*before, "amount"]))
    _never_looser(text, before, {name: value for name, value in before.items() if name != key}, key)


@given(TEXTS, ARGUMENTS, some.data())
@examples(800)
def test_nesting_an_argument_never_loosens(text: str, before: dict[str, Any], data: some.DataObject) -> None:
    key = data.draw(some.sampled_from([*before, "amount"]))
    inner = {key: before[key]} if key in before else {}
    rest = {name: value for name, value in before.items() if name != key}
    _never_looser(text, before, {**rest, "params": inner}, key)


@given(
    TEXTS, ARGUMENTS, some.data(), some.sampled_from([str, repr, bool, lambda _: None, lambda value: {"value": value}])
)
@examples(800)
def test_retyping_an_argument_never_loosens(
    text: str, before: dict[str, Any], data: some.DataObject, retyped: Any
) -> None:
    """Where it is of another type then, its condition is not certain; so only values of the same type count."""
    key = data.draw(some.sampled_from(sorted(before) or ["amount"]))
    value = before.get(key)
    after = {**before, key: retyped(value)}
    if type(after[key]) is type(value) or (text.startswith("number") and isinstance(after[key], str)):
        return
    if isinstance(after[key], bool) and "true" in text:
        return
    if isinstance(after[key], str) and conditions_of(text)[0].literals[0].kind in ("text", "date"):
        return
    _never_looser(text, before, after, key)


def _never_looser(text: str, before: Mapping[str, object], after: Mapping[str, object], key: str) -> None:
    """A deny rule that matched still does, and an allow rule that did not still does not, unless the change is in an
    argument that only repeated a name."""
    path = conditions_of(text)[0].path
    if path[0] != key:
        return
    assert not reaches(text, arguments(before)) or reaches(text, arguments(after))
    assert proves(text, arguments(before)) or not proves(text, arguments(after))
    assert holds(conditions_of(text), arguments(after)) is None


@given(TEXTS, ARGUMENTS, SCALARS)
@examples(800)
def test_a_second_argument_of_the_same_name_never_loosens(text: str, before: dict[str, Any], value: object) -> None:
    name = next(step for step in reversed(conditions_of(text)[0].path) if step != "[*]")
    for after in ({**before, "more": {name: value}}, {**before, "more": [{name.upper(): value}]}):
        assert not reaches(text, arguments(before)) or reaches(text, arguments(after))
        assert proves(text, arguments(before)) or not proves(text, arguments(after))


@given(some.sampled_from(CONDITIONS), ARGUMENTS)
@examples(400)
def test_what_an_allow_rule_matches_a_deny_rule_matches_too(text: str, given: dict[str, Any]) -> None:
    assert not proves(text, arguments(given)) or reaches(text, arguments(given))


@given(some.sampled_from(CONDITIONS), ARGUMENTS)
@examples(200)
def test_a_denial_of_the_gate_stays_when_an_argument_is_removed(text: str, given: dict[str, Any]) -> None:
    """The same through the whole path of a call."""
    engine = gate("full_auto", deny=[f"mcp__shop__note({text})"])
    first = conditions_of(text)[0].path[0]
    rest = {name: value for name, value in given.items() if name != first}
    assert engine.decide(call("mcp__shop__note", rest), links={}).outcome.word == "deny"


ANNOTATED = some.lists(
    some.sampled_from(["read_only", "not read_only", "destructive", "not destructive", "open_world", "amount = 5"]),
    min_size=1,
    max_size=1,
).map(", ".join)
SAID = some.dictionaries(
    some.sampled_from(["readOnlyHint", "destructiveHint", "openWorldHint"]),
    some.sampled_from([True, False, None, "true", 1]),
    max_size=3,
)


@given(ANNOTATED, SAID)
@examples(200)
def test_without_annotations_nothing_is_looser(text: str, said: dict[str, Any]) -> None:
    """A hook does not get the annotations of a tool, and the proxy does."""
    rules = [f"mcp__shop({text})"]
    for engine in (gate(allow=rules), gate("full_auto", ask=rules), gate("full_auto", deny=rules)):
        known, unknown = (
            engine.decide(Call("mcp__shop__note", {"amount": 5}, cwd="/w", annotations=each), links={}).outcome
            for each in (said, None)
        )
        assert unknown >= known or said.get("destructiveHint") is True
