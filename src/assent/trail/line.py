"""One line of the trail: its bytes and its position in the chain, written and parsed. Does no I/O.

A line is `{"v":1,"n":N,…,"prev":"HASH","hash":"HASH"}` and a newline. The hash is SHA-256 over the previous hash and
the line's bytes without its own hash: `{"v":1,"n":N,…,"prev":"HASH"}`."""

from __future__ import annotations

from time import gmtime
from typing import TYPE_CHECKING

from assent.contract import Value, dumps, keep, re, sha256
from assent.trail import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from operator import attrgetter
    from typing import Any

    from assent.contract import Record
else:
    from _operator import attrgetter  # the C core of `operator`

VERSION = 1
NO_HASH = "0" * 64
BEGINNING = b'{"v":1,"n":'
# Texts, not patterns: appending seldom needs them, and `re` caches compiled ones.
_LINE = rb'\{"v":1,"n":([1-9][0-9]{0,17}),[^\n]*,"prev":"([0-9a-f]{64})","hash":"([0-9a-f]{64})"\}\n'
_HASH_LENGTH = len(b',"hash":""}\n') + 64
# The fields of a line, which `more` may not overwrite.
FIELDS = (
    "v n id time kind runtime session project cwd tool input effects outcome layer code reason rule source mode risk "
    "who channel scope timed_out latency_ms prev hash".split()
)
# Control, hidden and direction characters, which JSON does not escape.
_UNSAFE = (
    r"[\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    r"\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_second = (-1, "")
_digest: Callable[[bytes], Any] = sha256
# The fields of a record that are written if they are not empty, in this order; some can contain a secret.
_ORDER = (
    "runtime session project cwd tool input effects outcome layer code reason rule source mode risk who channel scope"
)
_WRITTEN = (*_ORDER.split(), "timed_out")
_REDACTED = frozenset("project cwd tool reason rule source".split())
_FIXED = attrgetter("kind", *(name for name in _WRITTEN if name != "input"))
_TEXT, _PLAIN = frozenset({str}), frozenset({str, int})
CACHED, CACHED_LENGTH = 256, 4000  # records, characters of one
_known: dict[tuple[object, ...], str] = {}  # a cache of written records without secrets: agents repeat themselves


class Link(Value):
    """The position of a line in the chain, by its own fields. `whole`: its hash matches its bytes."""

    __slots__ = ("n", "prev", "hash", "whole")

    def __init__(self, n: int, prev: str, hash: str, whole: bool) -> None:
        self.n = n
        self.prev = prev
        self.hash = hash
        self.whole = whole


def body(record: Record) -> bytes:
    """A record, redacted, as the middle of its line: everything but `v`, `n`, `prev` and `hash`."""
    key = _lasting(record)
    said = _known.get(key) if key is not None else None
    clean = False
    if said is None:
        clean = redact.quiet("\n".join(_texts(record)))
        said = _json(_said(record, clean))
        if key is not None and len(said) <= CACHED_LENGTH and (clean or said == _json(_said(record, True))):
            keep(_known, key, said, CACHED)
    id = record.id
    named = f'"id":"{id}"' if id.isascii() and id.replace("-", "").isalnum() else _json({"id": id})
    found = f'{named},"time":"{iso(record.time)}",{said}'
    if record.latency:
        found += f',"latency_ms":{_number(round(record.latency * 1000, 3))}'
    if record.more:
        more = redact.mapping(record.more, clean=clean).items()
        found += f",{_json({f'{name}_' if name in FIELDS else name: each for name, each in more})}"
    return found.encode()


def _lasting(record: Record) -> tuple[object, ...] | None:
    """A record without its id, time and latency, which differ each time. None if equal keys may be written differently,
    like `1` and `true`."""
    given = record.input
    if record.more or not _TEXT.issuperset(map(type, given)) or not _PLAIN.issuperset(map(type, given.values())):
        return None
    return (*_FIXED(record), *given.items())


def _said(record: Record, clean: bool) -> dict[str, object]:
    """The fields of a record. `clean`: nothing in it even hints at a secret."""
    fields: dict[str, object] = {"kind": record.kind}
    for name in _WRITTEN:
        if given := getattr(record, name):
            if name == "input":
                given = redact.mapping(given, clean=clean)
            elif name == "effects":
                given = redact.value(given, clean=clean)
            elif name in _REDACTED and not clean:
                given = redact.text(given)
            fields[name] = given
    return fields


def _json(fields: dict[str, object]) -> str:
    return readable(dumps(fields, ascii=False))[1:-1]


def _number(given: float) -> str:
    if given - given != 0:
        raise ValueError("what is not finite is no JSON number")
    return repr(given)


def _texts(record: Record) -> Iterator[str]:
    """All texts of a record that can contain a secret, to search at once."""
    yield from (record.project, record.cwd, record.tool, record.reason, record.rule, record.source, *record.effects)
    yield from redact.texts(record.input or {})
    yield from redact.texts(record.more or {})


def readable(text: str) -> str:
    """JSON that a terminal can show: control, hidden and direction characters are escaped."""
    if text.isascii() and "\x7f" not in text:
        return text
    return re.sub(_UNSAFE, lambda found: _escaped(ord(found[0])), text)


def _escaped(code: int) -> str:
    if 0xD800 <= code < 0xE000:  # many JSON readers refuse a lone surrogate
        return f"\\\\u{code:04x}"
    if code > 0xFFFF:
        code -= 0x10000
        return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
    return f"\\u{code:04x}"


def iso(time: float) -> str:
    global _second
    whole, thousandths = divmod(int(time * 1000 + 0.5), 1000)
    known = _second  # another thread may be in another second
    if known[0] != whole:  # many records are of the same one
        year, month, day, hour, minute, second = gmtime(whole)[:6]
        known = _second = (whole, f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}")
    return f"{known[1]}.{thousandths:03d}Z"


def hasten() -> None:
    """Hash with OpenSSL from now on: faster by two thirds, and worth loading in a long-lived process."""
    global _digest
    from hashlib import sha256

    _digest = sha256


def chained(middle: bytes, n: int, prev: str) -> tuple[bytes, str]:
    """The line of a body at its position in the chain, and its hash."""
    before = prev.encode()
    line = b'%b%d,%b,"prev":"%b"' % (BEGINNING, n, middle, before)
    found = _digest(b"%b%b}" % (before, line)).hexdigest()
    return b'%b,"hash":"%b"}\n' % (line, found.encode()), found


def number(line: bytes) -> int:
    """The number that a line begins with; 0 if it is no line of the trail."""
    digits = line[len(BEGINNING) : len(BEGINNING) + 20].partition(b",")[0]
    return int(digits) if line.startswith(BEGINNING) and digits.isdigit() else 0


def link(line: bytes) -> Link | None:
    """A line's position in the chain; None if the bytes are no line of the trail."""
    found = re.fullmatch(_LINE, line)
    if found is None:
        return None
    n, prev, own = found.groups()
    digest = sha256(b"%b%b}" % (prev, line[:-_HASH_LENGTH])).hexdigest()
    return Link(int(n), prev.decode(), own.decode(), digest.encode() == own)
