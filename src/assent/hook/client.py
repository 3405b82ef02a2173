"""The hook's way to a running server: hand the event over, wait while a person is asked, come back if the line breaks.

Speaks just enough HTTP over the socket. Decides nothing: where no server answers, the hook decides by itself.
`client/client.c` goes the same way, compiled; tests/client/ holds the two together."""

from __future__ import annotations

import _socket  # what `socket` is made of, without its names for people
import os
import stat
import time
from sys import byteorder

from assent.agents.adapter import ATTENDED, Rendered
from assent.contract.errors import StoreError
from assent.contract.notation import dumps
from assent.facts import host

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

QUICK = 2.0  # seconds for an answer, or for `held`; a server that takes longer is as good as none
QUIET = 40.0  # seconds for an answer to a request about what is held; the server answers well before
LOOK = 2.0  # seconds between looks at the program
ENDED = "the program that asked has ended"
AGAIN = 0.5  # seconds between tries to reach a server that went away
MOST = 16 * 1024 * 1024  # bytes of an answer
MOST_HEAD = 64 * 1024  # bytes before its body
NUMBER = 9  # digits of a length
INT = 4  # bytes of a number of the kernel's
NAME = 200  # letters of an id
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
    left = max(int(until - time.monotonic()), 1)
    event: dict[str, object] = {"payload": text, "environ": told(environ), "project": project, "deadline": left}
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


def told(environ: Mapping[str, str]) -> dict[str, str]:
    """The part of the environment that adapters read, without anything secret."""
    return {
        key: value
        for key, value in environ.items()
        if (key in NAMES or key.startswith(PREFIXES)) and not any(word in key for word in SECRET)
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
    data = dumps(body, spaced=True).encode()
    head = (
        f"POST {target} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(data)}\r\nConnection: close\r\n\r\n"
    )
    ours(path)
    end = time.monotonic() + seconds
    line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        line.settimeout(min(QUICK, seconds))
        line.connect(path)
        owned_by_us(line)
        line.settimeout(_left(end))
        line.sendall(head.encode() + data)
        return _received(line, programs, end)
    finally:
        line.close()


def _left(end: float) -> float:
    """The seconds until then; never 0, which would mean not to wait at all."""
    return max(end - time.monotonic(), 0.01)


def _received(line: _socket.socket, programs: tuple[int, ...], end: float) -> bytes:
    """The body of an answer. Who waits for a person also looks whether the program still waits."""
    came = b""
    begin, length = 0, 0
    while not begin or len(came) - begin < length:
        line.settimeout(min(LOOK, _left(end)))
        try:
            chunk = line.recv(65536)
        except TimeoutError:
            if host.above() != programs:
                raise StoreError(ENDED) from None
            if time.monotonic() >= end:
                raise
            continue
        came += chunk
        if not chunk or len(came) > MOST:
            raise ConnectionError("the server did not answer whole")
        if not begin:
            begin, length = _head(came)
    if len(came) - begin != length:
        raise ConnectionError("the server answered more than it said")
    return came[begin:]


def _head(came: bytes) -> tuple[int, int]:
    """Where the body of an answer begins, and how long it is to be; 0 where its head is not here yet."""
    end = came.find(b"\r\n\r\n")
    if end < 0 and len(came) < MOST_HEAD:
        return 0, 0
    if end >= 0 and came.startswith(b"HTTP/1.1 200 "):
        for line in came[:end].split(b"\r\n"):
            name, _, value = line.partition(b": ")
            if name.lower() == b"content-length":
                if value.isdigit() and len(value) <= NUMBER:
                    return end + 4, int(value)
                break
    raise ConnectionError("the server did not answer")


def ours(path: str) -> None:
    """The socket stands in a folder that nobody else can enter, and is itself what it seems to be."""
    folder, us = os.lstat(os.path.dirname(path) or "/"), os.geteuid()
    found = os.lstat(path)
    closed = not (folder.st_mode | found.st_mode) & 0o077
    kinds = stat.S_ISDIR(folder.st_mode) and stat.S_ISSOCK(found.st_mode)
    if not (closed and kinds and folder.st_uid == us and found.st_uid in (us, 0) and path.startswith("/")):
        raise ConnectionError("the socket is open to others")


def owned_by_us(line: _socket.socket) -> None:
    """Whoever listens is this user, or root: a socket file says nothing of who made it."""
    process_user_group = line.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 3 * INT)
    if int.from_bytes(process_user_group[INT : 2 * INT], byteorder) not in (os.geteuid(), 0):
        raise ConnectionError("somebody else listens on the socket")
