"""JSON text → payload, and the fields of one, read strictly.

A duplicate key is refused: we and the program might read different ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assent.contract import PayloadError, loads

DEEPEST = 200  # levels of lists and objects
INFINITY = float("inf")


def read(text: str | bytes) -> dict[str, object]:
    """The object that a text holds; raises PayloadError if it is none, or if a key is given twice."""
    found = value(text)
    if not isinstance(found, dict):
        raise PayloadError("the payload is not a JSON object")
    return found


def value(text: str | bytes) -> object:
    """The JSON value that a text holds; raises PayloadError if it holds none, or if a key is given twice."""
    try:
        source = text.decode("utf-8") if isinstance(text, bytes) else text
        found: object = loads(source, object_pairs_hook=once, parse_constant=_no_number, parse_float=_finite)
    except PayloadError:
        raise
    except (ValueError, RecursionError) as error:
        raise PayloadError(f"the payload is not JSON: {error}") from None
    _bounded(found)
    return found


def once(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    """An object of the JSON that is read; raises PayloadError if a key is given twice."""
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise PayloadError(f"key `{key}` is given twice")
        found[key] = value
    return found


def _no_number(word: str) -> object:
    raise PayloadError(f"`{word}` is no JSON number")


def _finite(text: str) -> float:
    """A number that is too large becomes infinity, which JSON cannot express."""
    number = float(text)
    if number in (INFINITY, -INFINITY):
        raise PayloadError(f"`{text[:40]}` is too large a number")
    return number


def _bounded(value: object) -> None:
    """Refuse nesting so deep that it would exhaust a later stage."""
    level: list[object] = [value]
    for _ in range(DEEPEST):
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return
    raise PayloadError("the payload is nested too deep")


def text(given: Mapping[str, object], key: str) -> str:
    value = given.get(key)
    if not isinstance(value, str) or not value:
        raise PayloadError(f"the payload has no `{key}` (text)")
    return value


def text_if_any(given: Mapping[str, object], *keys: str) -> str:
    """The first of some texts that exists, or `""`. A value that is no text is refused."""
    for key in keys:
        value = given.get(key)
        if value is not None and not isinstance(value, str):
            raise PayloadError(f"`{key}` in the payload is not text")
        if value:
            return value
    return ""


def table(given: Mapping[str, object], key: str) -> dict[str, object]:
    """A required object; `null` is an empty one."""
    if key not in given:
        raise PayloadError(f"the payload has no `{key}` (an object)")
    value = {} if given[key] is None else given[key]
    if not isinstance(value, dict):
        raise PayloadError(f"`{key}` in the payload is not an object")
    return value


def enclosed(given: Mapping[str, object], key: str) -> dict[str, object]:
    """A required object, perhaps written as JSON text. Empty text is an empty one."""
    value = given.get(key)
    if isinstance(value, str):
        return read(value) if value.strip() else {}
    return table(given, key)


def folders(value: object) -> tuple[str, ...]:
    listed = value if isinstance(value, list) else []
    return tuple(dict.fromkeys(each for each in listed if isinstance(each, str) and each.startswith("/")))


def folder(path: str) -> tuple[str, ...]:
    """A workspace of one folder, or of none if the path is not absolute."""
    return (path,) if path.startswith("/") else ()
