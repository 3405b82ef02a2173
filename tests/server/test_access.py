"""Who may do what, tried from outside: every attack is refused, with JSON, and the server stays up."""

from __future__ import annotations

import json
import os
import pty
import select
import socket
import stat
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from assent.server.access import Role
from assent.server.api.openapi import ENDPOINTS
from tests.server.impatient import BRIEF
from tests.server.program import Person, Program

PERSONS = [each for each in ENDPOINTS if each.needs is Role.PERSON]
CALLERS = [each for each in ENDPOINTS if each.needs is Role.CALLER]


def name(endpoint: object) -> str:
    return f"{getattr(endpoint, 'method')} {getattr(endpoint, 'path')}"  # noqa: B009


def body_of(method: str) -> object:
    return {} if method == "POST" else None


@pytest.mark.parametrize("endpoint", PERSONS, ids=name)
def test_what_is_a_persons_needs_a_person(program: Program, endpoint: object) -> None:
    method, path = name(endpoint).split()
    path = path.replace("{id}", "0")
    nobody = program.ask(method, path, body_of(method))
    assert (nobody.status, nobody.error) == (401, "not-allowed")
    token = program.ask(method, path, body_of(method), headers={"Authorization": f"Bearer {program.token}"})
    assert (token.status, token.error) == (403, "not-allowed")
    socket_ = program.ask(method, path, body_of(method), unix=True)
    assert (socket_.status, socket_.error) == (403, "not-allowed")


@pytest.mark.parametrize("endpoint", CALLERS, ids=name)
def test_what_is_a_callers_needs_the_token_on_tcp(program: Program, endpoint: object) -> None:
    method, path = name(endpoint).split()
    for headers in (
        {},
        {"Authorization": "Bearer "},
        {"Authorization": "Bearer wrong"},
        {"Authorization": program.token},
    ):
        found = program.ask(method, path.replace("{id}", "0"), body_of(method), headers=headers)
        assert (found.status, found.error) == (401, "not-allowed")


def test_a_caller_with_the_token_may_check_and_submit(program: Program) -> None:
    headers = {"Authorization": f"Bearer {program.token}"}
    call = {"tool": "bash", "input": {"command": "ls"}, "cwd": str(program.project)}
    assert program.ask("POST", "/v1/check", call, headers=headers).json["outcome"] == "allow"
    assert program.ask("POST", "/v1/calls", call, headers=headers).json["allowed"] is True


def test_a_cookie_alone_or_a_key_alone_is_nobody(program: Program, person: Person) -> None:
    """A browser sends the cookie to every port of this host, where an agent may listen."""
    for missing in person.headers:
        some = {key: value for key, value in person.headers.items() if key != missing}
        assert program.ask("GET", "/v1/held", headers=some).status == 401
    assert program.ask("GET", "/v1/held", headers={**person.headers, "Assent-Key": "x"}).status == 401
    assert person.ask("GET", "/v1/held").status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:3000"},
        {"Origin": "https://127.0.0.1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)
def test_what_a_foreign_page_sends_is_refused_even_with_cookie_and_key(person: Person, headers: dict[str, str]) -> None:
    for method, path in (
        ("GET", "/v1/held"),
        ("POST", "/v1/held/0/answer"),
        ("POST", "/v1/mode"),
        ("GET", "/v1/events"),
    ):
        found = person.ask(method, path, body_of(method), **headers)
        assert (found.status, found.error) == (403, "foreign-origin")


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "", "0.0.0.0:{port}"]
)
def test_a_foreign_host_is_refused(person: Person, host: str) -> None:
    for path in ("/", "/healthz", "/v1/session", "/v1/held", "/page/app.js"):
        found = person.ask("GET", path, Host=host.format(port=person.program.port))
        assert (found.status, found.error) == (421, "foreign-host")


def test_the_names_of_this_host_are_answered_to(program: Program) -> None:
    for host in ("127.0.0.1", "localhost", "LOCALHOST", "[::1]"):
        assert program.ask("GET", "/healthz", headers={"Host": f"{host}:{program.port}"}).json == {"ok": True}


def test_a_code_works_once_and_a_newer_one_voids_it(program: Program) -> None:
    first, second = program.code(), program.code()
    assert program.ask("POST", "/v1/session", {"code": first}).error == "bad-code"
    assert program.ask("POST", "/v1/session", {"code": second}).status == 200
    again = program.ask("POST", "/v1/session", {"code": second})
    assert (again.status, again.error) == (403, "bad-code")
    assert "set-cookie" not in again.headers


def test_guessing_codes_is_slowed_down(tmp_path_factory: pytest.TempPathFactory) -> None:
    program = Program(tmp_path_factory.mktemp("guess"))
    try:
        found = [program.ask("POST", "/v1/session", {"code": f"BBBB-BBB{n}"}).status for n in range(12)]
        assert found[:8] == [403] * 8
        assert set(found[8:]) == {429}
    finally:
        program.stop()


def test_the_cookie_is_for_no_script_no_other_site_and_no_disk(program: Program) -> None:
    found = program.ask("POST", "/v1/session", {"code": program.code()})
    cookie, *flags = found.headers["set-cookie"].split("; ")
    assert len(cookie) > 40
    assert flags == ["HttpOnly", "SameSite=Strict", "Path=/"]


def test_signing_out_ends_the_session(program: Program) -> None:
    person = program.sign_in()
    assert person.ask("DELETE", "/v1/session").status == 200
    assert person.ask("GET", "/v1/held").status == 401


def test_every_answer_has_the_headers_that_keep_a_page_safe(program: Program) -> None:
    for path in ("/", "/page/app.js", "/healthz", "/nothing", "/v1/held"):
        headers = program.ask("GET", path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers
        assert "access-control-allow-origin" not in headers


def test_state_is_closed_to_others(program: Program) -> None:
    assert stat.S_IMODE(program.state.stat().st_mode) == 0o700
    for each in program.state.iterdir():
        if each.name != "config.toml":
            assert stat.S_IMODE(each.stat().st_mode) & 0o077 == 0, each


def test_no_code_cookie_or_key_is_in_any_file(program: Program) -> None:
    code = program.code()
    person = program.sign_in()
    secrets = [code, code.replace("-", ""), person.headers["Assent-Key"], person.headers["Cookie"].partition("=")[2]]
    for each in program.state.rglob("*"):
        if each.is_file():
            raw = each.read_bytes()
            assert not [secret for secret in secrets if secret.encode() in raw], each


def test_a_sign_in_is_recorded_and_ends_with_the_server(tmp_path: Path) -> None:
    program = Program(tmp_path)
    try:
        person = program.sign_in()
        records = [json.loads(each) for each in (program.state / "audit/permissions.jsonl").read_text().splitlines()]
        [record] = [each for each in records if each["kind"] == "event"]
        assert record["reason"].startswith("signed in on the page")
        assert (record["channel"], record["who"]) == ("web", person.ask("GET", "/v1/session").json["who"])
        program.stop()
        program.start()
        assert program.ask("GET", "/v1/held", headers=person.headers).status == 401
    finally:
        program.stop()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every process")
def test_the_servers_memory_is_closed_to_the_user(program: Program) -> None:
    with pytest.raises(PermissionError), open(f"/proc/{program.process.pid}/mem", "rb"):
        pass


def test_the_server_is_not_dumpable(program: Program) -> None:
    """The files of a process that is not dumpable belong to root."""
    assert os.stat(f"/proc/{program.process.pid}/environ").st_uid == 0


# ---------------------------------------------------------------- assent sign-in


def in_terminal(program: Program, environ: dict[str, str], arguments: list[str]) -> str:
    """Run a program in a terminal of its own, and return what it shows."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(arguments[0], arguments, {**program.environ, **environ})
    shown = b""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        ready, _, _ = select.select([terminal], [], [], 1)
        try:
            chunk = os.read(terminal, 65536) if ready else b""
        except OSError:
            break
        if ready and not chunk:
            break
        shown += chunk
    os.waitpid(pid, 0)
    os.close(terminal)
    return shown.decode()


SIGN_IN = [sys.executable, "-m", "assent", "sign-in"]


def test_a_person_in_a_terminal_gets_a_code_from_a_server_in_the_background(program: Program) -> None:
    shown = in_terminal(program, {}, SIGN_IN)
    code = shown.partition("the code  ")[2][:9]
    assert program.ask("POST", "/v1/session", {"code": code}).status == 200


def test_no_code_is_written_to_a_pipe(program: Program) -> None:
    done = subprocess.run(SIGN_IN, env=program.environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "in a terminal only" in done.stderr


def test_an_agent_host_above_gets_no_code(program: Program) -> None:
    script = f"import subprocess; subprocess.run({SIGN_IN!r})"
    named = program.state.parent / "claude"
    named.write_text(f"#!{sys.executable}\n{script}\n")
    named.chmod(0o700)
    shown = in_terminal(program, {}, [sys.executable, str(named)])
    assert "from within an agent (claude)" in shown
    assert "the code  " not in shown


def test_the_mark_of_an_agent_in_the_environment_gets_no_code(program: Program) -> None:
    assert "CLAUDECODE is set" in in_terminal(program, {"CLAUDECODE": "1"}, SIGN_IN)


def test_a_process_without_a_terminal_gets_no_code_over_the_socket(program: Program) -> None:
    script = f"""
import json, socket
s = socket.socket(socket.AF_UNIX); s.connect({program.socket!r})
s.sendall(b"POST /v1/codes HTTP/1.1\\r\\nHost: x\\r\\nContent-Type: application/json\\r\\nContent-Length: 2\\r\\n"
          b"Connection: close\\r\\n\\r\\n{{}}")
print(s.makefile().read())
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, start_new_session=True
    )
    assert " 403 " in done.stdout.splitlines()[0]
    assert json.loads(done.stdout.splitlines()[-1])["error"]["code"] == "no-person"


def test_codes_are_not_given_out_on_tcp(program: Program) -> None:
    found = program.ask("POST", "/v1/codes", {}, headers={"Authorization": f"Bearer {program.token}"})
    assert (found.status, found.error) == (403, "socket-only")


# ---------------------------------------------------------------- garbage


@pytest.mark.parametrize(
    "path",
    [
        "/page/../server.py",
        "/page/..%2fserver.py",
        "/page/%2e%2e/%2e%2e/access.py",
        "/page//etc/passwd",
        "//etc/passwd",
        "/page/css",
        "/page/",
        "/page/app.js%00.html",
        "/v1/held/../session",
    ],
)
def test_no_path_leads_out_of_the_page(program: Program, path: str) -> None:
    found = program.ask("GET", path)
    assert found.status in (400, 404)
    assert b"import" not in found.raw


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b'{"tool": NaN}', b"[" * 100_000, b'{"a":' * 5000]
)
def test_a_body_that_is_no_object_is_refused_in_json(program: Program, raw: bytes) -> None:
    found = program.ask("POST", "/v1/check", raw=raw, unix=True)
    assert found.status in (400, 422)
    assert found.error in ("not-json", "bad-field", "bad-call")


@pytest.mark.parametrize(
    "body",
    [
        {"tool": 1},
        {"tool": ""},
        {"tool": "bash", "input": []},
        {"tool": "bash", "input": {"command": 5}, "cwd": "/"},
        {"tool": "bash", "cwd": "relative"},
        {"tool": "bash", "cwd": "/a\0b"},
        {"tool": "bash", "project": "x" * 5000},
        {"tool": "bash", "headless": "yes"},
        {"tool": "\ud800", "input": {"\ud800": "\udfff"}, "cwd": "/tmp/\ud800"},
        {"tool": "bash", "input": {"command": "\ud800 ls"}, "cwd": "/tmp"},
        {"tool": "bash", "input": {"command": "ls"}, "host_mode": "owned"},
    ],
    ids=lambda body: json.dumps(body)[:60],
)
def test_a_strange_call_is_never_a_fault_and_never_an_allow(program: Program, body: dict[str, object]) -> None:
    for path in ("/v1/check", "/v1/calls"):
        found = program.ask("POST", path, {"wait": 0, **body}, unix=True)
        assert found.status in (200, 202, 422), found.raw
        if found.status == 200:
            assert found.json.get("outcome", "") != "allow"
            assert found.json.get("allowed", False) is False


def test_bodies_must_be_json_by_their_type(program: Program) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        found = program.ask("POST", "/v1/check", raw=b"{}", headers={"Content-Type": kind}, unix=True)
        assert (found.status, found.error) == (415, "not-json")


def test_oversized_bodies_are_refused_whether_or_not_they_say_their_size(program: Program, person: Person) -> None:
    assert person.ask("POST", "/v1/mode", {"session": "x" * 100_000, "mode": ""}).error == "too-large"
    with socket.create_connection(("127.0.0.1", program.port)) as line:
        head = f"POST /v1/check HTTP/1.1\r\nHost: 127.0.0.1:{program.port}\r\nContent-Type: application/json\r\n"
        head += f"Authorization: Bearer {program.token}\r\nTransfer-Encoding: chunked\r\n\r\n"
        line.sendall(head.encode())
        try:
            for _ in range(40):
                line.sendall(b"%x\r\n%b\r\n" % (1 << 18, b" " * (1 << 18)))
            answer = line.recv(65536)
        except (BrokenPipeError, ConnectionResetError):
            answer = line.recv(65536)
        assert b" 413 " in answer.split(b"\r\n")[0]


def test_unknown_paths_and_methods_say_what_is_there(program: Program) -> None:
    assert program.ask("GET", "/nothing").error == "not-found"
    found = program.ask("DELETE", "/healthz")
    assert (found.status, found.error) == (405, "bad-method")
    assert program.ask("BREW", "/").status in (400, 404, 405)


def test_slow_clients_are_let_go_of_and_hold_nobody_up(impatient: Program) -> None:
    lines = [socket.create_connection(("127.0.0.1", impatient.port)) for _ in range(50)]
    try:
        for line in lines:
            line.sendall(b"POST /v1/check HT")
        started = time.monotonic()
        assert impatient.ask("GET", "/healthz").status == 200
        assert time.monotonic() - started < 1
        lines[0].settimeout(20)
        with suppress(ConnectionResetError):
            assert lines[0].recv(100) == b""
        assert BRIEF / 2 < time.monotonic() - started < 5 * BRIEF
    finally:
        for line in lines:
            line.close()


def test_a_slow_second_request_is_let_go_of_too(impatient: Program) -> None:
    with socket.create_connection(("127.0.0.1", impatient.port)) as line:
        line.sendall(f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{impatient.port}\r\n\r\n".encode())
        answer = b""
        while not answer.endswith(b'{"ok":true}'):
            answer += line.recv(4096)
        started = time.monotonic()
        line.sendall(b"GET /heal")
        line.settimeout(25)
        with suppress(ConnectionResetError):
            assert line.recv(100) == b""
        assert BRIEF / 2 < time.monotonic() - started < 5 * BRIEF


def test_a_burst_of_garbage_leaves_the_server_up(program: Program) -> None:
    shapes = [
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET " + b"/" * 70_000 + b" HTTP/1.1\r\n\r\n",
        b"POST /v1/check HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST /v1/check HTTP/1.1\r\nHost: a\r\nHost: b\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
        b"GET /v1/held?%zz=%ff&a HTTP/1.1\r\nHost: x\r\nCookie: " + b"a=b; " * 3000 + b"\r\n\r\n",
        b"GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: assent_session=\xff\xfe\r\n\r\n",
        b"\r\n\r\n\r\n\0\0\0\0",
    ]
    for number in range(10_000):
        with socket.socket() as line, suppress(OSError):
            line.settimeout(5)
            line.connect(("127.0.0.1", program.port))
            line.sendall(shapes[number % len(shapes)])
            if number % 97 == 0:
                line.settimeout(0.05)
                line.recv(100)
    assert program.ask("GET", "/healthz").json == {"ok": True}
    assert program.process.poll() is None
