"""The hook's client of a running server: sends the event, waits while a person is asked, reconnects.

If no server answers, the hook decides by itself. `client.c` does the same, compiled; tests/client/ runs both."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Mapping

from assent.agents.adapter import ATTENDED, Rendered
from assent.contract import StoreError, dumps
from assent.engine import http_message
from assent.facts import host

QUICK = 2.0  # seconds for an answer, or for `held`; a slower server counts as none
QUIET = 40.0  # seconds for an answer about a held call; the server answers well before
ENDED = "the program that asked has ended"
AGAIN = 0.5  # seconds between tries to reach a server that stopped
NUMBER = 9  # digits of a length
NAME = 200  # letters of an id
# Variables that adapters and decisions read.
NAMES = ("HOME", "SHELL", "PATH", ATTENDED)
SECRET = ("TOKEN", "KEY", "SECRET", "PASSWORD")


def ask(path: str, runtime: str, payload: bytes, environ: Mapping[str, str], project: str, until: float) -> Rendered:
    """The server's answer to an event. Raises ConnectionError if no server took the event.

    Once a question is held, nobody else decides the call: without an answer until `until` (by `time.monotonic`), it
    raises StoreError, which blocks."""
    try:
        text = payload.decode()
    except UnicodeDecodeError:
        raise ConnectionError("the event is not UTF-8") from None
    left, known = max(int(until - time.monotonic()), 1), adapter_environment(runtime, environ)
    event: dict[str, object] = {"payload": text, "environ": known, "project": project, "deadline": left}
    held, programs = False, host.above()
    while True:
        try:
            answer = request(path, f"/v1/hooks/{runtime}", event, programs, QUIET if held else QUICK)
        except OSError as error:
            if not held:
                raise ConnectionError(str(error)) from None
            if time.monotonic() + AGAIN >= until:
                raise StoreError("the server went away while the question waited, and did not come back") from None
            time.sleep(AGAIN)
            if host.above() != programs:
                raise StoreError(ENDED) from None
            continue
        try:
            rendered = parsed(answer)
        except ValueError:
            failure = StoreError if held else ConnectionError
            raise failure("the server's answer cannot be read") from None
        if isinstance(rendered, Rendered):
            return rendered
        held = True
        event["held"] = rendered
        if time.monotonic() >= until:
            raise StoreError("nobody answered the question in time")


def adapter_environment(runtime: str, environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that an adapter reads, without secrets: a few names, and those with the program's prefix."""
    prefix = f"{runtime.upper().replace('-', '_')}_"
    return {
        key: value
        for key, value in environ.items()
        if (key in NAMES or key.startswith(prefix)) and not any(word in key for word in SECRET)
    }


def parsed(answer: bytes) -> Rendered | dict[str, str]:
    """`done STATUS LENGTH LENGTH` with both outputs, or `held ID DIGEST`. Raises ValueError if it is neither."""
    line, end, rest = answer.partition(b"\n")
    words = line.split(b" ")
    if words[0] == b"held" and len(words) == 3 and end and not rest:
        id, digest = map(_name, words[1:])
        return {"id": id, "digest": digest}
    if words[0] != b"done" or len(words) != 4 or not end:
        raise ValueError("it is not an answer")
    status, out, err = map(_number, words[1:])
    if status > 255 or len(rest) != out + err:
        raise ValueError("it was cut short")
    return Rendered(rest[:out].decode(), rest[out:].decode(), status)


def _name(word: bytes) -> str:
    if not word.replace(b"-", b"0").isalnum() or len(word) > NAME:
        raise ValueError("it is not a name")
    return word.decode("ascii")


def _number(word: bytes) -> int:
    if not word.isdigit() or len(word) > NUMBER:
        raise ValueError("it is not a number")
    return int(word)


def request(path: str, target: str, body: object, programs: tuple[int, ...], seconds: float) -> bytes:
    """Send one request and return the body of the answer. Raises OSError if that fails, StoreError if the
    `programs` that started this one have ended."""

    def waiting() -> None:
        if host.above() != programs:
            raise StoreError(ENDED)

    ours(path)
    data = dumps(body, spaced=True).encode()
    status, answer = http_message.request(path, "POST", target, data, seconds=seconds, waiting=waiting)
    if status != 200:
        raise ConnectionError("the server did not answer")
    return answer


def ours(path: str) -> None:
    """Raises ConnectionError unless the path is a socket of this user in a folder that nobody else can enter."""
    folder, us = os.lstat(os.path.dirname(path) or "/"), os.geteuid()
    found = os.lstat(path)
    closed = not (folder.st_mode | found.st_mode) & 0o077
    kinds = stat.S_ISDIR(folder.st_mode) and stat.S_ISSOCK(found.st_mode)
    if not (closed and kinds and folder.st_uid == us and found.st_uid in (us, 0) and path.startswith("/")):
        raise ConnectionError("the socket is open to others")
