"""One line of the trail: its bytes, its place in the chain, and reading that back. Touches no files.

A line is `{"v":1,"n":N,…,"prev":"HASH","hash":"HASH"}` and a newline. The hash is SHA-256 over the previous hash and
the line's bytes without its own hash: `{"v":1,"n":N,…,"prev":"HASH"}`."""

from __future__ import annotations

from time import gmtime

from assent.contract.notation import dumps
from assent.contract.pattern import re
from assent.contract.sha import sha256
from assent.contract.value import Value
from assent.trail import redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from assent.contract.record import Record

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
    fields: dict[str, object] = {"id": record.id, "time": iso(record.time), "kind": record.kind}
    clean = redact.quiet("\n".join(_texts(record)))
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
    if record.latency:
        fields["latency_ms"] = round(record.latency * 1000, 3)
    if record.more:
        for name, each in redact.mapping(record.more, clean=clean).items():
            fields[f"{name}_" if name in FIELDS else name] = each
    return readable(dumps(fields, ascii=False))[1:-1].encode()


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
    if _second[0] != whole:  # many records are of the same second
        year, month, day, hour, minute, second = gmtime(whole)[:6]
        _second = (whole, f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}")
    return f"{_second[1]}.{thousandths:03d}Z"


def chained(middle: bytes, n: int, prev: str) -> tuple[bytes, str]:
    """The line of a body at its place, and its hash."""
    line = b'%b%d,%b,"prev":"%b"' % (BEGINNING, n, middle, prev.encode())
    found = sha256(prev.encode() + line + b"}").hexdigest()
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
