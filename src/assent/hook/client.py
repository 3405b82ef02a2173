"""The hook's way to a running server: hand the event over, wait while a person is asked, come back if the line breaks.

Decides nothing: where no server answers, the hook decides by itself.
`client.c` beside it goes the same way, compiled; tests/client/ holds the two together."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Mapping

from assent.agents.adapter import ATTENDED, Rendered
from assent.contract import StoreError, dumps
from assent.engine import http_message
from assent.facts import host

QUICK = 2.0  # seconds for an answer, or for `held`; a server that takes longer is as good as none
QUIET = 40.0  # seconds for an answer to a request about what is held; the server answers well before
ENDED = "the program that asked has ended"
AGAIN = 0.5  # seconds between tries to reach a server that went away
NUMBER = 9  # digits of a length
NAME = 200  # letters of an id
# What adapters look at in a program's environment.
NAMES = ("HOME", "SHELL", ATTENDED)
SECRET = ("TOKEN", "KEY", "SECRET", "PASSWORD")


def ask(path: str, runtime: str, payload: bytes, environ: Mapping[str, str], project: str, until: float) -> Rendered:
    """The server's answer to an event. Raises ConnectionError where no server took the event.

    Once a question is held, the call does not go another way: without an answer until `until` (in the time of
    `time.monotonic`), it raises StoreError, which blocks."""
    try:
        text = payload.decode()
    except UnicodeDecodeError:
        raise ConnectionError("the event is not UTF-8") from None
    left = max(int(until - time.monotonic()), 1)
    event: dict[str, object] = {
        "payload": text,
        "environ": told(runtime, environ),
        "project": project,
        "deadline": left,
    }
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
            if not held:
                raise ConnectionError("the server's answer cannot be read") from None
            raise StoreError("the server's answer cannot be read") from None
        if isinstance(rendered, Rendered):
            return rendered
        held = True
        event["held"] = rendered
        if time.monotonic() >= until:
            raise StoreError("nobody answered the question in time")


def told(runtime: str, environ: Mapping[str, str]) -> dict[str, str]:
    """The part of the environment that an adapter reads, without anything secret: a few names, and the variables that
    begin with the program's own."""
    prefix = f"{runtime.upper().replace('-', '_')}_"
    return {
        key: value
        for key, value in environ.items()
        if (key in NAMES or key.startswith(prefix)) and not any(word in key for word in SECRET)
    }


def parsed(answer: bytes) -> Rendered | dict[str, str]:
    """`done STATUS LENGTH LENGTH` with both outputs, or `held ID DIGEST`. Raises ValueError where it is neither."""
    line, end, rest = answer.partition(b"\n")
    words = line.split(b" ")
    if words[0] == b"held" and len(words) == 3 and end and not rest:
        id, digest = map(_name, words[1:])
        return {"id": id, "digest": digest}
    if words[0] != b"done" or len(words) != 4 or not end:
        raise ValueError("it is no answer")
    status, out, err = map(_number, words[1:])
    if status > 255 or len(rest) != out + err:
        raise ValueError("it was cut short")
    return Rendered(rest[:out].decode(), rest[out:].decode(), status)


def _name(word: bytes) -> str:
    if not word.replace(b"-", b"0").isalnum() or len(word) > NAME:
        raise ValueError("it is no name")
    return word.decode("ascii")


def _number(word: bytes) -> int:
    if not word.isdigit() or len(word) > NUMBER:
        raise ValueError("it is no number")
    return int(word)


def request(path: str, target: str, body: object, programs: tuple[int, ...], seconds: float) -> bytes:
    """One request over the socket, for so many seconds; the body of the answer. Raises OSError where it fails,
    StoreError where nobody waits for it any more: `programs` are those above this one that did."""

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
    """The socket stands in a folder that nobody else can enter, and is itself what it seems to be."""
    folder, us = os.lstat(os.path.dirname(path) or "/"), os.geteuid()
    found = os.lstat(path)
    closed = not (folder.st_mode | found.st_mode) & 0o077
    kinds = stat.S_ISDIR(folder.st_mode) and stat.S_ISSOCK(found.st_mode)
    if not (closed and kinds and folder.st_uid == us and found.st_uid in (us, 0) and path.startswith("/")):
        raise ConnectionError("the socket is open to others")
