"""Calls that are answered at once: with the answers of the usual path, and by the files at the time of the call."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.server.program import Program


def head(path: str, length: int, *lines: str) -> bytes:
    return "\r\n".join((f"POST {path} HTTP/1.1", *lines, f"Content-Length: {length}", "", "")).encode()


def answered(line: socket.socket) -> bytes:
    """One whole answer, as it came."""
    found = b""
    while b"\r\n\r\n" not in found:
        found += line.recv(65536)
    begin = found.index(b"\r\n\r\n") + 4
    length = int(found.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    while len(found) < begin + length:
        found += line.recv(65536)
    return found


def connected(program: Program, *, unix: bool) -> socket.socket:
    line = socket.socket(socket.AF_UNIX if unix else socket.AF_INET)
    line.settimeout(20)
    line.connect(program.socket if unix else ("127.0.0.1", program.port))
    if not unix:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return line


def in_pieces(program: Program, raw: bytes, *cuts: int, unix: bool) -> bytes:
    """The answer to a request that comes in pieces, each after the server had time to take the last."""
    with connected(program, unix=unix) as line:
        for begin, end in zip((0, *cuts), (*cuts, len(raw)), strict=True):
            line.sendall(raw[begin:end])
            threading.Event().wait(0.02)
        return answered(line)


def check(program: Program, **more: object) -> bytes:
    call = {"tool": "bash", "input": {"command": "ls -la src"}, "cwd": str(program.project)}
    return json.dumps({**call, **more}).encode()


def requests(program: Program) -> dict[str, tuple[bytes, bool]]:
    """Requests of every kind to immediate endpoints, and whether over the socket."""
    body = check(program)
    json_type, host = "Content-Type: application/json", f"Host: 127.0.0.1:{program.port}"
    token = f"Authorization: Bearer {program.token}"
    event = json.dumps(
        {
            "session_id": "whole",
            "cwd": str(program.project),
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": "ls"},
        }
    ).encode()

    def tcp(path: str, sent: bytes, *lines: str) -> tuple[bytes, bool]:
        return head(path, len(sent), *lines) + sent, False

    return {
        "over the socket": (head("/v1/check", len(body), "Host: x", json_type) + body, True),
        "as the last one": (head("/v1/check", len(body), "Host: x", json_type, "Connection: close") + body, True),
        "with a token": tcp("/v1/check", body, host, json_type, token),
        "with a token spelled otherwise": tcp("/v1/check", body, host, json_type, token.replace("Bearer ", "bearer  ")),
        "with blanks around": tcp("/v1/check", b" \n" + body + b"\t", host, json_type + "; charset=utf-8", token),
        "an event": tcp("/hook/claude", event, host, json_type, token),
        "an event that is none": tcp("/hook/claude", b'{"session_id":1}', host, json_type, token),
        "without a token": tcp("/v1/check", body, host, json_type),
        "with another token": tcp("/v1/check", body, host, json_type, token + "x"),
        "with two tokens": tcp("/v1/check", body, host, json_type, token, token),
        "with a cookie of nobody": tcp("/v1/check", body, host, json_type, "Cookie: assent_session=x"),
        "under another name": tcp("/v1/check", body, "Host: example.com", json_type, token),
        "from another page": tcp("/v1/check", body, host, json_type, token, "Origin: http://example.com"),
        "from another site": tcp("/v1/check", body, host, json_type, token, "Sec-Fetch-Site: cross-site"),
        "as text": tcp("/v1/check", body, host, "Content-Type: text/plain", token),
        "no JSON": tcp("/v1/check", b'{"tool":NaN}', host, json_type, token),
        "half of it": tcp("/v1/check", body[:-1], host, json_type, token),
        "more behind it": tcp("/v1/check", body + b"{}", host, json_type, token),
        "a list": tcp("/v1/check", b"[]", host, json_type, token),
        "no call": tcp("/v1/check", b"{}", host, json_type, token),
        "nothing": tcp("/v1/check", b"", host, json_type, token),
        "a field of another kind": tcp("/v1/check", check(program, headless="yes"), host, json_type, token),
        "a program without such hooks": tcp("/hook/codex", event, host, json_type, token),
    }


def test_however_a_request_is_cut_the_answer_is_the_same(program: Program) -> None:
    for kind, (raw, unix) in requests(program).items():
        with connected(program, unix=unix) as line:
            line.sendall(raw)
            whole = answered(line)
        begin = raw.index(b"\r\n\r\n") + 4
        cuts = {(begin,), (40,), (len(raw) - 1,), (10, begin + 1)}
        for cut in sorted(cuts):
            if cut[-1] < len(raw):
                assert (kind, in_pieces(program, raw, *cut, unix=unix)) == (kind, whole)


def test_an_http_hook_hears_of_a_fault_as_a_denial(program: Program) -> None:
    """To such a program any status but 200 is leave to run the call."""
    call = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}
    body = json.dumps({"session_id": "half \ud800", "cwd": str(program.project), **call}).encode()
    with connected(program, unix=True) as line:
        line.sendall(head("/hook/claude", len(body), "Host: x", "Content-Type: application/json") + body)
        found, _, said = answered(line).partition(b"\r\n\r\n")
    assert found.startswith(b"HTTP/1.1 200 OK\r\n")
    assert json.loads(said)["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.mark.parametrize(("runtime", "status"), [("claude", b"200 OK"), ("openharness", b"403 Forbidden")])
def test_an_http_hook_hears_of_what_cannot_be_read_as_a_denial(program: Program, runtime: str, status: bytes) -> None:
    """Each in its program's own form, and also where it is still sending."""
    kind, path = "Content-Type: application/json", f"/hook/{runtime}"
    large = b'{"tool_input":{"content":"' + b"x" * 20_000_000 + b'"}}'
    chunked = head(path, 0, "Host: x", kind).replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
    half = head(path, 5, "Host: x", kind) + b'{"a":'
    said = {
        "larger than": head(path, len(large), "Host: x", kind) + large,
        "is larger than": chunked + b"%x\r\n%b\r\n0\r\n\r\n" % (len(large), large),
        "not JSON": half,
        "is not JSON": half.replace(b"/hook", b"/%68ook"),  # the long way
        "send JSON": head(path, 2, "Host: x", "Content-Type: text/plain") + b"{}",
    }
    for words, raw in said.items():
        with connected(program, unix=True) as line:
            line.sendall(raw)
            found = answered(line)
        assert found.startswith(b"HTTP/1.1 " + status)
        assert words.encode() in found


def test_who_may_not_ask_hears_of_no_denial(program: Program) -> None:
    """A page of somebody else learns nothing of what is answered here."""
    for lines, status in (((), b"401"), (("Origin: http://example.com",), b"403")):
        raw = head("/hook/claude", 5, f"Host: 127.0.0.1:{program.port}", "Content-Type: application/json", *lines)
        with connected(program, unix=False) as line:
            line.sendall(raw + b'{"a":')
            assert answered(line).startswith(b"HTTP/1.1 " + status)


def test_one_connection_takes_many_requests_of_all_kinds(program: Program) -> None:
    """Also where some are answered on the spot and some are not."""
    body = check(program)
    small = head("/v1/check", len(body), "Host: x", "Content-Type: application/json") + body
    large = check(program, description="x" * 20_000)
    slow = head("/v1/check", len(large), "Host: x", "Content-Type: application/json") + large
    other = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    with connected(program, unix=True) as line:
        for raw in (small, other, small, slow, slow, small, other, small):
            line.sendall(raw)
            assert answered(line).startswith(b"HTTP/1.1 200 OK\r\n")


def test_a_connection_ends_with_the_answer_to_its_last_request(program: Program) -> None:
    body = check(program)
    with connected(program, unix=True) as line:
        line.sendall(
            head("/v1/check", len(body), "Host: x", "Content-Type: application/json", "Connection: close") + body
        )
        assert b"\r\nconnection: close\r\n" in answered(line)
        assert line.recv(10) == b""


def test_two_requests_at_once_end_the_connection(program: Program) -> None:
    body = check(program)
    raw = head("/v1/check", len(body), "Host: x", "Content-Type: application/json") + body
    with connected(program, unix=True) as line:
        line.sendall(raw + raw)
        with suppress(ConnectionResetError):
            assert line.recv(100) == b""


@contextmanager
def crowd(program: Program, ask: Callable[[], bytes], *, size: int = 7) -> Iterator[None]:
    """Other callers all the time, so that the server sees many requests at once."""
    over = threading.Event()

    def call() -> None:
        body = ask()
        raw = head("/v1/check", len(body), "Host: x", "Content-Type: application/json") + body
        with connected(program, unix=True) as line:
            while not over.is_set():
                line.sendall(raw)
                answered(line)

    callers = [threading.Thread(target=call) for _ in range(size)]
    for each in callers:
        each.start()
    try:
        yield
    finally:
        over.set()
        for each in callers:
            each.join()


def outcome(line: socket.socket, body: bytes) -> str:
    line.sendall(head("/v1/check", len(body), "Host: x", "Content-Type: application/json") + body)
    found = answered(line)
    return str(json.loads(found.partition(b"\r\n\r\n")[2])["outcome"])


def test_a_rule_that_is_there_when_a_call_is_made_holds_for_it_whatever_others_ask(program: Program) -> None:
    config = program.state / "config.toml"
    body = check(program)
    with crowd(program, lambda: body), connected(program, unix=True) as line:
        for _ in range(60):
            config.write_text('deny = ["bash(ls:*)"]\n')
            assert outcome(line, body) == "deny"
            config.unlink()
            assert outcome(line, body) == "allow"


def test_a_mode_that_is_chosen_when_a_call_is_made_holds_for_it(program: Program, tmp_path: Path) -> None:
    """The session's mode is another file, and the same for all calls of a moment."""
    from assent.state import sessions

    body = check(program, session="modes", input={"command": "touch src/new"})
    with crowd(program, lambda: body), connected(program, unix=True) as line:
        for _ in range(30):
            sessions.choose_mode(str(program.state), "modes", "plan")
            assert outcome(line, body) == "deny"
            sessions.choose_mode(str(program.state), "modes", "full_auto")
            assert outcome(line, body) == "allow"


@pytest.mark.parametrize("kind", ["link", "repository"])
def test_what_the_host_is_like_when_a_call_is_made_counts_for_it(program: Program, tmp_path: Path, kind: str) -> None:
    project = tmp_path / "project"
    (project / ".git" / "objects").mkdir(parents=True)
    (project / ".git" / "refs").mkdir()
    (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (project / ".git" / "config").write_text("")
    (project / "inside").write_text("")
    link, config = project / "link", project / ".git" / "config"
    command = "cat link" if kind == "link" else "git status"
    body = json.dumps({"tool": "bash", "input": {"command": command}, "cwd": str(project)}).encode()

    def change(bad: bool) -> None:
        if kind == "link":
            beside = project / "beside"
            beside.symlink_to(Path(program.environ["HOME"]) / ".ssh" / "id_rsa" if bad else project / "inside")
            os.replace(beside, link)
        else:
            config.write_text("[core]\n\tfsmonitor = evil\n" if bad else "")

    with crowd(program, lambda: body), connected(program, unix=True) as line:
        for _ in range(30):
            change(False)
            assert outcome(line, body) == "allow"
            change(True)
            assert outcome(line, body) != "allow"
