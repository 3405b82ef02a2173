"""Rules that name the values of a call: `refund(amount <= 5, currency = EUR)`, for calls that a person may want to
repeat."""

from __future__ import annotations

from collections.abc import Iterator

from assent.contract import ASCII, Arguments, Pattern
from assent.policy.condition_values import DECIMAL, EACH, ONLY

MOST = 8  # conditions of one rule
LONGEST = 60  # characters of a text that a rule names
NAME = Pattern(r"[A-Za-z_][A-Za-z0-9_-]*", ASCII)
WORD = Pattern(r"[A-Za-z_@/][A-Za-z0-9_@./:+-]*", ASCII)
RESERVED = frozenset("true false null none nil undefined nan infinity yes no on off".split())
PIECE = Pattern(r"[A-Z]?[a-z]+|[A-Z]+")
# Parts of names of amounts, for which a smaller number is the milder call.
AMOUNTS = frozenset(
    "amount price total cost sum quantity qty count limit size fee tip budget value max days hours minutes".split()
)


def rules_on(tool: str, given: Arguments | None) -> list[str]:
    """Rules on a tool with the values of a call, the narrowest first: the same values, then at most the same amounts
    with any prose. None if nothing but prose is given: a rule would be on the whole tool."""
    if given is not None and all(each is None for each in given.given.values()) and "*" not in tool:
        return [f"{tool}({ONLY})"]
    leaves = list(_leaves(dict(given.given), ())) if given is not None else []
    if not 0 < len(leaves) <= MOST or "*" in tool:
        return []
    found = []
    for wide in (False, True):
        conditions = [_condition(path, values, wide) for path, values in leaves]
        if all(conditions) and not all(each.endswith(" is any") for each in conditions):
            found.append(f"{tool}({', '.join(conditions)})")
    return list(dict.fromkeys(found))


def _leaves(value: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], list[object]]]:
    """Each given argument by its path, with its values; none if no rule can name them."""
    if value is None:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, (*path, str(key)))
        if not value and path:
            yield path, []
    elif isinstance(value, list | tuple) and value and all(isinstance(each, dict) and each for each in value):
        keys = dict.fromkeys(str(key) for each in value for key in each)
        for key in keys:
            inner = [each.get(key) for each in value]
            plain = all(isinstance(each, str | int | float) for each in inner)
            yield (*path, EACH, key), inner if plain else []
    else:
        yield path, list(value) if isinstance(value, list | tuple) else [value]


def _condition(path: tuple[str, ...], values: list[object], wide: bool) -> str:
    """The condition on an argument; `""` if there is none."""
    name = _path(path)
    if not name or not values or not all(isinstance(each, str | int | float) for each in values):
        return ""
    texts = list(dict.fromkeys(map(_literal, values)))
    prose = not all(texts) or any(isinstance(each, str) and " " in each for each in values)
    if not all(texts) or (wide and prose):
        return f"{name} is any" if all(isinstance(each, str) for each in values) else ""
    pieces = {piece.lower() for piece in PIECE.findall(path[-1])}
    if wide and len(texts) == 1 and isinstance(values[0], int | float) and values[0] > 0 and pieces & AMOUNTS:
        return f"{name} <= {texts[0]}"
    return f"{name} = {texts[0]}" if len(texts) == 1 else f"{name} in [{', '.join(texts)}]"


def _path(path: tuple[str, ...]) -> str:
    text = ""
    for step in path:
        if step == EACH:
            text += EACH
        elif NAME.fullmatch(step) or ('"' not in step and step.isprintable() and step):
            text += ("." if text else "") + (step if NAME.fullmatch(step) else f'"{step}"')
        else:
            return ""
    return text


def _literal(value: object) -> str:
    """A value as a rule writes it; `""` if it is too long or cannot be written."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        text = repr(value)
        return text if DECIMAL.fullmatch(text) else ""
    if not value or len(value) > LONGEST or not value.isprintable():
        return ""
    if WORD.fullmatch(value) and value.lower() not in RESERVED:
        return value
    quote = next((each for each in "\"'" if each not in value), "")
    return f"{quote}{value}{quote}" if quote else ""
