"""Conditions on arguments: what they parse to, what is refused, and how values compare."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from assent.contract import Arguments, Lowering, PolicyError
from assent.policy import document
from assent.policy.conditions import conditions_of, holds, proves
from assent.policy.document import read_document
from assent.policy.parse import parse_rule, with_conditions
from assent.policy.rules import Origin, RuleKind, RuleShape


def holds_for(text: str, given: Mapping[str, object]) -> bool | None:
    return holds(conditions_of(text), Arguments(given, lambda sql: sql == "select 1"))


@pytest.mark.parametrize(
    ("text", "says", "suggestion"),
    [
        ("refund(100)", "`100` is no condition", "amount > 100"),
        ("refund(amount)", "`amount` is no condition", "amount > 100"),
        ("refund(amount >)", "has no value", "amount > 100"),
        ("refund(amount == 5)", "`==` in `amount == 5` is no operator", "write `=`"),
        ("refund(amount => 5)", "is no operator", "write `>=`"),
        ("refund(to matches x)", "is no operator", "write `~`"),
        ("refund(amount > 5 and a = 3)", "is no value", "a comma is `and`, two rules are `or`"),
        ("refund(amount > 5; a = 3)", "is no value", "a comma is `and`"),
        ("refund(amount > 5,)", "a condition is empty", "remove the comma"),
        ("refund(amount > 100, amount < 50)", "no `amount` can be all", "write two rules"),
        ("refund(amount > 100, amount <= 100)", "no `amount` can be all", "write two rules"),
        ("refund(amount = 5, amount = 6)", "no `amount` can be all", "write two rules"),
        ("refund(amount = 5, amount != 5)", "no `amount` can be all", "write two rules"),
        ("refund(day < 2027-01-01, day > 2027-01-01)", "no `day` can be all", "write two rules"),
        ("refund(amount = 5, amount = five)", "no `amount` can be all", "write two rules"),
        ("refund(amount > large)", "compares numbers and dates", "amount > 100"),
        ("refund(amount = 1e3)", "not written as a number or a date", "1000.5"),
        ("refund(amount = 1_000)", "not written as a number or a date", "1000.5"),
        ("refund(amount = 007)", "not written as a number or a date", '"007"'),
        ("refund(day = 2027-02-30)", "not written as a number or a date", "2027-01-31"),
        ("refund(amount = null)", "is no value", "a missing argument needs no condition"),
        ("refund(dry_run = True)", "is no value", "write `true` or `false`"),
        ("refund(to ~ ^.*@x)", "regular expressions are not read", "write `*` for any text"),
        ("refund(to ~ /x/)", "regular expressions are not read", "write `*` for any text"),
        ("refund(to ~ (a|b))", "regular expressions are not read", "write `*` for any text"),
        ("refund(to = *@x)", "is no wildcard", "write `~`"),
        ("refund(to = a b)", "is not one word", '"a b"'),
        ('refund(to = "a)', "is not closed", "close it"),
        ("refund(a in EUR)", "`in` takes a list", "[EUR, USD]"),
        ("refund(a in [])", "`in` takes a list", "[EUR, USD]"),
        ("refund(a in [1, EUR])", "values of several kinds", "a rule for each kind"),
        ("refund(a is nice)", "`is` takes `read-only`", "write `=`"),
        ("refund(items[0] = 5)", "is no condition", "write `[*]`, which is every item"),
        ("refund(number(a) = x)", "compared with numbers", "remove `number`"),
        ("refund(a = x\u200b)", "not visible", "remove it"),
        ("mcp__docs(readOnlyHint)", "`readOnlyHint` is no condition", "write `read_only`"),
        ("mcp__docs(not read-only)", "`not read-only` is no condition", "write `not read_only`"),
        ("mcp__docs(read_only, destructive)", "no tool can be all", "write two rules"),
        ("mcp__docs(open_world, not open_world)", "no tool can be all", "write two rules"),
        ("create(visibility = public)", "has a condition where `write` takes a path", "by their own names"),
        ("delegate(to = x)", "has a condition where `agent` takes a name", "by their own names"),
    ],
)
def test_a_malformed_condition_is_an_error_that_says_what_to_do(text: str, says: str, suggestion: str) -> None:
    with pytest.raises(PolicyError, match=re.escape(says)) as found:
        parse_rule(text)
    assert suggestion in found.value.suggestion


def test_a_rule_with_conditions_keeps_them_as_its_specifier() -> None:
    rule = parse_rule("Refund( amount > 100 )")
    assert (rule.about, rule.tool, rule.spec, rule.shape) == (RuleKind.TOOL, "refund", "amount > 100", RuleShape.EXACT)


def test_conditions_that_are_written_apart_are_the_same_rule() -> None:
    assert with_conditions("refund", "amount > 100") == "refund(amount > 100)"
    assert with_conditions("mcp__a__b(*)", " amount > 100 ") == "mcp__a__b(amount > 100)"


@pytest.mark.parametrize("text", ["refund(a = 5)", "bash", "read(src/**)"])
def test_conditions_that_are_written_apart_are_for_whole_tools(text: str) -> None:
    with pytest.raises(PolicyError):
        with_conditions(text, "amount > 100")


@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        ("a = 0.1", {"a": 0.1}, True),
        ("a = 100", {"a": 100.0}, True),
        ("a <= 0.3", {"a": 0.1 + 0.2}, False),
        ("a > 100", {"a": float("nan")}, None),
        ("a > 100", {"a": float("inf")}, None),
        ("a = 1", {"a": True}, None),
        ("a = true", {"a": 1}, None),
        ("a = true", {"a": "true"}, None),
        ("a != true", {"a": False}, True),
        ("a = 5", {"a": "5"}, None),
        ("number(a) = 5", {"a": "5.0"}, True),
        ("number(a) = 5", {"a": 5}, True),
        ("number(a) = 5", {"a": "05"}, None),
        ('a = "5"', {"a": "5"}, True),
        ('a = "5"', {"a": 5}, None),
        ("a = x", {"a": "X"}, None),
        ("a = x", {"a": "y"}, False),
        ("a != x", {"a": "y"}, True),
        ("a != x", {"a": "x "}, None),
        ("a in [x, y]", {"a": ["x", "y"]}, True),
        ("a in [x, y]", {"a": ["x", "z"]}, None),
        ("a in [x, y]", {"a": ["v", "z"]}, False),
        ("a in [x, y]", {"a": [["x"]]}, None),
        ("a.b = 5", {"a": {"b": 5}}, True),
        ("a.b = 5", {"a": [{"b": 5}]}, None),
        ('"a.b" = 5', {"a.b": 5}, True),
        ("a[*] > 5", {"a": [6, 7]}, True),
        ("a[*].b[*] > 5", {"a": [{"b": [6]}, {"b": [7, 8]}]}, True),
        ("a[*].b[*] > 5", {"a": [{"b": [6]}, {"b": [5]}]}, None),
        ("a > 5", {"a": 6, "b": {"c": [{"a": 7}]}}, True),
        ("a > 5", {"a": 6, "b": {"c": [{"a": 5}]}}, None),
        ("a = 5", {"a": 5, "b": '[{"a": 6}]'}, None),
        ("a = 5", {"a": 5, "b": "a: 6"}, True),
        ("a < 2027-01-31", {"a": "2027-01-30"}, True),
        ("a < 2027-01-31", {"a": "2027-01-30T10:00:00Z"}, None),
        ("a < 2027-01-31T00:00:00Z", {"a": "2027-01-30T10:00:00Z"}, True),
        ("a < 2027-01-31T00:00:00Z", {"a": "2027-01-30T10:00:00+02:00"}, None),
        ("a ~ x-*", {"a": "x-1.2_b+c"}, True),
        ("a ~ x-*", {"a": "x-"}, True),
        ("a ~ x-*", {"a": "x-1 2"}, None),
        ("a ~ x-*", {"a": "X-1"}, None),
        ("a ~ x-*", {"a": "y x-1"}, None),
        ("a ~ x-*", {"a": "y"}, False),
        ("a ~ **/b*c", {"a": "x/bb/c/bc"}, True),
        ("a ~ *é*", {"a": "café"}, True),
        ("a ~ *x", {"a": "a\u0301x"}, None),
        ("a !~ x*", {"a": "y"}, True),
        ("a !~ x*", {"a": "y z"}, None),
        ("a !~ x*", {"a": "x1"}, False),
        ("a is any", {"a": ""}, True),
        ("a is any", {"a": None}, None),
        ("a is read-only", {"a": "select 1"}, True),
        ("a is read-only", {"a": "select 2"}, None),
        ("a is not read-only", {"a": "select 1"}, False),
        ("a is not read-only", {"a": 5}, None),
        ("a = 5, only", {"a": 5, "b": None}, True),
        ("a = 5, only", {"a": 5, "b": 6}, None),
        ("a = 5, only", {"a": 6}, False),
        ("only", {}, True),
        ("only", {"a": 5}, None),
        ("a = 5, b = 6", {"a": 4}, False),
        ("a = 5, b = 6", {"a": 5}, None),
    ],
)
def test_a_condition_is_true_false_or_not_certain(
    text: str, given: Mapping[str, object], expected: bool | None
) -> None:
    assert holds_for(text, given) is expected


def test_more_values_than_are_looked_at_are_not_certain() -> None:
    assert holds_for("a = 5", {"a": 5, "b": list(range(4000))}) is True
    assert holds_for("a = 5", {"a": 5, "b": list(range(6000))}) is None
    assert holds_for("a = 5", {"a": [5] * 6000}) is None


def test_a_long_text_takes_no_long_time() -> None:
    assert holds_for("a ~ *a*a*a*a*a*a*b", {"a": "a" * 1_000_000}) is False
    assert holds_for("a ~ *a*a*a*a*a*a*b", {"a": "a" * 2000}) is False


@pytest.mark.parametrize(
    ("given", "covered"),
    [
        ({"a": 5}, True),
        ({"a": 5, "c": None}, True),
        ({"a": 5, "c": 6}, False),
        ({"a": 5, "c": {}}, False),
        ({"a": 5, "b": {"d": 6}}, True),
        ({"a": 5, "b": {"d": 6, "e": 7}}, False),
    ],
)
def test_a_saved_rule_covers_no_argument_that_it_does_not_name(given: Mapping[str, object], covered: bool) -> None:
    text = "a = 5, b.d = 6" if "b" in given else "a = 5"
    assert proves(text, Arguments(given, lambda _: False), closed=True) is covered


@pytest.mark.parametrize(
    ("text", "annotations", "expected"),
    [
        ("read_only", {"readOnlyHint": True}, True),
        ("read_only", {"readOnlyHint": False}, False),
        ("read_only", {}, None),
        ("not read_only", {"readOnlyHint": False}, True),
        ("not read_only", {"readOnlyHint": True}, False),
        ("not read_only", {}, None),
        ("not destructive", {"destructiveHint": False}, True),
        ("not destructive", {"readOnlyHint": True}, None),
        ("destructive", {"readOnlyHint": True, "destructiveHint": True}, None),
        ("read_only", {"readOnlyHint": True, "destructiveHint": True}, None),
        ("not open_world", {"openWorldHint": False}, True),
        ("idempotent", {"idempotentHint": True}, True),
        ("read_only, a = 5", {"readOnlyHint": True}, True),
        ("read_only, a = 6", {"readOnlyHint": True}, False),
        ("read_only, a = 5", {}, None),
        ("read_only, only", {"readOnlyHint": True}, None),
        ("read_only, a = 5, only", {"readOnlyHint": True}, True),
    ],
)
def test_an_annotation_is_true_false_or_not_known(
    text: str, annotations: Mapping[str, bool], expected: bool | None
) -> None:
    assert holds(conditions_of(text), Arguments({"a": 5}, lambda _: False, annotations)) is expected


def test_an_argument_may_have_the_name_of_an_annotation() -> None:
    assert holds_for("read_only = true", {"read_only": True}) is True
    assert holds_for("read_only", {"read_only": True}) is None


@pytest.mark.parametrize("tool", ["mcp__*", "mcp__d*", "mcp__*__search", "refund"])
def test_an_allow_rule_that_believes_annotations_names_the_server(tool: str) -> None:
    with pytest.raises(PolicyError, match="relies on what any server says"):
        read_document(f'allow = ["{tool}(read_only)"]', "a.toml", Origin.USER)
    for kind in ("ask", "deny"):
        read_document(f'{kind} = ["{tool}(not read_only)"]', "a.toml", Origin.USER)


@pytest.mark.parametrize("tool", ["mcp__docs", "mcp__docs__search", "mcp__docs__get_*"])
def test_rules_on_a_named_server_may_believe_annotations(tool: str) -> None:
    rule = f'{{ rule = "{tool}(read_only, q = x)", match = [{{ q = "x" }}], not_match = [{{ q = "y" }}] }}'
    found = read_document(f"allow = [{rule}]", "a.toml", Origin.USER)
    assert [document.holds(each, lambda _: Lowering("x")) is each.wanted for each in found.examples] == [True, True]
