"""One line of the trail: its bytes, its place in the chain, and reading that back. Touches no files.

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
    from _operator import attrgetter  # what `operator` is made of

VERSION = 1
NO_HASH = "0" * 64
BEGINNING = b'{"v":1,"n":'
# Texts, not patterns: appending seldom needs them, and `re` keeps what it compiled once.
_LINE = rb'\{"v":1,"n":([1-9][0-9]{0,17}),[^\n]*,"prev":"([0-9a-f]{64})","hash":"([0-9a-f]{64})"\}\n'
_HASH_LENGTH = len(b',"hash":""}\n') + 64
# The fields of a line that `more` may not take.
FIELDS = (
    "v n id time kind runtime session project cwd tool input effects outcome layer code reason rule source mode risk "
    "who channel scope timed_out latency_ms prev hash".split()
)
# What hides, disguises or steers a screen; JSON lets it stand as it is.
_UNSAFE = (
    r"[\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    r"\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_second = (-1, "")
_digest: Callable[[bytes], Any] = sha256
_FIXED = attrgetter(
    *"kind runtime session project cwd tool effects outcome layer code reason rule source mode risk".split(),
    *"who channel scope timed_out".split(),
)
_TEXT, _PLAIN = frozenset({str}), frozenset({str, int})
REMEMBERED, REMEMBERED_LENGTH = 256, 4000  # records, characters of one
_known: dict[tuple[object, ...], str] = {}  # what agents say again and again, as it is written. No secret is kept.


class Link(Value):
    """Where a line stands in the chain, as it says itself. `whole` says that its hash fits its bytes."""

    __slots__ = ("n", "prev", "hash", "whole")

    def __init__(self, n: int, prev: str, hash: str, whole: bool) -> None:
        self.n = n
        self.prev = prev
        self.hash = hash
        self.whole = whole


def body(record: Record) -> bytes:
    """What a record says, redacted, as the middle of its line: everything but `v`, `n`, `prev` and `hash`."""
    key = _lasting(record)
    said = _known.get(key) if key is not None else None
    clean = False
    if said is None:
        clean = redact.quiet("\n".join(_texts(record)))
        said = _json(_said(record, clean))
        if clean and key is not None and len(said) <= REMEMBERED_LENGTH:
            keep(_known, key, said, REMEMBERED)
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
    """All of a record but its id, its time and how long it took, which are others each time. None where comparing does
    not tell whether two records say the same, as it does not of `1` and `true`."""
    given = record.input
    if record.more or not _TEXT.issuperset(map(type, given)) or not _PLAIN.issuperset(map(type, given.values())):
        return None
    return (*_FIXED(record), *given.items())


def _said(record: Record, clean: bool) -> dict[str, object]:
    """What a record says of its call. `clean`: nothing in it so much as hints at a secret."""
    fields: dict[str, object] = {"kind": record.kind}
    if record.runtime:
        fields["runtime"] = record.runtime
    if record.session:
        fields["session"] = record.session
    for name in ("project", "cwd", "tool"):
        if given := getattr(record, name):
            fields[name] = given if clean else redact.text(given)
    if record.input:
        fields["input"] = redact.mapping(record.input, clean=clean)
    if record.effects:
        fields["effects"] = redact.value(record.effects, clean=clean)
    for name in ("outcome", "layer", "code"):
        if given := getattr(record, name):
            fields[name] = given
    for name in ("reason", "rule", "source"):
        if given := getattr(record, name):
            fields[name] = given if clean else redact.text(given)
    for name in ("mode", "risk", "who", "channel", "scope"):
        if given := getattr(record, name):
            fields[name] = given
    if record.timed_out:
        fields["timed_out"] = True
    return fields


def _json(fields: dict[str, object]) -> str:
    """Fields as they stand inside a line."""
    return readable(dumps(fields, ascii=False))[1:-1]


def _number(given: float) -> str:
    if given - given != 0:
        raise ValueError("what is not finite is no JSON number")
    return repr(given)


def _texts(record: Record) -> Iterator[str]:
    """All of a record that can hold a secret, to be looked at in one go."""
    yield from (record.project, record.cwd, record.tool, record.reason, record.rule, record.source, *record.effects)
    for each in (record.input, record.more):
        if each:
            yield from redact.texts(each)


def readable(text: str) -> str:
    """JSON that a terminal can show: characters that hide or steer are escaped, all others stand as they are."""
    if text.isascii() and "\x7f" not in text:
        return text
    return re.sub(_UNSAFE, lambda found: _escaped(ord(found[0])), text)


def _escaped(code: int) -> str:
    if 0xD800 <= code < 0xE000:  # half a character is none, and many readers of JSON refuse it
        return f"\\\\u{code:04x}"
    if code > 0xFFFF:
        code -= 0x10000
        return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
    return f"\\u{code:04x}"


def iso(time: float) -> str:
    """A time as ISO 8601 in UTC with milliseconds."""
    global _second
    whole, thousandths = divmod(int(time * 1000 + 0.5), 1000)
    known = _second  # another thread may be in another second
    if known[0] != whole:  # many records are of the same one
        year, month, day, hour, minute, second = gmtime(whole)[:6]
        known = _second = (whole, f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}")
    return f"{known[1]}.{thousandths:03d}Z"


def hasten() -> None:
    """Hash with OpenSSL from now on: faster by two thirds, and worth its loading in a process that stays."""
    global _digest
    from hashlib import sha256

    _digest = sha256


def chained(middle: bytes, n: int, prev: str) -> tuple[bytes, str]:
    """The line of a body at its place, and its hash."""
    before = prev.encode()
    line = b'%b%d,%b,"prev":"%b"' % (BEGINNING, n, middle, before)
    found = _digest(b"%b%b}" % (before, line)).hexdigest()
    return b'%b,"hash":"%b"}\n' % (line, found.encode()), found


def link(line: bytes) -> Link | None:
    """A line's place in the chain; None where the bytes are no line of the trail."""
    found = re.fullmatch(_LINE, line)
    if found is None:
        return None
    n, prev, own = found.groups()
    digest = sha256(prev)
    digest.update(line[:-_HASH_LENGTH])
    digest.update(b"}")
    hexadecimal = own.decode()
    return Link(int(n), prev.decode(), hexadecimal, digest.hexdigest() == hexadecimal)
