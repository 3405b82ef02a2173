"""Conditions on the arguments of a call: `amount > 100, currency in [EUR, USD]`. Knows no rules and no tools.

A condition compares an argument, named by its path (`order.amount`, `items[*].price`), with values of the rule. The
result is true, false, or None if uncertain. A condition on a list is on each of its values, and on every argument of
the same name nested elsewhere.

INVARIANT: an argument that is missing, null, empty, of another type or past a limit is uncertain, so that removing,
retyping or nesting one never loosens: deny and ask rules match unless a condition is false, allow rules only if all are
true."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assent.contract import Arguments, Pattern, PolicyError, keep
from assent.contract.call import ANNOTATIONS
from assent.policy import condition_values
from assent.policy.condition_values import ANNOTATED, EACH, ONLY, Condition

MOST = 5000  # values of a call to check
DEEPEST = 8  # levels of JSON in texts
LONGEST_TEXT = 65536  # characters of a text that may hold JSON
KEPT = 1024  # parsed texts
LONGEST_KEY = 100  # characters of a text that may be a key
BLANKS = "\ufeff \t\r\n"
QUERY = Pattern(r"\??[^\s=&{}]+=[^\s=&]*(?:&[^\s=&]+=[^\s=&]*)*")
NEGATED = {"!=": "=", "!~": "~"}
STEPS = Pattern(r"[.\[\]/:]")  # separators in keys that are paths
_parsed: dict[str, tuple[Condition, ...]] = {}


def conditions_of(text: str) -> tuple[Condition, ...]:
    """The conditions that a text holds, all of which must be true. Raises PolicyError (without a place)."""
    found = _parsed.get(text)
    if found is None:
        from assent.policy.condition_syntax import parse

        found = parse(text)
        _check_possible(found, text)
        keep(_parsed, text, found, KEPT)
    return found


def reaches(text: str, given: Arguments | None) -> bool:
    """Deny and ask: whether the conditions may be true."""
    return given is None or holds(conditions_of(text), given) is not False


def proves(text: str, given: Arguments | None, *, closed: bool = False) -> bool:
    """Allow: whether the conditions are certainly true. `closed`: the call also has no argument that they do not name,
    and no negative amount for one that they only bound from above."""
    if given is None:
        return False
    conditions = conditions_of(text)
    if holds(conditions, given) is not True:
        return False
    return not closed or not (_has_others(conditions, given.given) or _is_below_zero(conditions, given.given))


def holds(conditions: tuple[Condition, ...], given: Arguments) -> bool | None:
    """Whether all conditions are true of the arguments."""
    found = [_annotated(each.word, given.annotations) for each in conditions if each.operator == ANNOTATED]
    found += [_condition_holds(each, given) for each in conditions if each.path]
    if any(each.operator == ONLY for each in conditions) and _has_others(conditions, given.given):
        found.append(None)
    return False if False in found else None if None in found else True


def _annotated(word: str, annotations: Mapping[str, bool]) -> bool | None:
    """Whether the tool's server says this of it; None if it says nothing, or that the tool is read-only and
    destructive."""
    if annotations.get(ANNOTATIONS["read_only"]) and annotations.get(ANNOTATIONS["destructive"]):
        annotations = {}
    name = word.removeprefix("not ")
    found = annotations.get(ANNOTATIONS[name])
    return None if found is None else found is (name == word)


def names_annotation(text: str) -> bool:
    """Whether the conditions of a rule rely on what a server says of its tools."""
    return any(each.operator == ANNOTATED for each in conditions_of(text))


def check_believed(tool: str, text: str) -> None:
    """Raise PolicyError if an allow rule relies on what a server says of its tools, and does not name the server."""
    server = tool[5:].partition("__")[0] if tool.startswith("mcp__") else ""
    if names_annotation(text) and (not server or "*" in server):
        raise PolicyError(
            f"`{tool}({text})` relies on what any server says of its tools",
            suggestion="name the server that you believe, as in `mcp__docs(read_only)`",
        )


def presumed(text: str) -> dict[str, bool]:
    """The annotations that these conditions require, for examples, which are arguments alone."""
    words = [each.word for each in conditions_of(text) if each.operator == ANNOTATED]
    return {ANNOTATIONS[word.removeprefix("not ")]: not word.startswith("not ") for word in words}


def _condition_holds(condition: Condition, given: Arguments) -> bool | None:
    """Whether a condition is true of every value that the argument may be."""
    found, certain = _values(given.given, condition.path)
    answers = {_value_holds(condition, each, given) for each in found}
    return answers.pop() if certain and len(answers) == 1 else None


def _value_holds(condition: Condition, value: object, given: Arguments | None) -> bool | None:
    operator = condition.operator
    if operator == "is":
        return _is(condition.word, value, given)
    answer = _compared(NEGATED.get(operator, operator), condition, value)
    if isinstance(value, str) and not value.strip() and answer is False:
        return None  # treat it as missing
    if operator not in NEGATED or answer is None:
        return answer
    return True if answer is False and _is_certainly_other(operator, value) else None if answer is False else False


def _is_certainly_other(operator: str, value: object) -> bool:
    """Whether no tool and no person would take a value that does not match for one that does."""
    return not isinstance(value, str) or (condition_values.is_single(value) if operator == "!~" else value.isascii())


def _compared(operator: str, condition: Condition, value: object) -> bool | None:
    if operator == "~":
        return condition_values.fits(value, condition.literals[0].text)
    if operator in ("=", "in"):
        answers = [condition_values.equals(value, each, condition.number) for each in condition.literals]
        return True if True in answers else None if None in answers else False
    order = condition_values.order(value, condition.literals[0], condition.number)
    if order is None:
        return None
    return (order == 0 and "=" in operator) or order == (-1 if operator[0] == "<" else 1)


def _is(word: str, value: object, given: Arguments | None) -> bool | None:
    """`any` is true of every value. For SQL, only read-only can be proved."""
    if word == "any":
        return True
    if not isinstance(value, str) or given is None or not given.only_reads(value):
        return None
    return word == "read-only"


# ---------------------------------------------------------------- values by their path


def _values(given: Mapping[str, object], path: tuple[str, ...]) -> tuple[list[object], bool]:
    """The possible values of an argument: at the path, and of the same name elsewhere; and whether the list is complete
    and each is a text, a number or a flag."""
    found: list[object] = []
    certain = _along(dict(given), path, found)
    for each in _elsewhere(dict(given), path):
        certain = _add(each, found) and certain
    return found, certain


def _along(value: object, path: tuple[str, ...], found: list[object]) -> bool:
    if not path:
        return _add(value, found)
    if path[0] == EACH:
        items = value if isinstance(value, list | tuple) and len(value) <= MOST else ()
        return bool(items) and all(_along(each, path[1:], found) for each in items)
    return isinstance(value, dict) and path[0] in value and _along(value[path[0]], path[1:], found)


def _add(value: object, found: list[object]) -> bool:
    """Add a value, or those of a list; false if it is no value, or has nested ones."""
    items = list(value) if isinstance(value, list | tuple) else [value]
    found += items[:MOST]
    return 0 < len(items) <= MOST and all(isinstance(each, str | int | float) for each in items)


def _elsewhere(given: dict[str, object], path: tuple[str, ...]) -> Iterator[object]:
    """The values of keys that some tool may take for the last key of the path, in any object and in JSON texts."""
    last = max(place for place, step in enumerate(path) if step != EACH)
    name = _key(path[last])
    todo: list[tuple[object, int, int]] = [(given, 0, 0)]  # value, steps of the path to it (-1: another way), texts
    for _ in range(MOST):
        if not todo:
            return
        value, along, texts = todo.pop()
        step = path[along] if 0 <= along < len(path) else ""
        if isinstance(value, dict):
            for key, inner in value.items():
                exact = step == key and step != EACH
                if not (exact and along == last) and _key(str(key)) == name:
                    yield inner
                todo.append((inner, along + 1 if exact else -1, texts))
        elif isinstance(value, list | tuple):
            todo += [(inner, along + 1 if step == EACH else -1, texts) for inner in value[: MOST + 1]]
        elif isinstance(value, str) and value:
            if texts == DEEPEST or (along != len(path) and _may_name(value, name)):
                yield None  # `{"field": "amount", "value": 500}`, or a text that some tool may read as JSON
            else:
                todo += [(inner, -1, texts + 1) for inner in _enclosed(value)]
    yield None  # too many to check


def _key(key: str) -> str:
    """A key without case, widths and marks; if the key is a path, its last name."""
    pieces = [piece for piece in STEPS.split(key) if piece]
    return "".join(each for each in condition_values.folded(pieces[-1] if pieces else key) if each.isalnum())


def _may_name(text: str, name: str) -> bool:
    """Whether a text is the name of an argument, or contains it and looks like JSON that does not parse."""
    if len(text) <= LONGEST_KEY and text.strip() and _key(text) == name:
        return True
    return text.lstrip(BLANKS)[:1] in ("{", "[") and not _enclosed(text) and name in condition_values.folded(text)


def _enclosed(text: str) -> list[object]:
    """The content of a JSON text or of a URL query. A key given twice has both values."""
    if "=" in text and len(text) <= LONGEST_TEXT and QUERY.fullmatch(text):
        from urllib.parse import parse_qsl

        return [{key: value} for key, value in parse_qsl(text.lstrip("?"), keep_blank_values=True)]
    if text.lstrip(BLANKS)[:1] not in ("{", "[", '"') or len(text) > LONGEST_TEXT:
        return []
    from assent.contract import loads

    try:
        return [loads(text.strip(BLANKS), object_pairs_hook=_both)]
    except (ValueError, RecursionError):
        return []


def _both(pairs: object) -> object:
    assert isinstance(pairs, list)
    return [{key: value} for key, value in pairs]


def _has_others(conditions: tuple[Condition, ...], given: Mapping[str, object]) -> bool:
    """Whether the call has an argument that the conditions do not name."""
    named = {tuple(step for step in each.path if step != EACH) for each in conditions if each.path}
    todo: list[tuple[object, tuple[str, ...]]] = [(dict(given), ())]
    for _ in range(MOST):
        if not todo:
            return False
        value, path = todo.pop()
        if path in named or value is None:  # null is the same as none
            continue
        if isinstance(value, dict) and (value or not path):
            todo += [(inner, (*path, str(key))) for key, inner in value.items()]
        elif isinstance(value, list | tuple) and any(isinstance(each, dict) for each in value):
            todo += [(inner, path) for inner in value]
        else:
            return True
    return True


def _is_below_zero(conditions: tuple[Condition, ...], given: Mapping[str, object]) -> bool:
    """Whether a number bounded only from above is negative: whoever allowed 5 did not mean -500."""
    bounded = [each for each in conditions if each.operator in ("<", "<=") and each.literals[0].ratio[0] >= 0]
    zero = condition_values.RuleValue("number", "0")
    return any(
        condition_values.order(value, zero, each.number) == -1
        for each in bounded
        for value in _values(given, each.path)[0]
    )


# ---------------------------------------------------------------- checks when a rule is loaded


def _check_possible(conditions: tuple[Condition, ...], text: str) -> None:
    """Raise PolicyError if conditions on one argument, or annotations, exclude each other."""
    words = {each.word for each in conditions if each.operator == ANNOTATED}
    if {"read_only", "destructive"} <= words or any(f"not {word}" in words for word in words):
        raise PolicyError(f"no tool can be all that `{text}` says", suggestion="write two rules where either is enough")
    for at, first in enumerate(conditions):
        for second in conditions[at + 1 :]:
            if first.path and first.path == second.path and _exclude(first, second):
                path = path_text(first.path)
                raise PolicyError(
                    f"no `{path}` can be all that `{text}` says",
                    suggestion="write two rules where either is enough: a comma is `and`",
                )


def _exclude(first: Condition, second: Condition) -> bool:
    if "is" in (first.operator, second.operator):
        return False
    if {each.kind for each in first.literals} != {each.kind for each in second.literals}:
        return True
    for one, other in ((first, second), (second, first)):
        named = one.literals if one.operator in ("=", "in") else ()
        if named and all(_value_holds(other, _value(each), None) is False for each in named):
            return True
    if first.operator[0] + second.operator[0] not in ("<>", "><"):
        return False
    low, high = (first, second) if first.operator[0] == ">" else (second, first)
    order = condition_values.order(_value(low.literals[0]), high.literals[0], False)
    return order is None or order > 0 or (order == 0 and not ("=" in low.operator and "=" in high.operator))


def _value(literal: condition_values.RuleValue) -> object:
    """A value that is equal to a literal."""
    if literal.kind == "number":
        return float(literal.text) if "." in literal.text else int(literal.text)
    return literal.text == "true" if literal.kind == "boolean" else literal.text


def path_text(path: tuple[str, ...]) -> str:
    return ".".join(path).replace(f".{EACH}", EACH)
