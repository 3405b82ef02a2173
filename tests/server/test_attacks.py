"""Attacks on the server itself, from outside: what exhausts it, what poses as somebody, what hides from a person."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from assent.server.access import TRIES
from assent.server.protocol import MOST_TCP
from tests.server.impatient import BRIEF
from tests.server.program import Person, Program

ROOT = os.geteuid() == 0


def resident(program: Program) -> int:
    """Megabytes of memory that the server has."""
    lines = Path(f"/proc/{program.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmRSS"))


def flood(program: Program, begin: bytes, block: bytes, most: int) -> int:
    """Send a beginning and then blocks without an end; how many bytes were taken before the line was cut."""
    sent = 0
    with socket.create_connection(("127.0.0.1", program.port)) as line:
        line.settimeout(10)
        with suppress(OSError):
            line.sendall(begin)
            while sent < most:
                line.sendall(block)
                sent += len(block)
    return sent


@pytest.mark.parametrize(
    ("begin", "block"),
    [
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\n", b"".join(b"X-%d: %b\r\n" % (n, b"a" * 8000) for n in range(50))),
        (b"GET /", b"a" * 400_000),
        (b"GET / HTTP/1.1\r\nX: ", b"a" * 400_000),
    ],
    ids=["headers", "address", "one header"],
)
def test_a_head_without_an_end_is_cut_off_and_kept_nowhere(program: Program, begin: bytes, block: bytes) -> None:
    before = resident(program)
    assert flood(program, begin, block, 200_000_000) < 50_000_000
    assert resident(program) < before + 50
    assert program.ask("GET", "/healthz").json == {"ok": True}


def test_what_stands_behind_a_body_is_no_header(program: Program, person: Person) -> None:
    """Nobody becomes a person by the trailers of a body."""
    secrets = "".join(f"{name}: {value}\r\n" for name, value in person.headers.items())
    head = f"POST /v1/audit/verify HTTP/1.1\r\nHost: 127.0.0.1:{program.port}\r\nContent-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", program.port)) as line:
        line.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n{secrets}\r\n".encode())
        assert line.recv(4096).startswith(b"HTTP/1.1 401 ")


def test_callers_that_send_too_much_or_take_no_answer_are_let_go_of(impatient: Program) -> None:
    """A caller that sends more before its answer and hangs up is gone all the same: its question does not go on. And
    what nobody takes is not kept for ever."""
    program, person = impatient, impatient.sign_in()
    call = {"tool": "bash", "input": {"command": "make piped"}, "cwd": str(program.project), "session": "piped"}
    body = json.dumps({**call, "wait": 300}).encode()
    head = b"POST /v1/calls HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(program.socket)
        line.sendall(head % len(body) + body)
        question = person.held_in("piped")
        line.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        line.settimeout(10)
        with suppress(ConnectionResetError):
            assert line.recv(100) == b""
    long = {"tool": "mcp__x__y", "input": {"x": "y" * 190_000}, "cwd": str(program.project), "session": "long"}
    for _ in range(4):
        assert program.ask("POST", "/v1/calls", {**long, "wait": 0}, unix=True).status == 202
    secrets = "".join(f"{name}: {value}\r\n" for name, value in person.headers.items())
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(program.socket)
        line.sendall(f"GET /v1/held HTTP/1.1\r\nHost: x\r\n{secrets}\r\n".encode())
        time.sleep(BRIEF * 2)
        line.settimeout(5)
        taken = 0
        with suppress(ConnectionResetError):
            while chunk := line.recv(1 << 20):
                taken += len(chunk)
        assert 0 < taken < 4 * 190_000, "what nobody took was let go of"
    assert question["id"] not in [each["id"] for each in person.ask("GET", "/v1/held").json["held"]]


def test_whoever_fills_the_port_does_not_fill_the_socket(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Anybody on the machine can connect to a port; the agents' hooks go over the socket."""
    program = Program(tmp_path_factory.mktemp("full"))
    lines: list[socket.socket] = []
    try:
        for _ in range(MOST_TCP + 200):
            lines.append(socket.create_connection(("127.0.0.1", program.port)))
        call = {"tool": "bash", "input": {"command": "ls"}, "cwd": str(program.project)}
        assert program.ask("POST", "/v1/check", call, unix=True).json["outcome"] == "allow"
        for line in lines:
            line.close()
        until = time.monotonic() + 10
        while time.monotonic() < until:
            with suppress(OSError, http.client.HTTPException):
                assert program.ask("GET", "/healthz").json == {"ok": True}
                return
            time.sleep(0.1)
        raise AssertionError("the port does not come back")
    finally:
        for line in lines:
            line.close()
        program.stop()


def test_connections_that_say_nothing_keep_no_page_out(tmp_path: Path) -> None:
    program = Program(tmp_path)
    lines: list[socket.socket] = []
    try:
        person = program.sign_in()
        stream = http.client.HTTPConnection("127.0.0.1", program.port, timeout=20)
        stream.request("GET", "/v1/events", headers=person.headers)
        told = stream.getresponse()
        assert told.readline() == b"event: hello\n"
        for number in range(MOST_TCP + 100):
            lines.append(socket.create_connection(("127.0.0.1", program.port)))
            if number % 2:
                lines[-1].sendall(b"POST /v1/session HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Le")
        for _ in range(20):
            assert program.ask("GET", "/healthz").json == {"ok": True}
        waiting = program.calling("make crowded", session="crowded")
        assert person.answer(person.held_in("crowded")).json["allowed"] is True
        assert waiting.result(30).json["allowed"] is True
        assert b"data: " in told.readline()  # the stream goes on
        stream.close()
    finally:
        for line in lines:
            line.close()
        program.stop()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_another_users_wrong_codes_lock_nobody_out(tmp_path: Path) -> None:
    program = Program(tmp_path)
    script = f"""
import encodings.idna, http.client, os
os.setgid(65534); os.setuid(65534)
found = []
for _ in range(30):
    line = http.client.HTTPConnection("127.0.0.1", {program.port})
    line.request("POST", "/v1/session", '{{"code": "BBBB-BBBB"}}', {{"Content-Type": "application/json"}})
    found.append(line.getresponse().status)
print(found.count(403), found.count(429))
"""
    try:
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
        assert done.stdout == f"{TRIES} {30 - TRIES}\n", done.stderr
        program.sign_in()
        own = [program.ask("POST", "/v1/session", {"code": "BBBB-BBBB"}).status for _ in range(TRIES + 1)]
        assert own == [403] * TRIES + [429]
    finally:
        program.stop()


def test_long_calls_hold_no_person_up(program: Program, person: Person) -> None:
    """However many calls take their time, a person sees and answers."""
    held = program.calling("make busy", session="busy")
    question = person.held_in("busy")
    heavy = {"tool": "bash", "input": {"command": "find . -exec " * 3000}, "cwd": str(program.project)}
    checks = [program.pool.submit(lambda: program.ask("POST", "/v1/check", heavy, unix=True)) for _ in range(24)]
    started = time.monotonic()
    assert person.answer(question).json["counted"]
    assert time.monotonic() - started < 5
    assert held.result(10).json["allowed"] is True
    assert not all(each.done() for each in checks), "they took no time, and this shows nothing"
    assert {each.result(60).status for each in checks} == {200}


def test_a_server_ends_though_its_terminal_takes_nothing_and_calls_are_still_decided(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    program = Program(tmp_path_factory.mktemp("ends"))
    heavy = {"tool": "bash", "input": {"command": "find . -exec " * 3000}, "cwd": str(program.project)}
    for _ in range(1500):  # each is said in the terminal, which nobody reads
        program.ask("POST", "/v1/codes", {}, unix=True)
    calls = [program.pool.submit(lambda: program.ask("POST", "/v1/calls", heavy, unix=True)) for _ in range(30)]
    time.sleep(0.5)
    program.process.terminate()
    assert program.process.wait(25) == 0
    program.stop()
    for each in calls:
        with suppress(OSError, http.client.HTTPException):
            assert each.result(30).json.get("allowed", False) is False


def test_a_stream_that_carries_nothing_shows_nothing(program: Program, person: Person) -> None:
    """HEAD has no body: whoever sends it sees no question."""
    found = person.ask("HEAD", "/v1/events")
    assert found.status == 405
    assert person.ask("GET", "/v1/status").json["streams"] == 0


# ---------------------------------------------------------------- posing as somebody


@pytest.mark.skipif(not ROOT, reason="only root can be somebody else")
@pytest.mark.parametrize("mode", [0o600, 0o777], ids=oct)
def test_another_user_is_not_heard_on_the_socket_whatever_its_permissions(
    tmp_path_factory: pytest.TempPathFactory, mode: int
) -> None:
    folder = tmp_path_factory.mktemp("other")
    program = Program(folder)
    script = f"""
import os, socket, sys
os.setgid(65534); os.setuid(65534)
line = socket.socket(socket.AF_UNIX)
try:
    line.connect({program.socket!r})
    line.sendall(b"GET /v1/status HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
    print(line.recv(100))
except OSError as error:
    print(type(error).__name__)
"""
    try:
        os.chmod(program.socket, mode)
        if mode == 0o777:
            for each in (Path(program.socket).parent, *Path(program.socket).parents):
                if each.is_relative_to(folder.parent.parent):
                    os.chmod(each, 0o755)
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        assert done.stdout.strip() in ("PermissionError", "b''", "ConnectionResetError", "BrokenPipeError")
    finally:
        program.stop()


def test_counters_are_for_persons_and_for_the_token_of_collectors(program: Program, person: Person) -> None:
    def ask(**headers: str) -> int:
        return program.ask("GET", "/metrics", headers=headers).status

    scrape = (program.state / "metrics.token").read_text()
    assert program.ask("GET", "/metrics", unix=True).status == 403
    assert ask() == 401
    assert ask(Authorization=f"Bearer {program.token}") == 403
    assert ask(Authorization="Bearer ") == 401
    assert ask(Authorization=f"Bearer {scrape}") == 200
    assert person.ask("GET", "/metrics").status == 200
    for path in ("/v1/held", "/v1/status", "/v1/audit"):
        assert program.ask("GET", path, headers={"Authorization": f"Bearer {scrape}"}).status == 401


def test_callers_do_not_learn_who_watches(program: Program, person: Person) -> None:
    told = set(program.ask("GET", "/v1/status", unix=True).json)
    assert told == {"version", "pid", "address", "socket", "mode", "problem", "held", "uptime", "elsewhere"}
    assert set(person.ask("GET", "/v1/status").json) - told == {"streams", "signed_in"}


def test_a_wrong_code_is_said_in_the_terminal(program: Program) -> None:
    program.code()
    assert program.ask("POST", "/v1/session", {"code": "BBBB-BBBB"}).status == 403
    program.expect(re.compile("a wrong code was typed"))


def test_what_poses_as_a_worker_of_the_page_is_ended(program: Program) -> None:
    """Something else that had this port may have left a service worker, which would be before our page."""
    for path in ("/sw.js", "/", "/page/app.js", "/deep/er.js"):
        found = program.ask("GET", path, headers={"Service-Worker": "script"})
        assert (found.status, found.headers["content-type"]) == (200, "text/javascript; charset=utf-8")
        assert b"unregister" in found.raw


@pytest.mark.parametrize("name", ["caller.token", "metrics.token", "server.lock", "server.sock"])
def test_a_link_in_the_place_of_a_file_is_not_followed(tmp_path: Path, name: str) -> None:
    state, elsewhere = tmp_path / "state", tmp_path / "elsewhere"
    state.mkdir(mode=0o700)
    elsewhere.write_text("x" * 64)
    elsewhere.chmod(0o600)
    (state / name).symlink_to(elsewhere)
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "ASSENT_HOME": str(state)}
    command = [sys.executable, "-m", "assent", "serve", "--port", "0"]
    done = subprocess.run(command, env=environ, cwd=tmp_path, capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 2
    assert name in done.stderr
    assert elsewhere.read_text() == "x" * 64


# ---------------------------------------------------------------- hiding from a person


def test_no_value_of_an_input_is_hidden_or_changed_on_its_way_to_a_person(program: Program, person: Person) -> None:
    big = 2**53 + 1
    given = {"note\u200b": "first", "note\\u{200b}": "second", "amount": big, "many": [-big, 7]}
    body = {"tool": "mcp__bank__pay", "input": given, "cwd": str(program.project), "session": "pay", "wait": 0}
    program.ask("POST", "/v1/calls", body, unix=True)
    assert person.held_in("pay")["call"]["input"] == {
        "note\\u{200b}": "first",
        "note\\u{200b} (2)": "second",
        "amount": str(big),
        "many": [str(-big), 7],
    }


def test_a_call_with_very_many_effects_is_shown_with_some_and_the_count_of_the_rest(
    program: Program, person: Person
) -> None:
    patch = "".join(f"*** Update File: a{number}\n@@\n-a\n+b\n" for number in range(1000))
    given = {"input": f"*** Begin Patch\n{patch}*** End Patch\n"}
    body = {"tool": "apply_patch", "input": given, "cwd": str(program.project), "session": "wide", "wait": 0}
    assert program.ask("POST", "/v1/calls", body, unix=True).status == 202
    question = person.held_in("wide")
    assert "more" in question["effects"][-1]
    assert (len(question["decision"]["parts"]), question["decision"]["left"]) == (300, 700)


@pytest.mark.parametrize("inner", ["1e999", "-1e999", "[" * 300 + "]" * 300, "[" * 900 + "]" * 900])
def test_no_input_keeps_a_person_from_seeing_the_others(program: Program, person: Person, inner: str) -> None:
    call = {"tool": "mcp__x__y", "input": {"x": "@"}, "cwd": str(program.project), "session": "odd", "wait": 0}
    found = program.ask("POST", "/v1/calls", raw=json.dumps(call).replace('"@"', inner).encode(), unix=True)
    assert found.status in (200, 202, 400)
    waiting = program.calling("make seen", session="seen")
    question = person.held_in("seen")
    assert b"Infinity" not in person.ask("GET", "/v1/held").raw
    person.answer(question)
    assert waiting.result(20).json["allowed"] is True
