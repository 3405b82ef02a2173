"""The proxy as an HTTP server of this machine: who is let in, what is passed, what becomes of a held call."""

from __future__ import annotations

import http.client
import http.server
import json
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.pipes import PATIENCE, call, refused
from tests.server.impatient import PATHS
from tests.server.program import Person, Program

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


class Far(http.server.BaseHTTPRequestHandler):
    """A server that writes down what it is sent, and says what it is told to say."""

    reached: list[tuple[str, dict[str, str], bytes]] = []
    says: tuple[int, str, bytes] | None = None

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        given = {key.lower(): value for key, value in self.headers.items()}
        Far.reached.append((self.command, given, body))
        status, kind, answer = Far.says or (200, "application/json", b"")
        if Far.says is None:
            asked = json.loads(body) if body else {}
            many = asked if isinstance(asked, list) else [asked]
            said: Any = [
                {"jsonrpc": "2.0", "id": each.get("id"), "result": {"echo": each.get("params")}} for each in many
            ]
            answer = json.dumps(said if isinstance(asked, list) else said[0]).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Mcp-Session-Id", "abc")
        self.send_header("Set-Cookie", "a=b")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_POST = do_GET = do_DELETE = _serve

    def log_message(self, *_: object) -> None:
        pass


class Front:
    """The proxy before it."""

    def __init__(self, program: Program) -> None:
        self.far = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Far)
        threading.Thread(target=self.far.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{self.far.server_port}/mcp"
        words = [
            sys.executable,
            "-m",
            "tests.server.impatient",
            "mcp-proxy",
            "--name",
            "srv",
            "--home",
            str(program.state),
        ]
        self.process = subprocess.Popen(
            [*words, "--url", url, "--listen", "127.0.0.1:0"],
            stderr=subprocess.PIPE,
            env=program.environ | PATHS,
            cwd=program.project,
        )
        assert self.process.stderr is not None
        found = re.search(rb"http://127\.0\.0\.1:(\d+)/mcp", self.process.stderr.readline())
        assert found is not None
        self.port = int(found[1])

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def ask(
        self, body: object, *, method: str = "POST", path: str = "/mcp", **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        connection = self.connect()
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        given = {"Content-Type": "application/json", **{key.replace("_", "-"): value for key, value in headers.items()}}
        connection.request(method, path, raw if method == "POST" else None, given)
        answer = connection.getresponse()
        found = answer.status, {key.lower(): value for key, value in answer.getheaders()}, answer.read()
        connection.close()
        return found


@pytest.fixture(scope="module")
def running(program: Program) -> Iterator[Front]:
    found = Front(program)
    yield found
    found.process.send_signal(signal.SIGTERM)
    assert found.process.wait(PATIENCE) == 128 + signal.SIGTERM
    found.far.shutdown()


@pytest.fixture
def front(running: Front) -> Front:
    Far.reached, Far.says = [], None
    return running


def test_an_allowed_call_passes_and_comes_back(front: Front) -> None:
    status, headers, body = front.ask(
        call(1, "ok", text="é"), Authorization="Bearer x", Cookie="a=b", MCP_Session_Id="s"
    )
    assert (status, headers["content-type"], headers["mcp-session-id"]) == (200, "application/json", "abc")
    assert json.loads(body)["result"]["echo"] == {"name": "ok", "arguments": {"text": "é"}}
    ((method, sent, raw),) = Far.reached
    assert (method, json.loads(raw)) == ("POST", call(1, "ok", text="é"))
    assert (sent["authorization"], sent["mcp-session-id"]) == ("Bearer x", "s")
    assert "cookie" not in sent
    assert "set-cookie" not in headers


def test_a_denied_call_is_answered_here(front: Front) -> None:
    status, _, body = front.ask(call(1, "no"))
    assert status == 200
    assert "Take another way" in refused(json.loads(body))
    assert Far.reached == []


def test_headers_that_repeat_the_message_are_made_from_it(front: Front) -> None:
    front.ask(call(1, "ok"), Mcp_Method="ping", Mcp_Name="other")
    assert (Far.reached[0][1]["mcp-method"], Far.reached[0][1]["mcp-name"]) == ("tools/call", "ok")


@pytest.mark.parametrize(
    ("header", "passes"),
    [("/a", True), ("=?base64?w6k=?=", True), ("3", True), ("true", True), ("/b", False), ("/A", False), ("", False)],
)
def test_a_header_for_an_argument_says_what_the_call_says(front: Front, header: str, passes: bool) -> None:
    """A server may go by the header, and what was judged is the call."""
    status, _, body = front.ask(call(1, "ok", path="/a", deep={"x": "é", "n": 3.0, "b": True}), Mcp_Param_Path=header)
    if passes:
        assert (status, Far.reached[0][1]["mcp-param-path"]) == (200, header)
    else:
        assert (status, json.loads(body)["id"], Far.reached) == (400, 1, [])


def test_a_header_for_an_argument_goes_with_calls_only(front: Front) -> None:
    front.ask(PING, Mcp_Param_Path="/b")
    front.ask([PING], Mcp_Param_Path="/b")
    assert ["mcp-param-path" in sent for _, sent, _ in Far.reached] == [False, False]


@pytest.mark.parametrize(
    ("headers", "path", "status"),
    [
        ({"Host": "evil.example"}, "/mcp", 421),
        ({"Host": "127.0.0.1:1"}, "/mcp", 421),
        ({"Origin": "http://evil.example"}, "/mcp", 403),
        ({"Origin": "null"}, "/mcp", 403),
        ({"Content-Type": "text/plain"}, "/mcp", 415),
        ({}, "/other", 404),
    ],
)
def test_what_is_not_meant_for_us_is_not_passed(front: Front, headers: dict[str, str], path: str, status: int) -> None:
    assert front.ask(call(1, "ok"), path=path, **headers)[0] == status
    assert Far.reached == []


@pytest.mark.parametrize(
    "raw",
    [
        b"garbage",
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ok","name":"no"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call"}',
        b'{"jsonrpc":"2.0","method":"tools/call","params":{"name":"ok"}}',
        b'[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ok"}}]',
        b"[]",
        b"",
    ],
)
def test_what_is_not_well_formed_is_not_passed(front: Front, raw: bytes) -> None:
    status, _, body = front.ask(raw)
    assert status == 400
    assert "error" in json.loads(body)
    assert Far.reached == []


def test_a_body_in_two_lengths_is_not_passed(front: Front) -> None:
    connection = front.connect()
    connection.putrequest("POST", "/mcp")
    for name, value in (
        ("Content-Type", "application/json"),
        ("Content-Length", "5"),
        ("Transfer-Encoding", "chunked"),
    ):
        connection.putheader(name, value)
    connection.endheaders(b"0\r\n\r\n")
    assert connection.getresponse().status == 400
    assert Far.reached == []


def test_a_batch_without_calls_passes(front: Front) -> None:
    status, _, body = front.ask([PING, {**PING, "id": 2}])
    assert (status, [each["id"] for each in json.loads(body)]) == (200, [1, 2])


@pytest.mark.parametrize("says", [b'{"jsonrpc":"2.0","id":1,"result":{},"result":{"x":1}}', b"hello"])
def test_a_spoiled_answer_is_an_error(front: Front, says: bytes) -> None:
    Far.says = (200, "application/json", says)
    answer = json.loads(front.ask(PING)[2])
    assert answer["id"] == 1
    assert "cannot be passed on" in answer["error"]["message"]


def test_events_are_written_anew_and_spoiled_ones_dropped(front: Front) -> None:
    good = b'{ "jsonrpc":"2.0", "id":1, "result":{} }'
    bad = b'data: {"jsonrpc":"2.0","method":"a","method":"b"}\n\n'
    Far.says = (200, "text/event-stream", b"id: 4\ndata:\n\n" + bad + b"event: message\nid: 5\ndata: " + good + b"\n\n")
    _, headers, body = front.ask(PING, Accept="application/json, text/event-stream")
    assert headers["content-type"] == "text/event-stream"
    assert body == b'id: 4\ndata: \n\nevent: message\nid: 5\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n'


def test_get_and_delete_pass(front: Front) -> None:
    Far.says = (405, "text/plain", b"no")
    for method in ("GET", "DELETE"):
        assert front.ask(b"", method=method, MCP_Session_Id="s")[0] == 405
    assert [(method, sent["mcp-session-id"]) for method, sent, _ in Far.reached] == [("GET", "s"), ("DELETE", "s")]


def test_a_refused_sign_in_is_told_with_its_way(front: Front) -> None:
    Far.says = (401, "text/plain", b"secret page")
    status, _, body = front.ask(PING)
    assert (status, body) == (401, b"")


def test_a_held_call_shows_signs_of_life_and_runs_once_approved(front: Front, person: Person) -> None:
    connection = front.connect()
    raw = json.dumps(call(1, "ask")).encode()
    given = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    connection.request("POST", "/mcp", raw, given)
    question = person.held()[0]
    answer = connection.getresponse()  # comes with the first sign of life
    assert answer.getheader("Content-Type") == "text/event-stream"
    assert Far.reached == []
    assert person.answer(question).status == 200
    body = answer.read().decode()
    assert body.startswith(": a person is asked\n\n")
    assert json.loads(body.split("data: ")[1])["result"]["echo"]["name"] == "ask"
    assert len(Far.reached) == 1


def test_hanging_up_takes_a_held_call_back(front: Front, person: Person, program: Program) -> None:
    connection = front.connect()
    connection.request("POST", "/mcp", json.dumps(call(1, "ask")), {"Content-Type": "application/json"})
    question = person.held()[0]
    connection.close()
    until = time.monotonic() + PATIENCE
    while program.held_now() and time.monotonic() < until:
        time.sleep(0.05)
    assert program.held_now() == 0
    assert person.answer(question).json.get("counted") is not True
    assert Far.reached == []


def test_a_far_server_that_is_gone_is_told(program: Program, tmp_path: Path) -> None:
    front = Front(program)
    front.far.shutdown()
    front.far.server_close()
    status, _, body = front.ask(PING)
    front.process.terminate()
    front.process.wait(10)
    assert status == 502
    assert "cannot be reached" in json.loads(body)["error"]["message"]
