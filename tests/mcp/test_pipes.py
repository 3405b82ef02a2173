"""The proxy before a server on pipes, without a gate server: what passes, what is refused, how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.pipes import PATIENCE, Pipes, call, environ, is_gone, refused, state

Start = Callable[..., Pipes]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    state(tmp_path)
    started: list[Pipes] = []

    def make(how: str = "plain", **more: Any) -> Pipes:
        started.append(Pipes(tmp_path, how, **more))
        return started[-1]

    yield make
    for each in started:
        if each.process.poll() is None:
            each.process.kill()
        each.process.wait(10)


def test_an_allowed_call_passes_as_it_is(start: Start) -> None:
    proxy = start()
    message = call(1, "ok", text="é\u2028😀\n", number=1.5, big=2**70, deep=[{"a": None}, True])
    message["params"]["_meta"] = {"progressToken": "p"}
    answer = proxy.ask(message)
    assert proxy.came() == [message]
    assert answer == {"jsonrpc": "2.0", "id": 1, "result": {"content": [], "echo": message["params"]}}


def test_a_denied_call_does_not_reach_the_server_and_the_model_reads_why(start: Start) -> None:
    proxy = start()
    words = refused(proxy.ask(call("a", "no")))
    assert "was not run" in words
    assert "Take another way" in words
    assert proxy.came() == []


def test_what_would_ask_is_refused_where_nobody_can_be_asked(start: Start) -> None:
    proxy = start()
    assert "[headless.ask]" in refused(proxy.ask(call(1, "other")))
    assert proxy.came() == []


def test_a_call_that_runs_as_a_task_is_refused_by_an_error(start: Start) -> None:
    proxy = start()
    message = call(1, "no")
    message["params"]["task"] = {"ttl": 1}
    assert "was not run" in proxy.ask(message)["error"]["message"]


def test_every_decision_is_in_the_trail(start: Start, tmp_path: Path) -> None:
    proxy = start(options=("--session", "s-1"))
    for tool in ("ok", "no", "other"):
        proxy.ask(call(tool, tool))
    lines = (tmp_path / "state/audit/permissions.jsonl").read_text().splitlines()
    found = [(each["tool"], each["outcome"], each["session"], each["runtime"]) for each in map(json.loads, lines)]
    assert found == [
        ("mcp__srv__ok", "allow", "s-1", "mcp"),
        ("mcp__srv__no", "deny", "s-1", "mcp"),
        ("mcp__srv__other", "deny", "s-1", "mcp"),
    ]


def test_a_broken_policy_refuses_every_call_and_a_mended_one_counts_at_once(start: Start, tmp_path: Path) -> None:
    proxy = start()
    proxy.child()
    state(tmp_path, "allow = [")
    assert "[policy.load]" in refused(proxy.ask(call(1)))
    assert proxy.came() == []
    state(tmp_path)
    assert "result" in proxy.ask(call(2))
    assert len(proxy.came()) == 1


def test_where_the_policy_does_not_load_no_server_is_started(start: Start, tmp_path: Path) -> None:
    """Nobody knows whether it is to run contained."""
    state(tmp_path, "allow = [")
    proxy = start()
    assert (proxy.get(), proxy.process.wait(PATIENCE)) == (None, 126)
    assert b"the server is not started" in proxy.noise


def test_a_trail_that_cannot_be_written_refuses(start: Start, tmp_path: Path) -> None:
    (tmp_path / "state/audit").write_text("in the way")
    proxy = start()
    assert "[trail.unwritable]" in refused(proxy.ask(call(1)))
    assert proxy.came() == []


def test_the_environment_cannot_loosen_the_mode(start: Start) -> None:
    proxy = start(ASSENT_MODE="full_auto")
    refused(proxy.ask(call(1, "other")))
    assert proxy.came() == []


def test_the_environment_can_tighten_the_mode(start: Start) -> None:
    proxy = start(ASSENT_MODE="plan")
    refused(proxy.ask(call(1, "ok")))
    assert proxy.came() == []


SPOILED = {
    "a key twice": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ok","name":"no","arguments":{}}}',
    "a key twice in other letters": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","m\\u0065thod":"ping","params":{}}',
    "a key twice in the arguments": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ok",'
    b'"arguments":{"a":1,"a":2}}}',
    "a key in capitals": b'{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call","params":{"name":"no"}}',
    "a parameter in capitals": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ok","Name":"no"}}',
    "a parameter with a long s": '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ok",'
    '"argument\u017f":{}}}'.encode(),
    "a method in capitals": b'{"jsonrpc":"2.0","id":1,"method":"Tools/Call","params":{"name":"ok"}}',
    "a method with a blank": b'{"jsonrpc":"2.0","id":1,"method":"tools/call ","params":{"name":"ok"}}',
    "a question and an answer": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","result":{},"params":{"name":"ok"}}',
    "no version": b'{"id":1,"method":"tools/call","params":{"name":"ok","arguments":{}}}',
    "garbage": b"\x00\xff\xfe rm -rf /",
    "half of it": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ok"',
    "two in a line": b'{"jsonrpc":"2.0","id":1,"method":"ping"} {"jsonrpc":"2.0","id":2,"method":"tools/call"}',
    "not a number": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ok","arguments":{"a":NaN}}}',
    "infinity": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ok","arguments":{"a":1e999}}}',
    "too deep": b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":' + b"[" * 100000 + b"]" * 100000 + b"}}",
    "half a character": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ok",'
    b'"arguments":{"a":"\\ud800"}}}',
    "a name with a line end": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ok\\n"}}',
    "a name with a hidden mark": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ok\\u200b"}}',
    "no name": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{}}}',
    "a name that is a list": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":["ok"]}}',
    "arguments that are a list": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ok",'
    b'"arguments":[1]}}',
    "parameters that are a list": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["ok",{}]}',
    "no parameters": b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}',
    "a batch of nothing": b"[]",
    "a batch in a batch": b'[[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ok"}}]]',
    "a text": b'"tools/call"',
    "UTF-16": '{"jsonrpc":"2.0","id":1,"method":"ping"}'.encode("utf-16"),
    "a byte order mark": b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}',
}


def test_what_is_not_well_formed_is_answered_by_an_error_and_never_passed_on(start: Start) -> None:
    proxy = start()
    for name, line in SPOILED.items():
        proxy.raw(line + b"\n")
        answer = proxy.get()
        answer = answer[0] if isinstance(answer, list) else answer
        assert set(answer) == {"jsonrpc", "id", "error"}, name
        assert answer["id"] in (1, None), name
    assert proxy.came() == []
    assert "result" in proxy.ask(call(2))


def test_a_call_without_an_id_is_dropped(start: Start) -> None:
    proxy = start()
    message = call(1)
    del message["id"]
    proxy.send(message)
    assert "result" in proxy.ask(call(2))
    assert [each["id"] for each in proxy.came()] == [2]


def test_a_huge_frame_is_refused_and_the_next_one_is_read(start: Start) -> None:
    proxy = start()
    head = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ok","arguments":{"a":"'
    proxy.raw(head + b"x" * (40 * 1024 * 1024) + b'"}}}\n')
    assert "longer than" in proxy.get()["error"]["message"]
    assert "result" in proxy.ask(call(2))
    assert [each["id"] for each in proxy.came()] == [2]


@pytest.mark.parametrize("id", [0, -1, 1.5, 2**80, "", "1", "é", None, True, [1], {"a": 1}], ids=repr)
def test_ids_of_any_type_come_back(start: Start, id: object) -> None:
    proxy = start()
    assert proxy.ask(call(id))["id"] == id
    assert refused(proxy.ask(call(id, "no")))


def test_ids_that_look_alike_are_different(start: Start) -> None:
    proxy = start("silent")
    proxy.send(call(1), call("1"), call(1.0))
    until = time.monotonic() + PATIENCE
    while len(proxy.came()) < 3 and time.monotonic() < until:
        time.sleep(0.02)
    assert len(proxy.came()) == 3


def test_of_two_requests_with_one_id_the_second_is_refused(start: Start) -> None:
    proxy = start("silent")
    proxy.send(call(1))
    answer = proxy.ask(call(1, "echo"))
    assert "is under way" in answer["error"]["message"]
    assert all(each["params"]["name"] == "ok" for each in proxy.came())


def test_a_batch_is_judged_message_by_message_and_answered_together(start: Start) -> None:
    proxy = start()
    note = {"jsonrpc": "2.0", "method": "notifications/x"}
    answer = proxy.ask([call(1), call(2, "no"), 7, note, {"jsonrpc": "2.0", "id": 3, "method": "ping"}, call(1)])
    by_id = {json.dumps(each["id"]): each for each in answer}
    assert len(answer) == 5
    assert refused(by_id["2"])
    assert "error" in by_id["null"]
    assert "result" in by_id["3"]
    assert sorted((each.get("id", 0), each["method"]) for each in proxy.came()) == [
        (0, "notifications/x"),
        (1, "tools/call"),
        (3, "ping"),
    ]


def test_other_messages_pass_both_ways(start: Start) -> None:
    proxy = start("asking")
    proxy.send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2099-01-01"}})
    assert proxy.get()["result"]["echo"] == {"protocolVersion": "2099-01-01"}
    proxy.send(call(2))
    found = [proxy.get() for _ in range(3)]
    assert [each.get("method") for each in found] == ["sampling/createMessage", "roots/list", None]
    proxy.send({"jsonrpc": "2.0", "id": 1, "result": {"role": "assistant"}})
    proxy.send({"jsonrpc": "2.0", "id": "r", "error": {"code": -1, "message": "none"}})
    proxy.ask({"jsonrpc": "2.0", "id": 9, "method": "tools/list"})
    assert [each.get("id") for each in proxy.came()] == [1, 2, 1, "r", 9]


def test_noise_of_the_server_is_dropped(start: Start) -> None:
    proxy = start("chatty")
    assert "result" in proxy.ask(call(1))
    assert proxy.nothing()
    proxy.end()
    assert proxy.noise.count(b"was dropped") == 2
    assert b"which it was not asked" in proxy.noise


def test_an_answer_with_a_key_twice_is_an_error(start: Start) -> None:
    answer = start("twice").ask(call(1))
    assert answer["id"] == 1
    assert "given twice" in answer["error"]["message"]


def test_a_file_resource_is_judged_as_a_read(start: Start, tmp_path: Path) -> None:
    proxy = start()

    def read(uri: str) -> Any:
        return proxy.ask({"jsonrpc": "2.0", "id": uri, "method": "resources/read", "params": {"uri": uri}})

    key = f"{tmp_path}/.ssh/id_rsa"
    assert "result" in read("notes://all")
    assert "result" in read(f"file://{tmp_path}/a.txt")
    for uri in (
        f"file://{key}",
        f"FILE://localhost{key}",
        f"file://{tmp_path}/%2essh/id_rsa",
        f"file:{key}",
        f" file://{key}",
        f"file://elsewhere{key}",
        f"file://{key}#x",
    ):
        assert "error" in read(uri), uri
    assert len(proxy.came()) == 2


# ---------------------------------------------------------------- ends


def test_a_server_that_ends_answers_what_is_open_and_gives_its_status(start: Start) -> None:
    proxy = start("leaving")
    assert "has ended" in proxy.ask(call(1))["error"]["message"]
    assert proxy.get() is None
    assert proxy.process.wait(PATIENCE) == 7


def test_a_server_that_cannot_be_started_is_127(tmp_path: Path) -> None:
    state(tmp_path)
    words = [sys.executable, "-m", "assent", "mcp-proxy", "--", "/nowhere/server"]
    done = subprocess.run(words, env=environ(tmp_path), input=b"", capture_output=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout) == (127, b"")
    assert b"cannot be started" in done.stderr


def test_a_client_that_hangs_up_ends_the_server(start: Start) -> None:
    proxy = start()
    proxy.ask(call(1))
    child = proxy.child()
    assert proxy.end() == 0
    assert is_gone(child)


def test_a_deaf_server_is_ended_all_the_same(start: Start) -> None:
    proxy = start("deaf")
    proxy.send(call(1))
    time.sleep(0.5)
    child = proxy.child()
    assert proxy.end() == 128 + signal.SIGKILL
    assert is_gone(child)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_both(start: Start, number: signal.Signals) -> None:
    proxy = start()
    proxy.ask(call(1))
    child = proxy.child()
    proxy.process.send_signal(number)
    assert proxy.process.wait(PATIENCE) == 128 + number
    assert is_gone(child)


def test_a_killed_proxy_leaves_no_server_behind(start: Start) -> None:
    proxy = start("silent")
    proxy.send(call(1))
    time.sleep(0.5)
    child = proxy.child()
    os.kill(proxy.process.pid, signal.SIGKILL)
    assert is_gone(child)


def test_what_a_server_detached_ends_with_a_killed_proxy(start: Start) -> None:
    proxy = start("detached")
    proxy.ask(call(1))
    left = proxy.reached.with_name(f"{proxy.reached.name}.left")
    for _ in range(500):
        if left.exists() and left.read_text().strip():
            break
        time.sleep(0.02)
    os.kill(proxy.process.pid, signal.SIGKILL)
    assert is_gone(int(left.read_text()))


def test_a_server_that_fills_its_standard_error_holds_nobody_up(tmp_path: Path) -> None:
    state(tmp_path)
    words = [sys.executable, "-m", "assent", "mcp-proxy", "--name", "srv", "--"]
    words += [sys.executable, str(Path(__file__).with_name("script.py")), str(tmp_path / "reached"), "loud"]
    unread, theirs = os.pipe()  # nobody ever reads what is in here
    proxy = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=theirs, env=environ(tmp_path), cwd=tmp_path
    )
    try:
        assert proxy.stdin is not None
        assert proxy.stdout is not None
        for number in (1, 2):
            proxy.stdin.write(json.dumps(call(number)).encode() + b"\n")
            proxy.stdin.flush()
            assert json.loads(proxy.stdout.readline())["id"] == number
        proxy.stdin.close()
        assert proxy.wait(PATIENCE) == 0
    finally:
        proxy.kill()
        proxy.wait()
        os.close(unread)
        os.close(theirs)


def test_the_server_speaks_to_our_standard_error(tmp_path: Path) -> None:
    state(tmp_path)
    words = [sys.executable, "-m", "assent", "mcp-proxy", "--name", "x", "--", "sh", "-c", "echo heard >&2"]
    done = subprocess.run(words, env=environ(tmp_path), input=b"", capture_output=True, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, b"heard\n")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--name", "x"], "give the server's command"),
        (["--name", "x", "--url", "http://127.0.0.1:1/", "--", "true"], "give the server's command"),
        (["--", "npx", "-y", "thing"], "--name"),
        (["--name", "a__b", "--", "true"], "no name for a server"),
        (["--url", "http://127.0.0.1:1/mcp"], "--name"),
        (["--name", "x", "--url", "ftp://a/"], "no plain http"),
        (["--name", "x", "--url", "http://127.0.0.1:1/", "--listen", "0.0.0.0:1"], "no address of this machine"),
        (["--name", "x", "--url", "http://127.0.0.1:1/", "--header", "Host: x"], "cannot be given as a header"),
        (["--name", "x", "--listen", "127.0.0.1:0", "--", "true"], "go with --url"),
    ],
)
def test_options_that_do_not_fit_are_refused(tmp_path: Path, words: list[str], problem: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "assent", "mcp-proxy", *words],
        env=environ(tmp_path),
        input=b"",
        capture_output=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 2
    assert problem in done.stderr.decode()
