"""Bytes ⇄ JSON-RPC messages, read strictly and written again from the parsed value. Does no I/O.

Both sides must read a message the same way: a key given twice, or a second spelling of a key that matters, is refused.
Numbers are doubles, as in nearly every JSON parser; integers are kept whatever their size."""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import Enum
from typing import Any

from assent.agents import payload
from assent.contract import PayloadError, Value

LONGEST = 32 * 1024 * 1024  # bytes of a frame
MOST = 1000  # messages in a batch
PARSE, INVALID, NO_METHOD, PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
KEYS = frozenset({"jsonrpc", "id", "method", "params", "result", "error"})
CANCELLED = "notifications/cancelled"

Body = dict[str, Any]
_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


class FrameKind(Enum):
    REQUEST = "request"
    NOTIFICATION = "notification"
    RESPONSE = "response"


class Frame(Value):
    """One message: a request, a notification or a response. Never changed after it was read."""

    __slots__ = ("kind", "body", "key")

    def __init__(self, kind: FrameKind, body: Body) -> None:
        self.kind = kind
        self.body = body
        self.key = key_of(body.get("id"))

    @property
    def method(self) -> str:
        return str(self.body.get("method", ""))

    @property
    def params(self) -> Body:
        """The parameters, if they are an object; else an empty one."""
        found = self.body.get("params")
        return found if isinstance(found, dict) else {}

    @property
    def meta(self) -> Body:
        """The parameter `_meta`, as above."""
        found = self.params.get("_meta")
        return found if isinstance(found, dict) else {}

    @property
    def cancels(self) -> str:
        """The key of the request that this message cancels; `""` if it cancels none."""
        cancels = self.kind is FrameKind.NOTIFICATION and self.method == CANCELLED
        return key_of(self.params.get("requestId")) if cancels else ""


class BadMessage(PayloadError):
    """A message that may not be passed on. `id` is that of the request, if it is certain."""

    def __init__(self, code: int, reason: str, id: object = None) -> None:
        super().__init__(reason)
        self.code = code
        self.id = id

    def answer(self) -> Body:
        return failure(self.id, self.code, f"Assent did not pass this on: {self}")


def failure(id: object, code: int, message: str) -> Body:
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}


def success(id: object, result: object) -> Body:
    return {"jsonrpc": "2.0", "id": id, "result": result}


def key_of(id: object) -> str:
    """A text that distinguishes ids: `1`, `1.0` and `"1"` are three."""
    return json.dumps(id, sort_keys=True)


def write(value: object) -> bytes:
    """A message or a batch as one line of ASCII, without other line ends or lone surrogates."""
    return _encode(value).encode("ascii") + b"\n"


def read(line: bytes | None) -> Frame | list[Frame | BadMessage]:
    """The message of a line, or those of a batch; None is a line that was too long. Raises BadMessage."""
    if line is None or len(line) > LONGEST:
        raise BadMessage(PARSE, f"it is longer than {LONGEST} bytes")
    try:
        found = payload.value(line)
    except PayloadError as error:
        raise BadMessage(PARSE, str(error), only_id(line)) from None
    return _batch(found) if isinstance(found, list) else frame(found)


def read_all(line: bytes | None) -> list[Frame | BadMessage]:
    """All messages of a line, with an error in place of each that cannot be read."""
    try:
        found = read(line)
    except BadMessage as error:
        return [error]
    return found if isinstance(found, list) else [found]


def _batch(found: list[object]) -> list[Frame | BadMessage]:
    if not found or len(found) > MOST:
        raise BadMessage(INVALID, f"a batch has between 1 and {MOST} messages")
    messages: list[Frame | BadMessage] = []
    for each in found:
        try:
            messages.append(frame(each))
        except BadMessage as error:
            messages.append(error)
    return messages


def frame(found: object) -> Frame:
    """A JSON value as a message. Raises BadMessage."""
    if not isinstance(found, dict):
        raise BadMessage(INVALID, "a message is a JSON object")
    id = found.get("id")
    if alike := misspelled(found, KEYS):
        raise BadMessage(INVALID, f"`{alike}` is not how this key is spelled")
    if found.get("jsonrpc") != "2.0":
        raise BadMessage(INVALID, 'a message has `"jsonrpc": "2.0"`', id)
    return Frame(_kind(found, id), found)


def _kind(found: Body, id: object) -> FrameKind:
    if "method" in found:
        if "result" in found or "error" in found:
            raise BadMessage(INVALID, "a message asks or answers, not both")
        text = isinstance(found["method"], str) and found["method"] != ""
        if not text or not isinstance(found.get("params", {}), dict | list):
            raise BadMessage(INVALID, "`params` is an object" if text else "`method` is text", id)
        return FrameKind.REQUEST if "id" in found else FrameKind.NOTIFICATION
    if "id" not in found or ("result" in found) == ("error" in found) or "params" in found:
        raise BadMessage(INVALID, "a message has a `method`, or an `id` with a `result` or an `error`")
    if "error" in found and not isinstance(found["error"], dict):
        raise BadMessage(INVALID, "`error` is an object")
    return FrameKind.RESPONSE


def misspelled(found: Body, known: frozenset[str]) -> str:
    """A key that some parsers would read as a known one: `Name` for `name`. `""` if there is none."""
    return next((key for key in found if key not in known and key.casefold().strip() in known), "")


def only_id(line: bytes) -> object:
    """The id of a message that is refused for another reason. None if it is not given once, as text or integer."""
    try:
        found = json.loads(line, object_pairs_hook=lambda pairs: pairs)
    except (ValueError, RecursionError):
        return None
    pairs = found if isinstance(found, list) else []
    ids = [each[1] for each in pairs if isinstance(each, tuple) and each[0] == "id"]
    return ids[0] if len(ids) == 1 and type(ids[0]) in (int, str) else None


class Lines:
    """Cuts a stream of bytes into lines. One that is too long comes as None, and is not buffered."""

    def __init__(self, longest: int = LONGEST) -> None:
        self._longest = longest
        self._kept: list[bytes] = []
        self._size = 0
        self._over = False

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """The lines completed so far, without blank ones."""
        *whole, rest = data.split(b"\n")
        for each in whole:
            self._keep(each)
            line = None if self._over else b"".join(self._kept).strip(b" \t\r")
            self._kept, self._size, self._over = [], 0, False
            if line is None or line:
                yield line
        self._keep(rest)

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._longest:
            self._kept, self._over = [], True
        elif part:
            self._kept.append(part)
