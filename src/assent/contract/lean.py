"""Parts of `re`, `json` and `hashlib` that load only what a call needs: importing these takes longer than a decision.

A `Pattern` is compiled and `re` is loaded on first use. `loads` and `dumps` call the C core of `json`, and the package
itself if the core is missing and for every error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from sys import version_info
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import re
    from hashlib import sha256
else:
    try:
        if version_info >= (3, 12):
            from _sha2 import sha256
        else:
            from _sha256 import sha256
    except ImportError:  # not CPython
        from hashlib import sha256

    class _Module:
        """`re`, loaded on first use."""

        def __getattr__(self, name: str) -> object:
            import re

            found = getattr(re, name)
            setattr(self, name, found)
            return found

    re = _Module()
try:
    from _json import encode_basestring, encode_basestring_ascii, make_encoder, make_scanner
except ImportError:  # another Python
    make_scanner = make_encoder = None  # type: ignore[assignment,misc]  # the package serves

__all__ = ["ASCII", "DOTALL", "IGNORECASE", "Pattern", "dumps", "loads", "re", "sha256"]

IGNORECASE, DOTALL, ASCII = 2, 16, 256  # as in `re`
# Return compiled patterns by text and flags, if the process was started with a file of them.
KEPT: list[Callable[[str, int], re.Pattern[str] | None]] = []
_METHODS = ("match", "search", "fullmatch", "sub", "split", "findall", "finditer")
_BLANKS = " \t\n\r"


class Pattern:
    """A regular expression with its usual methods. After the first use they are bound to the compiled one."""

    __slots__ = ("text", "flags", *_METHODS)

    if TYPE_CHECKING:
        match: Callable[..., re.Match[str] | None]
        search: Callable[..., re.Match[str] | None]
        fullmatch: Callable[..., re.Match[str] | None]
        sub: Callable[..., str]
        split: Callable[..., list[str]]
        findall: Callable[..., list[Any]]
        finditer: Callable[..., Iterator[re.Match[str]]]

    def __init__(self, text: str, flags: int = 0) -> None:
        self.text = text
        self.flags = flags

    def __getattr__(self, name: str) -> object:
        """Compile the pattern on the first use of a method."""
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = next(filter(None, (kept(self.text, self.flags) for kept in KEPT)), None)
        if compiled is None:
            from re import compile

            compiled = compile(self.text, self.flags)
        for each in _METHODS:
            setattr(self, each, getattr(compiled, each))
        return getattr(compiled, name)


class _Reading:
    """The attributes that the core needs to read; it defines their names."""

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
    """The value of a UTF-8 JSON text; raises ValueError if it has none."""
    source = text if isinstance(text, str) else text.decode("utf-8")
    end = -1
    if make_scanner is not None:
        reading: Any = _Reading(object_pairs_hook, parse_float, parse_constant)
        try:
            value, end = make_scanner(reading)(source, len(source) - len(source.lstrip(_BLANKS)))
        except (StopIteration, SystemError):  # the core misses some truncated texts
            end = -1
    if end >= 0 and not source[end:].strip(_BLANKS):
        return value
    from json import loads

    return loads(source, object_pairs_hook=object_pairs_hook, parse_float=parse_float, parse_constant=parse_constant)


def dumps(
    value: object,
    *,
    ascii: bool = True,
    ordered: bool = False,
    spaced: bool = False,
    default: Callable[[Any], object] | None = None,
) -> str:
    """A value as JSON; raises TypeError or ValueError for values that neither JSON nor `default` can express.

    `ordered` is `sort_keys`, `spaced` puts a blank after each comma and colon."""
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
