"""The words of approval as plain JSON data and back: for the store, the server and its clients.

Written by the fields that a word has; read strictly, since the sender may be anybody. Keeps nothing."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from assent.contract import Call, Decision, Enum, Layer, Outcome, Part, PayloadError, Value, fields
from assent.contract.approval import Answer, Ending, Held, Preview, Resolution, Said, Scope, Suggestion

T = TypeVar("T")
Reader = Callable[[object], Any]  # raises PayloadError on what it cannot read
LONGEST_INTEGER = 4000  # bits and more cannot be read back as decimal digits


def plain(value: object) -> object:
    """A word as JSON data. Raises PayloadError for what JSON cannot hold, rather than write something like it."""
    try:
        return _plain(value)
    except RecursionError:
        raise PayloadError("the input is nested too deeply to be kept; make a simpler call") from None


def dumps(value: object) -> str:
    """A word as one line of JSON, in ASCII."""
    return json.dumps(plain(value), allow_nan=False, separators=(",", ":"))


def loads(text: str | bytes) -> object:
    """JSON data from text, or PayloadError."""
    try:
        found: object = json.loads(text)
        return found
    except (ValueError, RecursionError) as error:
        raise PayloadError(f"this is not JSON: {error}") from None


def _plain(value: object) -> object:
    if isinstance(value, Value):
        return {name: _plain(getattr(value, name)) for name in fields(type(value))}
    if isinstance(value, Outcome):
        return value.word
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int) and value.bit_length() <= LONGEST_INTEGER:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: _plain(each) for key, each in value.items()}
    raise PayloadError(f"a `{type(value).__name__}` cannot be kept as JSON; give the input as JSON data")


# Reading


def _text(data: object) -> str:
    if not isinstance(data, str):
        raise PayloadError(f"expected text, found `{data!r:.80}`")
    return data


def _number(data: object) -> float:
    if isinstance(data, bool) or not isinstance(data, int | float) or not math.isfinite(data):
        raise PayloadError(f"expected a number, found `{data!r:.80}`")
    return data


def _whole(data: object) -> int:
    if isinstance(data, bool) or not isinstance(data, int):
        raise PayloadError(f"expected a whole number, found `{data!r:.80}`")
    return data


def _flag(data: object) -> bool:
    if not isinstance(data, bool):
        raise PayloadError(f"expected true or false, found `{data!r:.80}`")
    return data


def _object(data: object) -> dict[str, object]:
    if not isinstance(data, dict) or not all(isinstance(key, str) for key in data):
        raise PayloadError(f"expected an object, found `{data!r:.80}`")
    return data


def _many(reader: Reader) -> Reader:
    def read(data: object) -> tuple[Any, ...]:
        if not isinstance(data, list | tuple):
            raise PayloadError(f"expected a list, found `{data!r:.80}`")
        return tuple(reader(each) for each in data)

    return read


def _pair(data: object) -> tuple[str, str]:
    if not isinstance(data, list | tuple) or len(data) != 2:
        raise PayloadError(f"expected two texts, found `{data!r:.80}`")
    return (_text(data[0]), _text(data[1]))


def _or_none(reader: Reader) -> Reader:
    return lambda data: None if data is None else reader(data)


def _outcome(data: object) -> Outcome:
    for each in Outcome:
        if each.word == data:
            return each
    raise PayloadError(f"`{data!r:.80}` is no outcome")


def _one_of(kind: type[Enum]) -> Reader:
    def read(data: object) -> Enum:
        for each in kind:
            if each.value == data:
                return each
        raise PayloadError(f"`{data!r:.80}` is none of {', '.join(str(each.value) for each in kind)}")

    return read


def _word(kind: Callable[..., T], fields: Mapping[str, Reader]) -> Callable[[object], T]:
    """A reader of one word by its fields. Those that are not known are passed over: a newer sender may have some."""

    def read(data: object) -> T:
        given = _object(data)
        try:
            return kind(**{name: reader(given[name]) for name, reader in fields.items() if name in given})
        except TypeError:
            missing = ", ".join(name for name in fields if name not in given)
            raise PayloadError(f"fields are missing among these: {missing}") from None
        except PayloadError as error:
            raise PayloadError(f"{getattr(kind, '__name__', '').lower()}: {error}") from None
        except RecursionError:
            raise PayloadError("the data is nested too deeply") from None

    return read


CALL_FIELDS: dict[str, Reader] = {
    **dict.fromkeys(("tool", "cwd", "home", "session", "runtime", "description", "shell"), _text),
    "input": _object,
    "roots": _many(_text),
}
PART_FIELDS: dict[str, Reader] = {
    "outcome": _outcome,
    "layer": _one_of(Layer),
    **dict.fromkeys(("code", "reason", "what", "where", "rule", "source", "flip", "message"), _text),
    "high": _flag,
    "also": _many(_text),
}
read_call = _word(Call, CALL_FIELDS)
_part = _word(Part, PART_FIELDS)
DECISION_FIELDS: dict[str, Reader] = {
    "outcome": _outcome,
    "deciding": _part,
    "parts": _many(_part),
    "lost": _many(_pair),
    **dict.fromkeys(("mode", "risk", "tool"), _text),
}
read_decision = _word(Decision, DECISION_FIELDS)
PREVIEW_FIELDS: dict[str, Reader] = {"kind": _text, "text": _text, "path": _text, "length": _whole}
SUGGESTION_FIELDS: dict[str, Reader] = {"rules": _many(_text), "width": _text}
HELD_FIELDS: dict[str, Reader] = {
    "id": _text,
    "call": read_call,
    "digest": _text,
    "decision": read_decision,
    "preview": _word(Preview, PREVIEW_FIELDS),
    "effects": _many(_text),
    "suggestions": _many(_word(Suggestion, SUGGESTION_FIELDS)),
    "warnings": _many(_text),
    "project": _text,
    **dict.fromkeys(("made", "timeout", "unseen", "limit"), _number),
    "attended": _flag,
}
read_held = _word(Held, HELD_FIELDS)
ANSWER_FIELDS: dict[str, Reader] = {
    "said": _one_of(Said),
    "scope": _one_of(Scope),
    "rules": _many(_text),
    **dict.fromkeys(("message", "who", "channel"), _text),
}
read_answer = _word(Answer, ANSWER_FIELDS)
RESOLUTION_FIELDS: dict[str, Reader] = {
    "id": _text,
    "ending": _one_of(Ending),
    "allowed": _flag,
    "answer": _or_none(read_answer),
    "reason": _text,
    "waited": _number,
}
read_resolution = _word(Resolution, RESOLUTION_FIELDS)

FIELDS: dict[type[Value], dict[str, Reader]] = {
    Call: CALL_FIELDS,
    Part: PART_FIELDS,
    Decision: DECISION_FIELDS,
    Preview: PREVIEW_FIELDS,
    Suggestion: SUGGESTION_FIELDS,
    Held: HELD_FIELDS,
    Answer: ANSWER_FIELDS,
    Resolution: RESOLUTION_FIELDS,
}
