"""Python values as data of a call: what can be shown, kept and compared.

INVARIANT: what cannot be read is never given as a text, since a text would be read as a path or an address."""

from __future__ import annotations

import dataclasses
import os
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID, uuid4

from assent.contract import PayloadError

WHOLE = (date, datetime, time, timedelta, Decimal, UUID)  # whose repr is all there is
EXACT: dict[type, Callable[[Any], object]] = {str: str.__str__, int: int.__int__, float: float.__float__}
ROWS = (list, tuple, set, frozenset, deque)
MOST = 4096  # objects whose numbers are kept, before those of dead objects are removed
OBJECT = "object"  # the key of a value that is known only by its repr


def plain(value: object) -> object:
    """An argument as plain data. Raises PayloadError if it cannot be read, or in two ways."""
    try:
        return _plain(value)
    except RecursionError:
        raise PayloadError("the arguments contain themselves, or are nested too deep; send less") from None
    except PayloadError:
        raise
    except Exception as error:  # code of the value itself: how it is shown, what it contains
        raise PayloadError(f"an argument cannot be read: {type(error).__name__}: {error}") from None


def own(value: object) -> object:
    """A value whose lists, mappings and sets are copied, with all that is in them. Other objects stay the same. Raises
    PayloadError if they contain themselves."""
    try:
        return _own(value)
    except RecursionError:
        raise PayloadError("the arguments contain themselves, or are nested too deep; send less") from None


def _own(value: object) -> object:
    for kind in (list, tuple, set, deque):
        if type(value) is kind:
            return kind(map(_own, value))
    if type(value) is dict:
        return {key: _own(each) for key, each in value.items()}
    return bytearray(value) if type(value) is bytearray else value


def read_arguments(given: Mapping[str, object]) -> dict[str, object]:
    """All arguments of a call as plain data. Raises PayloadError as above."""
    found = plain(given)
    if not isinstance(found, dict):
        raise PayloadError("the arguments of the call are no object")
    return found


def _plain(value: object) -> object:
    if value is None or type(value) in (str, bool, int, float):
        return value
    # Whatever a subclass of text shows, files are opened by what it is.
    for kind, read in EXACT.items():
        if isinstance(value, kind):
            return read(value)
    if isinstance(value, bytes):
        return _text(value)
    if isinstance(value, os.PathLike):
        return _plain(os.fspath(value))
    if isinstance(value, ROWS):
        return [_plain(each) for each in value]
    if isinstance(value, Mapping):
        return _named(value.items())
    if isinstance(value, Enum):
        return _plain(value.value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _named((each.name, getattr(value, each.name)) for each in dataclasses.fields(value))
    fields = getattr(type(value), "model_fields", None)  # a Pydantic model; paths in it are looked at like any other
    if isinstance(fields, dict):
        more = getattr(value, "model_extra", None) or {}
        return _named((key, getattr(value, key, None)) for key in (*fields, *more))
    return repr(value) if type(value) in WHOLE else _object(value)


def _object(value: object) -> dict[str, object]:
    """A value by its repr. If that is only its address, which may be reused, with a unique number: a saved answer is
    for this object only."""
    shown = repr(value)
    number = _number(value) if " at 0x" in shown else ""
    return {OBJECT: shown, "number": number} if number else {OBJECT: shown}


_numbers: dict[int, tuple[weakref.ref[object], str]] = {}  # id of a living object → itself, its number


def _number(value: object) -> str:
    place = id(value)
    known = _numbers.get(place)
    if known is not None and known[0]() is value:
        return known[1]
    try:
        found = weakref.ref(value)
    except TypeError:  # nobody can tell when it is gone
        return ""
    if len(_numbers) >= MOST:
        for key in [key for key, (each, _) in list(_numbers.items()) if each() is None]:
            _numbers.pop(key, None)
    _numbers[place] = (found, uuid4().hex)
    return _numbers[place][1]


def _text(value: bytes) -> object:
    """Bytes as text, so that the name of a file is read as one."""
    try:
        return bytes.decode(value, "utf-8")
    except UnicodeDecodeError:
        return {OBJECT: repr(bytes(value))}


def _named(pairs: object) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:  # type: ignore[attr-defined]  # whatever a mapping gives
        name = str.__str__(key) if isinstance(key, str) else repr(key)
        if name in found:
            raise PayloadError(f"argument `{name}` is given twice")
        found[name] = _plain(value)
    return found
