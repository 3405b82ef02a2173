"""Server-sent events ⇄ bytes. Knows nothing of what they carry."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assent.contract import Value
from assent.engine.http_message import HttpError


class StreamEvent(Value):
    """One event of a stream."""

    __slots__ = ("data", "name", "id", "retry")

    def __init__(self, data: bytes, name: str = "", id: str = "", retry: int | None = None) -> None:
        self.data = data
        self.name = name
        self.id = id
        self.retry = retry

    def written(self) -> bytes:
        lines = [f"event: {self.name}".encode()] if self.name else []
        if self.id:
            lines.append(f"id: {self.id}".encode())
        if self.retry is not None:
            lines.append(f"retry: {self.retry}".encode())
        lines += [b"data: " + each for each in self.data.split(b"\n")]
        return b"\n".join(lines) + b"\n\n"


class EventReader:
    """Cuts a stream of bytes into events. Raises HttpError past the limit."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._rest: list[bytes] = []  # of a line that has no end yet
        self._returned = False  # the last line ended in a carriage return: a line feed after it is part of that end
        self._clear()

    def _clear(self) -> None:
        self._data: list[bytes] = []
        self._name, self._id = "", ""
        self._retry: int | None = None
        self._size = 0

    def feed(self, data: bytes) -> Iterator[StreamEvent]:
        if self._returned and data:
            data = data.removeprefix(b"\n")
            self._returned = False
        *lines, rest = re.split(rb"\r\n|\n|\r", data)
        if lines:
            self._returned = data.endswith(b"\r")
            lines[0] = b"".join((*self._rest, lines[0]))
            self._rest = []
        self._rest.append(rest)
        for line in lines:
            self._size += len(line)
            self._check(0)
            if line:
                self._field(line)
                continue
            event = StreamEvent(b"\n".join(self._data), self._name, self._id, self._retry)
            spoke = bool(self._data or self._id)
            self._clear()
            if spoke:
                yield event
        self._check(sum(map(len, self._rest)))

    def _check(self, more: int) -> None:
        if self._size + more > self._longest:
            raise HttpError(f"an event is longer than {self._longest} bytes")

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name in (b"data", b"\xef\xbb\xbfdata"):
            self._data.append(value)
        elif name == b"event":
            self._name = _plain(value)
        elif name == b"id":
            self._id = _plain(value)
        elif name == b"retry" and value.isdigit() and len(value) < 9:
            self._retry = int(value)


def _plain(value: bytes) -> str:
    text = value.decode("utf-8", "replace")
    return text if text.isprintable() and len(text) <= 1024 else ""
