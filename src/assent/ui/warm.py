"""The hook's way to a running server: hand the event over, wait while a person is asked, come back if the line breaks.

Speaks just enough HTTP over the socket. Decides nothing: where no server answers, the hook decides by itself."""

from __future__ import annotations

import json
import os
import socket
import struct
import time

from assent.adapters.adapter import ATTENDED, Rendered
from assent.contract.errors import StoreError
from assent.facts import host

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CONNECT = 2.0  # seconds to be let in
QUIET = 40.0  # seconds for an answer to one request; the server answers or says `held` well before
LOOK = 2.0  # seconds between looks at the program
AGAIN = 0.5  # seconds between tries to reach a server that went away
# What adapters look at in a program's environment.
NAMES = ("HOME", "SHELL", ATTENDED)
PREFIXES = ("CLAUDE_", "CODEX_", "GEMINI_", "QWEN_", "OPENCODE_", "COPILOT_", "CURSOR_", "CLINE_", "OPENHARNESS_")
SECRET = ("TOKEN", "KEY", "SECRET", "PASSWORD")


def ask(path: str, runtime: str, payload: bytes, environ: Mapping[str, str], project: str, until: float) -> Rendered:
    """The server's answer to an event. Raises ConnectionError where no server took the event.

    Once a question is held, the call does not go another way: without an answer until `until` (in the time of
    `time.monotonic`), it raises StoreError, which blocks."""
    try:
        text = payload.decode()
    except UnicodeDecodeError:
        raise ConnectionError("the event is not UTF-8") from None
    event: dict[str, object] = {"payload": text, "environ": told(environ), "project": project}
    held = False
    while True:
        try:
            answer = request(path, f"/v1/hooks/{runtime}", event)
        except OSError as error:
            if not held:
                raise ConnectionError(str(error)) from None
            if time.monotonic() + AGAIN >= until:
                raise StoreError("the server went away while the question waited, and did not come back") from None
            time.sleep(AGAIN)
            continue
        rendered = parsed(answer)
        if isinstance(rendered, Rendered):
            return rendered
        held = True
        event["held"] = rendered
        if time.monotonic() >= until:
            raise StoreError("nobody answered the question in time")


def told(environ: Mapping[str, str]) -> dict[str, str]:
    """The part of the environment that adapters read, without anything secret."""
    return {
        key: value
        for key, value in environ.items()
        if (key in NAMES or key.startswith(PREFIXES)) and not any(word in key for word in SECRET)
    }


def parsed(answer: bytes) -> Rendered | dict[str, str]:
    """`done STATUS LENGTH LENGTH` with both outputs, or `held ID DIGEST`."""
    line, _, rest = answer.partition(b"\n")
    words = line.decode("ascii", "replace").split(" ")
    if words[0] == "held" and len(words) == 3:
        return {"id": words[1], "digest": words[2]}
    if words[0] != "done" or len(words) != 4 or not all(word.isdigit() for word in words[1:]):
        raise StoreError("the server's answer cannot be read")
    status, out, err = map(int, words[1:])
    if len(rest) != out + err:
        raise StoreError("the server's answer was cut short")
    return Rendered(rest[:out].decode(), rest[out:].decode(), status)


def request(path: str, target: str, body: object) -> bytes:
    """One request over the socket; the body of the answer. Raises OSError where it fails."""
    data = json.dumps(body).encode()
    head = (
        f"POST {target} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(data)}\r\nConnection: close\r\n\r\n"
    )
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.settimeout(CONNECT)
        line.connect(path)
        owned_by_us(line)
        line.settimeout(QUIET)
        line.sendall(head.encode() + data)
        chunks = list(_received(line))
    top, gap, rest = b"".join(chunks).partition(b"\r\n\r\n")
    if not gap or not top.startswith(b"HTTP/1.1 200 ") or _length(top) != len(rest):
        raise ConnectionError("the server did not answer whole")
    return rest


def _received(line: socket.socket) -> Iterator[bytes]:
    """What comes, until the other side is done. Who waits for a person also looks whether the program still waits."""
    quiet, programs = time.monotonic() + QUIET, host.above()
    line.settimeout(LOOK)
    while True:
        try:
            chunk = line.recv(65536)
        except TimeoutError:
            if host.above() != programs:
                raise StoreError("the program that asked has ended") from None
            if time.monotonic() >= quiet:
                raise
            continue
        if not chunk:
            return
        yield chunk


def _length(top: bytes) -> int:
    for line in top.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length" and value.strip().isdigit():
            return int(value)
    return -1


def owned_by_us(line: socket.socket) -> None:
    """Whoever listens is this user, or root: a socket file says nothing of who made it."""
    raw = line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    if struct.unpack("3i", raw)[1] not in (os.geteuid(), 0):
        raise ConnectionError("somebody else listens on the socket")
