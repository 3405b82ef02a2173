"""HTTP/1.1 messages ⇄ bytes: heads read strictly and written. Does no I/O, and loads nothing that a hook does not need.

Strict where two readers could differ: a header given twice, a folded header, a bare line end."""

from __future__ import annotations

from collections.abc import Mapping

from assent.contract import Value

MOST_HEAD = 64 * 1024  # bytes of a head
LENGTH_DIGITS = 9
TOKEN = b"!#$%&'*+.^_`|~-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
CONTROLS = bytes((*range(9), *range(10, 32), 127))
ONCE = ("content-length", "transfer-encoding", "host", "origin", "content-type", "mcp-session-id", "authorization")


class HttpError(ConnectionError):
    """What came is not HTTP as we read it."""


class MessageHead(Value):
    """The first line and the headers of a request or a response; names of headers in lower case."""

    __slots__ = ("first", "headers")

    def __init__(self, first: str, headers: dict[str, str]) -> None:
        self.first = first
        self.headers = headers

    @property
    def status(self) -> int:
        version, _, rest = self.first.partition(" ")
        code = rest.partition(" ")[0]
        numeric = len(code) == 3 and code.isascii() and code.isdigit() and "1" <= code[0] <= "5"
        if version not in ("HTTP/1.0", "HTTP/1.1") or not numeric or "\n" in self.first:
            raise HttpError("this is no HTTP response")
        return int(code)

    @property
    def length(self) -> int | None:
        """The length of the body, None where the head gives none."""
        given = self.headers.get("content-length")
        if given is None:
            return None
        if not given.isascii() or not given.isdigit() or len(given) > LENGTH_DIGITS:
            raise HttpError("the length of the body is no number")
        return int(given)

    @property
    def kind(self) -> str:
        """The media type of the body."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


def parse_head(raw: bytes) -> MessageHead:
    """The head in these bytes, which do not have the empty line that ends it. Raises HttpError."""
    first, *lines = raw.split(b"\r\n")
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(b":")
        if not name or not colon or name.translate(None, TOKEN) or _has_controls(value):
            raise HttpError("a header cannot be read")
        key, text = name.decode("ascii").lower(), value.decode("latin-1").strip()
        if key in headers:
            if key in ONCE:
                raise HttpError(f"the header `{key}` is given twice")
            text = f"{headers[key]}, {text}"
        headers[key] = text
    return MessageHead(first.decode("latin-1"), headers)


def written(first: str, headers: Mapping[str, str]) -> bytes:
    """A head as bytes. A value that would break it is refused."""
    lines = [line.encode("latin-1") for line in (first, *(f"{name}: {value}" for name, value in headers.items()))]
    if any(map(_has_controls, lines)):
        raise HttpError("a header holds a control character")
    return b"\r\n".join([*lines, b"", b""])


def _has_controls(text: bytes) -> bool:
    return len(text.translate(None, CONTROLS)) != len(text)
