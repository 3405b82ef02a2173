"""The values of approval as JSON data and back: for the store, the server and its clients.

Written by their fields; read strictly, since the sender may be anybody."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from assent.contract import Call, Decision, Enum, Layer, Outcome, Part, PayloadError, Value, fields
from assent.contract.approval import Answer, Consequence, Ending, Held, Preview, Resolution, Said, Scope, Suggestion

T = TypeVar("T", bound=Value)
Reader = Callable[[object], Any]  # raises PayloadError on what it cannot read
LONGEST_INTEGER = 4000  # bits and more cannot be read back as decimal digits
FIELDS: dict[type[Value], Mapping[str, Reader]] = {}  # of every value that is read here


def plain(value: object) -> object:
    """A value as JSON data. Raises PayloadError for values that JSON cannot express."""
    try:
        return _plain(value)
    except RecursionError:
        raise PayloadError("the input is nested too deeply to be stored; make a simpler call") from None


def dumps(value: object) -> str:
    return json.dumps(plain(value), allow_nan=False, separators=(",", ":"))


def loads(text: str | bytes) -> object:
    try:
        found: object = json.loads(text)
        return found
    except (ValueError, RecursionError) as error:
        raise PayloadError(f"this is not JSON: {error}") from None


def _plain(value: object) -> object:
    match value:
        case Value():
            return {name: _plain(getattr(value, name)) for name in fields(type(value))}
        case Outcome():
            return value.word
        case Enum():
            return value.value
        case None | str() | bool():
            return value
        case int() if value.bit_length() <= LONGEST_INTEGER:
            return value
        case float() if math.isfinite(value):
            return value
        case tuple() | list():
            return [_plain(each) for each in value]
        case Mapping() if all(isinstance(key, str) for key in value):
            return {key: _plain(each) for key, each in value.items()}
    raise PayloadError(f"a `{type(value).__name__}` cannot be stored as JSON; give the input as JSON data")


# Reading


def _only(what: str, *kinds: type) -> Reader:
    """A reader of data of exactly these types, no subclasses: a boolean is no number."""

    def read(data: Any) -> Any:
        if type(data) not in kinds or (float in kinds and not math.isfinite(data)):
            raise PayloadError(f"expected {what}, found `{data!r:.80}`")
        return data

    return read


_text = _only("text", str)
_number = _only("a number", int, float)
_whole = _only("a whole number", int)
_flag = _only("true or false", bool)
_list = _only("a list", list, tuple)


def _object(data: object) -> dict[str, object]:
    if not isinstance(data, dict) or not all(isinstance(key, str) for key in data):
        raise PayloadError(f"expected an object, found `{data!r:.80}`")
    return data


def _many(reader: Reader) -> Reader:
    return lambda data: tuple(map(reader, _list(data)))


def _pair(data: object) -> tuple[str, str]:
    first, second = found if len(found := _list(data)) == 2 else (None, None)
    return _text(first), _text(second)


def _or_none(reader: Reader) -> Reader:
    return lambda data: None if data is None else reader(data)


def _one_of(members: Mapping[str, object]) -> Reader:
    def read(data: object) -> object:
        if not isinstance(data, str) or data not in members:
            raise PayloadError(f"`{data!r:.80}` is not one of {', '.join(members)}")
        return members[data]

    return read


def _value(kind: type[T], fields: Mapping[str, Reader]) -> Callable[[object], T]:
    """A reader of one value by its fields. Unknown ones are skipped: a newer sender may have some."""
    FIELDS[kind] = fields

    def read(data: object) -> T:
        given = _object(data)
        try:
            return kind(**{name: reader(given[name]) for name, reader in fields.items() if name in given})
        except TypeError:
            missing = ", ".join(name for name in fields if name not in given)
            raise PayloadError(f"fields are missing among these: {missing}") from None
        except PayloadError as error:
            raise PayloadError(f"{kind.__name__.lower()}: {error}") from None
        except RecursionError:
            raise PayloadError("the data is nested too deeply") from None

    return read


_outcome = _one_of({each.word: each for each in Outcome})
read_call = _value(
    Call,
    {
        **dict.fromkeys(
            ("tool", "cwd", "home", "session", "runtime", "description", "shell", "hint", "path", "keeps", "agent"),
            _text,
        ),
        "input": _object,
        "roots": _many(_text),
        "annotations": _object,
        "definition": _object,
    },
)
_part = _value(
    Part,
    {
        "outcome": _outcome,
        "layer": _one_of({each.value: each for each in Layer}),
        **dict.fromkeys(("code", "reason", "what", "where", "rule", "source", "flip", "message"), _text),
        "high": _flag,
        "also": _many(_text),
    },
)
read_decision = _value(
    Decision,
    {
        "outcome": _outcome,
        "deciding": _part,
        "parts": _many(_part),
        "lost": _many(_pair),
        **dict.fromkeys(("mode", "risk", "tool", "contained"), _text),
    },
)
read_held = _value(
    Held,
    {
        "id": _text,
        "call": read_call,
        "digest": _text,
        "decision": read_decision,
        "preview": _value(Preview, {"kind": _text, "text": _text, "path": _text, "length": _whole}),
        "effects": _many(_text),
        "consequences": _many(_value(Consequence, {"kind": _text, "text": _text, "cut": _flag})),
        "suggestions": _many(_value(Suggestion, {"rules": _many(_text), "width": _text})),
        "warnings": _many(_text),
        "project": _text,
        **dict.fromkeys(("made", "timeout", "unseen", "limit"), _number),
        "attended": _flag,
    },
)
read_answer = _value(
    Answer,
    {
        "said": _one_of({each.value: each for each in Said}),
        "scope": _one_of({each.value: each for each in Scope}),
        "rules": _many(_text),
        **dict.fromkeys(("message", "who", "channel"), _text),
    },
)
read_resolution = _value(
    Resolution,
    {
        "id": _text,
        "ending": _one_of({each.value: each for each in Ending}),
        "allowed": _flag,
        "answer": _or_none(read_answer),
        "reason": _text,
        "waited": _number,
    },
)
