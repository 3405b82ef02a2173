"""Laws of both clients of the server: a complete answer counts; otherwise the call is decided without the server."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from assent.agents import probes, settings
from assent.agents.adapter import Rendered
from assent.hook import compiled_client
from tests.client.clients import Client, Fake, Handler, done, http, outcome, saying
from tests.client.conftest import CLIENTS
from tests.examples import combinations

Serving = Callable[..., Fake]
ANSWER = b'{"hookSpecificOutput":{"permissionDecision":"ask"}}'  # what the cold path would not say
WHOLE = http(done(ANSWER))


@pytest.mark.parametrize(
    ("out", "err", "status"),
    [
        (b"", b"no\n", 2),
        (b"{}\n", b"", 0),
        ("ä€\U0001f600\0".encode(), "ß".encode(), 7),
        (b"x" * (1 << 20), b"y" * (1 << 18), 255),
        (b"", b"", 0),
    ],
)
def test_an_answer_is_passed_on_byte_for_byte(
    client: Client, serving: Serving, out: bytes, err: bytes, status: int
) -> None:
    serving(client.socket, saying(http(done(out, err, status))))
    ran = client.run()
    assert (ran.stdout, ran.stderr, ran.returncode) == (out, err, status)


def in_pieces(line: socket.socket, asked: bytes) -> None:
    for at in range(len(WHOLE)):
        line.sendall(WHOLE[at : at + 1])
        time.sleep(0.001)


def stays_open(line: socket.socket, asked: bytes) -> None:
    line.sendall(WHOLE)
    line.recv(1)  # until the client hangs up


@pytest.mark.parametrize("handler", [in_pieces, stays_open])
def test_an_answer_counts_once_it_is_whole(client: Client, serving: Serving, handler: Handler) -> None:
    serving(client.socket, handler)
    assert (outcome(client.run()), client.recorded) == ("ask", 0)


NO_ANSWERS = {
    "nothing": b"",
    "cut in the head": WHOLE[:20],
    "cut in the body": WHOLE[:-1],
    "garbage": os.urandom(512).replace(b"\r", b"."),
    "a head without end": b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 20000,
    "another version": WHOLE.replace(b"HTTP/1.1", b"HTTP/1.0"),
    "a refusal": http(b"{}", b"413 Too Large"),
    "a fault": http(done(ANSWER), b"500 Oh"),
    "a redirect": http(done(ANSWER), b"302 Found"),
    "no length": b"HTTP/1.1 200 OK\r\n\r\n" + done(ANSWER),
    "a length that is none": WHOLE.replace(b"Content-Length: ", b"Content-Length: +"),
    "two lengths, the first of them none": WHOLE.replace(b"Content-Length", b"Content-Length: x\r\nContent-Length"),
    "a length of ten digits": WHOLE.replace(b"Content-Length: ", b"Content-Length: 0000000000"),
    "more than it said": WHOLE + b"x",
    "less than it said": http(done(ANSWER), length=1000),
    "an empty body": http(b""),
    "another word": http(b"okay 0 0 0\n"),
    "a word too few": http(b"done 0 0\n"),
    "a word too many": http(b"done 0 0 0 0\n"),
    "no line end": http(b"done 0 0 0"),
    "a status that does not fit": http(b"done 256 0 0\n"),
    "a status below": http(b"done -1 0 0\n"),
    "lengths that do not fit": http(b"done 0 5 0\nabc"),
    "lengths that overflow": http(b"done 0 18446744073709551615 4\nabc"),
    "what is no text": http(done(b"\xff\xfe")),
    "half of a pair": http(done("\ud800".encode("utf-8", "surrogatepass"))),
    "a text cut within a letter": http(b"done 0 1 1\n\xc3\xa4"),
    "held without a digest": http(b"held abc\n"),
    "held with a quote": http(b'held a"b c\n'),
    "held with more": http(b"held a b\nmore"),
    "too much": http(b"done 0 17000000 0\n" + b"x" * 17_000_000),
}


@pytest.mark.parametrize("said", NO_ANSWERS.values(), ids=NO_ANSWERS.keys())
def test_what_is_no_whole_answer_is_decided_without_the_server(client: Client, serving: Serving, said: bytes) -> None:
    server = serving(client.socket, saying(said))
    assert (outcome(client.run()), client.recorded, len(server.asked)) == ("allow", 1, 1)


def hangs(line: socket.socket, asked: bytes) -> None:
    line.recv(1)


def trickles(line: socket.socket, asked: bytes) -> None:
    for _ in range(1000):
        line.sendall(b"x")
        time.sleep(0.05)


@pytest.mark.parametrize(("client", "handler"), combinations(CLIENTS, [hangs, trickles]), indirect=["client"])
def test_a_server_that_hangs_costs_two_seconds_and_is_done_without(
    client: Client, serving: Serving, handler: Handler
) -> None:
    serving(client.socket, handler)
    start = time.monotonic()
    ran = client.run()
    assert (outcome(ran), client.recorded) == ("allow", 1)
    assert 1.9 < time.monotonic() - start < 8


@pytest.mark.parametrize(("client", "handler"), combinations(CLIENTS, [hangs, trickles]), indirect=["client"])
def test_a_server_that_hangs_is_not_waited_for_beyond_the_deadline(
    client: Client, serving: Serving, handler: Handler
) -> None:
    serving(client.socket, handler)
    ran = client.run(deadline=1)
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert b"no decision within" in ran.stderr


def test_a_server_that_hangs_while_a_question_waits_ends_in_a_block(client: Client, serving: Serving) -> None:
    serving(client.socket, saying(http(b"held id-1 abc\n")), hangs)
    start = time.monotonic()
    ran = client.run(deadline=4)
    assert (ran.returncode, ran.stdout, client.recorded) == (2, b"", 0)
    assert 2.5 < time.monotonic() - start < 10


def test_the_server_is_told_how_long_the_program_waits(client: Client, serving: Serving) -> None:
    server = serving(client.socket, saying(WHOLE))
    client.run(deadline=50)
    assert 45 <= server.bodies[0]["deadline"] < 50


# ---------------------------------------------------------------- a question that waits


def test_a_held_question_is_asked_for_again_by_its_name(client: Client, serving: Serving) -> None:
    server = serving(client.socket, saying(http(b"held id-1 abc\n")), saying(http(b"held id-1 abc\n")), saying(WHOLE))
    assert outcome(client.run()) == "ask"
    first, *again = server.bodies
    assert "held" not in first
    assert again == [{**first, "held": {"id": "id-1", "digest": "abc"}}] * 2


def test_a_server_that_went_away_is_looked_for_until_it_is_back(client: Client, serving: Serving) -> None:
    server = serving(client.socket, saying(http(b"held id-1 abc\n")), saying(b""), saying(WHOLE[:-1]), saying(WHOLE))
    assert (outcome(client.run()), client.recorded, len(server.asked)) == ("ask", 0, 4)


def test_a_server_that_stays_away_while_a_question_waits_ends_in_a_block(client: Client, serving: Serving) -> None:
    server = serving(client.socket, saying(http(b"held id-1 abc\n")), saying(b""))
    ran = client.run(deadline=3)
    assert (ran.returncode, ran.stdout, client.recorded) == (2, b"", 0)
    assert b"the server went away while the question waited" in ran.stderr
    assert len(server.asked) > 2


def test_a_question_that_nobody_answers_ends_in_a_block(client: Client, serving: Serving) -> None:
    def slow(line: socket.socket, asked: bytes) -> None:
        time.sleep(0.3)
        line.sendall(http(b"held id-1 abc\n"))

    serving(client.socket, slow)
    ran = client.run(deadline=3)
    assert (ran.returncode, ran.stdout, client.recorded) == (2, b"", 0)
    assert b"nobody answered the question in time" in ran.stderr


def test_after_a_question_was_held_what_cannot_be_read_is_a_block(client: Client, serving: Serving) -> None:
    serving(client.socket, saying(http(b"held id-1 abc\n")), saying(http(b"done 0 0\n")))
    ran = client.run()
    assert (ran.returncode, ran.stdout, client.recorded) == (2, b"", 0)
    assert b"the server's answer cannot be read" in ran.stderr


LEFT_WAITING = [(hangs,), (saying(http(b"held id-1 abc\n")), saying(b""))]


@pytest.mark.parametrize(("client", "handlers"), combinations(CLIENTS, LEFT_WAITING), indirect=["client"])
def test_a_hook_whose_program_has_ended_does_not_wait_on(
    client: Client, serving: Serving, tmp_path: Path, handlers: tuple[Handler, ...]
) -> None:
    serving(client.socket, *handlers)
    script = (
        "import subprocess, sys, time\n"
        "hook = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=open(sys.argv[1], 'wb'))\n"
        "hook.stdin.write(sys.stdin.buffer.read())\n"
        "hook.stdin.close()\n"
        "print(hook.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    words = [sys.executable, "-c", script, str(tmp_path / "out"), *client.words()]
    program = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=client.environ
    )
    assert program.stdin is not None
    assert program.stdout is not None
    program.stdin.write(client.payload())
    program.stdin.close()
    hook = int(program.stdout.readline())
    time.sleep(1)
    program.kill()
    program.wait()
    program.stdout.close()
    until = time.monotonic() + 15
    while (alive := _lives(hook)) and time.monotonic() < until:
        time.sleep(0.1)
    if alive:
        os.kill(hook, signal.SIGKILL)
    assert not alive
    assert (tmp_path / "out").read_bytes() == b""


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


# ---------------------------------------------------------------- whose socket it is


def group_writable_folder(path: Path) -> None:
    path.parent.chmod(0o720)


def readable_folder(path: Path) -> None:
    path.parent.chmod(0o755)


def open_socket(path: Path) -> None:
    path.chmod(0o666)


def linked_socket(path: Path) -> None:
    path.rename(path.with_name("real.sock"))
    path.symlink_to("real.sock")


def linked_folder(path: Path) -> None:
    path.parent.rename(path.parent.with_name("real"))
    path.parent.symlink_to("real")


@pytest.mark.parametrize("spoil", [group_writable_folder, readable_folder, open_socket, linked_socket, linked_folder])
def test_a_socket_that_others_could_have_put_there_is_not_asked(
    client: Client, serving: Serving, tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    server = serving(folder / "s.sock", saying(WHOLE))
    spoil(folder / "s.sock")
    assert (outcome(client.run(socket=folder / "s.sock")), client.recorded, server.asked) == ("allow", 1, [])


def test_a_file_that_is_no_socket_or_one_that_nobody_serves_is_as_good_as_none(client: Client) -> None:
    assert outcome(client.run()) == "allow"
    client.socket.write_bytes(WHOLE)
    client.socket.chmod(0o600)
    assert outcome(client.run()) == "allow"
    client.socket.unlink()
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(client.socket))
        client.socket.chmod(0o600)
        assert outcome(client.run()) == "allow"
    assert client.recorded == 3


def test_a_socket_that_somebody_else_serves_is_not_asked(client: Client, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root: the server runs as another user")
    folder = tmp_path / "run"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    for each in (tmp_path, *tmp_path.parents):
        if each != Path("/") and not each.stat().st_mode & stat.S_IXOTH:
            each.chmod(each.stat().st_mode | stat.S_IXOTH)
    script = (
        "import os, socket, sys\n"
        "os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "listener = socket.socket(socket.AF_UNIX); listener.bind(sys.argv[1]); listener.listen()\n"
        "print('ready', flush=True)\n"
        "while True:\n"
        "    line, _ = listener.accept()\n"
        "    line.sendall(bytes.fromhex(sys.argv[2])); line.close()\n"
    )
    words = [sys.executable, "-c", script, str(folder / "s.sock"), WHOLE.hex()]
    other = subprocess.Popen(words, stdout=subprocess.PIPE)
    try:
        assert other.stdout is not None
        assert other.stdout.readline() == b"ready\n"
        for each in (folder / "s.sock", folder):
            os.chown(each, 0, 0)
            each.chmod(0o600 if each != folder else 0o700)
        assert (outcome(client.run(socket=folder / "s.sock")), client.recorded) == ("allow", 1)
    finally:
        other.kill()
        other.wait()
        assert other.stdout is not None
        other.stdout.close()


# ---------------------------------------------------------------- events and handles


def test_a_mode_in_the_environment_is_a_matter_of_this_process(client: Client, serving: Serving) -> None:
    server = serving(client.socket, saying(WHOLE))
    ran = client.run(client.payload("touch x"), environ={**client.environ, "ASSENT_MODE": "plan"})
    assert (outcome(ran), server.asked) == ("deny", [])


def test_an_event_that_is_no_text_is_a_block_without_the_server(client: Client, serving: Serving) -> None:
    server = serving(client.socket, saying(WHOLE))
    ran = client.run(b'{"tool_name": "\xff"}')
    assert (outcome(ran), server.asked) == ("block", [])


def test_an_event_longer_than_the_bound_is_a_block(client: Client, serving: Serving) -> None:
    server = serving(client.socket, saying(WHOLE))
    ran = client.run(b" " * ((64 << 20) + 1))
    assert (outcome(ran), server.asked) == ("block", [])
    assert b"the event is longer than 67108864 bytes" in ran.stderr


def test_a_long_event_reaches_the_server_and_the_cold_path_whole(client: Client, serving: Serving) -> None:
    command = "echo " + "ä\n\"'\\" * 300_000
    server = serving(client.socket, saying(WHOLE), saying(b""))
    payload = client.payload(command)
    assert outcome(client.run(payload)) == "ask"
    assert server.bodies[0]["payload"] == payload.decode()
    client.run(payload)
    assert client.recorded == 1


def test_an_event_that_comes_slowly_is_waited_for(client: Client, serving: Serving) -> None:
    server = serving(client.socket, saying(WHOLE))
    with subprocess.Popen(client.words(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=client.environ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        payload = client.payload()
        for at in range(0, len(payload), 40):
            running.stdin.write(payload[at : at + 40])
            running.stdin.flush()
            time.sleep(0.02)
        running.stdin.close()
        assert (running.stdout.read(), running.wait()) == (ANSWER, 0)
    assert server.bodies[0]["payload"] == payload.decode()


def test_an_event_that_never_ends_is_a_block(client: Client) -> None:
    with subprocess.Popen(
        client.words(deadline=2),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=client.environ,
    ) as running:
        assert running.stdout is not None
        assert (running.stdout.read(), running.wait()) == (b"", 2)


def test_without_a_standard_output_it_is_a_block(client: Client, serving: Serving) -> None:
    serving(client.socket, saying(WHOLE))
    words = ["/bin/sh", "-c", 'exec "$@" >&-', "sh", *client.words()]
    ran = subprocess.run(words, input=client.payload(), env=client.environ, stderr=subprocess.DEVNULL)
    assert ran.returncode == 2


@pytest.mark.parametrize("closed", ["0<&-", "2>&-", "0<&- 2>&-"])
def test_closed_handles_are_never_taken_for_others(client: Client, serving: Serving, closed: str) -> None:
    serving(client.socket, saying(http(done(ANSWER, b"on stderr"))))
    words = ["/bin/sh", "-c", f'exec "$@" {closed}', "sh", *client.words()]
    ran = subprocess.run(words, input=client.payload(), env=client.environ, capture_output=True)
    assert b"on stderr" not in ran.stdout
    assert ran.returncode == 2 or ran.stdout in (ANSWER, b"")
    assert (ran.returncode, ran.stdout) != (0, b"")


def test_an_answer_that_nobody_reads_is_a_block_and_no_signal(client: Client, serving: Serving) -> None:
    serving(client.socket, saying(http(done(b"x" * 100_000))))
    reading, writing = os.pipe()
    os.close(reading)
    ran = subprocess.run(client.words(), input=client.payload(), env=client.environ, stdout=writing, check=False)
    os.close(writing)
    assert ran.returncode == 2


def test_both_clients_ask_with_the_same_words(tmp_path: Path, serving: Serving, fast: Client) -> None:
    environ: dict[bytes, bytes] = {os.fsencode(key): os.fsencode(value) for key, value in fast.environ.items()}
    environ |= {
        b"CLAUDE_ODD": b'\xff\x80 "quoted" \\ \n \x7f \xc3\xa4',
        b"CLAUDE_API_KEY": b"secret",
        b"GEMINI_TOKENS": b"secret",
        b"CODEX_HOME": b"",
        b"SHELL": b"/bin/zsh",
        b"ASSENT_HOST_ATTENDED": b"1",
        b"OTHER": b"x",
        b"LD_LIBRARY_PATH": b"",
    }
    slow = Client("python", _made(tmp_path / "slow"))
    asked = []
    for each in (fast, slow):
        for runtime in ("claude", "codex", "gemini"):
            server = serving(each.socket, saying(WHOLE))
            each.run(b'{"a": "\xc3\xa4\xf0\x9f\x98\x80 \\u0000 \t"}', runtime=runtime, environ=environ)
            head = server.asked[0].partition(b"\r\n\r\n")[0].split(b"\r\n")
            bodies = [{key: value for key, value in body.items() if key != "deadline"} for body in server.bodies]
            asked.append(([line for line in head if b"Length" not in line], bodies))
            server.close = lambda: None  # type: ignore[method-assign]
            Fake.close(server)
    assert asked[:3] == asked[3:]
    environs = [bodies[0]["environ"] for _, bodies in asked[:3]]
    assert "secret" not in json.dumps(environs)
    assert [each.get("ASSENT_HOST_ATTENDED") for each in environs] == [None, "0", "0"]


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


# ---------------------------------------------------------------- the compiled one alone


def test_without_its_cold_command_it_blocks(fast: Client) -> None:
    (fast.state / "bin/assent").unlink()
    assert fast.run().returncode == 2
    words = fast.words()
    words[words.index("--cold") + 1] = "/nowhere/python"
    ran = subprocess.run(words, input=fast.payload(), env=fast.environ, capture_output=True)
    assert (ran.returncode, ran.stdout) == (2, b"")
    said = b"its Python is gone; install Assent again and run `assent install`, or remove its hook from the settings"
    assert ran.stderr == b"Assent could not decide: " + said + b"\n"


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["hook"],
        ["check", "claude"],
        ["hook", "claude"],
        ["hook", "claude", "--cold"],
        ["hook", "claude", "--cold", "true"],
        ["hook", "cl/../aude", "--cold", "/bin/true"],
        ["hook", "claude", "--deadline", "x", "--cold", "/bin/true"],
        ["hook", "claude", "--deadline", "", "--cold", "/bin/true"],
        ["hook", "claude", "--other", "x", "--cold", "/bin/true"],
        ["hook", "claude", "--home", "--cold", "/bin/true"],
        ["hook", "a" * 1000, "--cold", "/bin/true"],
        ["hook", "claude", "--cold", "/bin/true", *["x"] * 16],
    ],
)
def test_called_wrongly_it_blocks(fast: Client, words: list[str]) -> None:
    ran = subprocess.run([fast.words()[0], *words], input=b"{}", env={}, capture_output=True)
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert b"its hook was called wrongly" in ran.stderr


def test_nothing_that_steers_an_interpreter_is_handed_on(fast: Client) -> None:
    steering = {"LD_LIBRARY_PATH": "/x", "LD_AUDIT": "/x", "PYTHONPATH": "/x", "GCONV_PATH": "/x", "OPENSSL_CONF": "/x"}
    words = fast.words()
    words = [*words[: words.index("--cold")], "--cold", "/usr/bin/env"]
    words = [*words, "-u", "X", "/bin/sh", "-c", "env >&2; exit 2"]
    ran = subprocess.run(words, input=b"{}", env={**fast.environ, **steering}, capture_output=True)
    shown = {line.split("=")[0] for line in ran.stderr.decode().splitlines()}
    assert shown & steering.keys() == set()
    assert fast.environ.keys() <= shown


def test_the_source_compiles_without_a_warning(fast: Client) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    source = Path(compiled_client.source()).with_name("client.c")
    warnings = "-std=c11 -O2 -Wall -Wextra -Wshadow -Wconversion -Wformat=2 -Wvla -Werror".split()
    words = [compiler, *warnings, "-fsyntax-only", str(source)]
    ran = subprocess.run(words, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize("runtime", settings.RUNTIMES)
def test_what_the_client_cannot_wait_for_is_a_block_in_each_programs_own_form(tmp_path: Path, runtime: str) -> None:
    client = Client("python", tmp_path)
    words = [*client.words(runtime)[:3], "hook", runtime, "--fault", "nobody answered the question in time"]
    ran = subprocess.run(words, stdin=subprocess.DEVNULL, env=client.environ, capture_output=True)
    answer = Rendered(ran.stdout.decode(), ran.stderr.decode(), ran.returncode)
    assert probes.understood(runtime, answer) == probes.BLOCKED
    assert "nobody answered the question in time" in answer.stdout + answer.stderr
