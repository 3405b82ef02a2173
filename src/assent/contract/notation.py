"""JSON as `json` reads and writes it, without loading that package: it takes longer than to read what a hook is sent.

Its own core in C does the work. Where that is missing or of another make, and for every error, the package serves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

try:
    from _json import encode_basestring, encode_basestring_ascii, make_encoder, make_scanner
except ImportError:  # another Python
    make_scanner = make_encoder = None  # type: ignore[assignment,misc]  # the package serves

_BLANKS = " \t\n\r"


class _Reading:
    """What the core asks for when it reads; the names are its own."""

    strict = True
    object_hook = None
    parse_int = int

    def __init__(
        self,
        pairs: Callable[[Sequence[tuple[str, object]]], object] | None,
        number: Callable[[str], float] | None,
        constant: Callable[[str], object] | None,
    ) -> None:
        self.object_pairs_hook = pairs
        self.parse_float = number or float
        self.parse_constant = constant or float
        self.memo: dict[str, str] = {}


def loads(
    text: str | bytes,
    *,
    object_pairs_hook: Callable[[Sequence[tuple[str, object]]], object] | None = None,
    parse_float: Callable[[str], float] | None = None,
    parse_constant: Callable[[str], object] | None = None,
) -> Any:
    """The value that a text in UTF-8 holds; raises ValueError where it holds none."""
    source = text if isinstance(text, str) else text.decode("utf-8")
    if make_scanner is None:
        return _slowly(source, object_pairs_hook, parse_float, parse_constant)
    start = len(source) - len(source.lstrip(_BLANKS))
    reading: Any = _Reading(object_pairs_hook, parse_float, parse_constant)
    try:
        value, end = make_scanner(reading)(source, start)
    except (StopIteration, SystemError):  # the core says nothing of some texts that end too early
        end = -1
    if end < 0 or source[end:].strip(_BLANKS):
        return _slowly(source, object_pairs_hook, parse_float, parse_constant)
    return value


def _slowly(
    source: str,
    pairs: Callable[[Sequence[tuple[str, object]]], object] | None,
    number: Callable[[str], float] | None,
    constant: Callable[[str], object] | None,
) -> Any:
    from json import loads

    return loads(source, object_pairs_hook=pairs, parse_float=number, parse_constant=constant)


def dumps(
    value: object,
    *,
    ascii: bool = True,
    ordered: bool = False,
    spaced: bool = False,
    default: Callable[[Any], object] | None = None,
) -> str:
    """A value as JSON; raises TypeError or ValueError for what JSON cannot say, as far as `default` says nothing of it.

    `ordered` is `sort_keys`, `spaced` puts a blank behind each comma and colon."""
    colon, comma = (": ", ", ") if spaced else (":", ",")
    if make_encoder is None:
        from json import dumps

        separators, odd = (comma, colon), default or _refuse
        return dumps(value, separators=separators, ensure_ascii=ascii, allow_nan=spaced, sort_keys=ordered, default=odd)
    encode = encode_basestring_ascii if ascii else encode_basestring
    if isinstance(value, str):
        return str(encode(value))
    return "".join(make_encoder({}, default or _refuse, encode, None, colon, comma, ordered, False, spaced)(value, 0))


def _refuse(value: object) -> object:
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")
