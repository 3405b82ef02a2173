"""A hook that finds no server starts one in the background: once, apart from the agent program, and only if agreed."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from assent.agents import settings
from assent.cli.main import main
from assent.hook import server_script, starting
from assent.server import detached
from assent.server.listening import Running, running

CONFIG = "[server]\nstart = true\n"


class Home:
    """A user's home with the hook of Claude Code installed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state = folder / ".assent"
        self.project = folder / "project"
        self.project.mkdir()
        self.given: tuple[str, ...] = ()
        self.environ = {"HOME": str(folder), "PATH": os.environ["PATH"], "CLAUDE_PROJECT_DIR": str(self.project)}

    @property
    def words(self) -> tuple[str, ...]:
        if self.given:
            return self.given
        file = self.folder / ".claude/settings.json"
        found = settings.load("claude").first(settings.load("claude").wired(file.read_text(), str(file)))
        assert found is not None
        return found.words

    def payload(self, command: str) -> bytes:
        call = {"tool_name": "Bash", "tool_input": {"command": command}}
        event = {"session_id": "s1", "cwd": str(self.project), "hook_event_name": "PreToolUse", **call}
        return json.dumps(event).encode()

    def call(
        self,
        environ: dict[str, str] | None = None,
        pass_fds: tuple[int, ...] = (),
        command: str = "git status",
    ) -> str:
        done = subprocess.run(
            self.words,
            input=self.payload(command),
            capture_output=True,
            env={**self.environ, **(environ or {})},
            cwd=self.project,
            pass_fds=pass_fds,
            timeout=60,
        )
        assert done.returncode == 0, done
        return str(json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"])

    def server(self, seconds: float = 20.0) -> Running:
        """The server, once it listens and whoever started it is done."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            found = running(str(self.state))
            if found is not None and not self.starting:
                return found
            time.sleep(0.02)
        raise AssertionError(self.log)

    def settled(self, seconds: float = 30.0) -> tuple[str, int, float]:
        """The result of a start, once it is known."""
        until = time.monotonic() + seconds
        while self.starting and time.monotonic() < until:
            time.sleep(0.02)
        return starting.last(str(self.state))

    @property
    def starting(self) -> bool:
        """Whether somebody starts the server now: a process holds the record's lock."""
        import fcntl

        with (self.state / starting.RECORD_FILE).open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                return True
        return False

    @property
    def log(self) -> str:
        path = self.state / detached.LOG_FILE
        return path.read_text() if path.exists() else ""

    @property
    def starts(self) -> int:
        return self.log.count("the server starts in the background")

    def end(self) -> None:
        if (self.state / starting.RECORD_FILE).exists():
            self.settled()
        found = running(str(self.state))
        if found is None:
            return
        os.kill(found.pid, signal.SIGTERM)
        until = time.monotonic() + 20
        while running(str(self.state)) is not None:
            assert time.monotonic() < until
            time.sleep(0.02)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    found = Home(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("ASSENT_HOME", raising=False)
    monkeypatch.chdir(found.project)
    yield found
    found.end()


@pytest.fixture
def agreed(home: Home) -> Home:
    assert main(["install", "claude", "--no-policy", "--start-server"]) == 0
    return home


def trail(home: Home) -> list[dict[str, object]]:
    lines = (home.state / "audit/permissions.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_without_a_users_word_nothing_is_started(home: Home) -> None:
    assert main(["install", "claude", "--no-policy"]) == 0
    assert home.call() == "allow"
    time.sleep(0.5)
    assert (running(str(home.state)), (home.state / starting.RECORD_FILE).exists()) == (None, False)


def test_the_first_call_is_decided_without_it_and_the_next_by_it(
    agreed: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    assert agreed.call() == "allow"
    server = agreed.server()
    assert agreed.call() == "allow"
    assert (agreed.starts, running(str(agreed.state))) == (1, server)
    capsys.readouterr()
    assert main(["status"]) == 0
    assert f"pid {server.pid}" in capsys.readouterr().out
    assert main(["stop"]) == 0
    assert running(str(agreed.state)) is None


def test_what_a_person_stopped_stays_so_until_a_person_starts_it(
    agreed: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    agreed.call()
    agreed.server()
    assert main(["stop"]) == 0
    assert agreed.call() == "allow"
    time.sleep(0.5)
    assert (running(str(agreed.state)), agreed.starts) == (None, 1)
    assert main(["serve", "--background", "--port", "0"]) == 0
    found = agreed.server()
    assert f"http://127.0.0.1:{found.port}/" in capsys.readouterr().out
    assert starting.last(str(agreed.state)) == ("", 0, 0.0)
    assert main(["serve", "--background"]) == 2
    assert "a server runs already" in capsys.readouterr().err


def test_a_server_that_is_being_started_is_stopped_too(agreed: Home, capsys: pytest.CaptureFixture[str]) -> None:
    agreed.call()
    assert agreed.starting
    assert main(["stop"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("stopped;")
    assert (running(str(agreed.state)), starting.last(str(agreed.state))[0]) == (None, starting.STOPPED)
    agreed.call()
    assert (agreed.starting, agreed.starts) == (False, 1)


def test_nothing_of_the_agents_process_reaches_the_server(agreed: Home, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root: the server closes itself to its own user")
    hostile = {
        "ASSENT_HOME": str(tmp_path / "elsewhere"),
        "PYTHONPATH": str(tmp_path / "modules"),
        "PYTHONSTARTUP": str(tmp_path / "start.py"),
        "LD_LIBRARY_PATH": str(tmp_path),
        "GIT_DIR": str(tmp_path),
        "HTTPS_PROXY": "http://127.0.0.1:9",
    }
    reading, writing = os.pipe()
    agreed.call(hostile, pass_fds=(writing,))
    os.close(writing)
    server = agreed.server()
    with os.fdopen(reading, "rb") as pipe:
        assert pipe.read() == b""  # nobody has the other end any more
    about = Path(f"/proc/{server.pid}")
    fields = (about / "stat").read_text().rpartition(")")[2].split()
    assert (about / "environ").read_bytes() == b""
    assert os.readlink(about / "cwd") == "/"
    assert int(fields[1]) != os.getpid()  # it belongs to nobody here
    assert fields[4] == "0"  # it has no terminal
    assert os.getsid(server.pid) not in (os.getsid(0), server.pid)
    assert {os.readlink(about / "fd" / name) for name in "012"} == {"/dev/null", str(agreed.state / "server.log")}
    ignored = next(line for line in (about / "status").read_text().splitlines() if line.startswith("SigBlk"))
    assert int(ignored.split()[1], 16) == 0


def test_the_end_of_the_agents_process_group_is_not_its_end(agreed: Home) -> None:
    words = ["/bin/sh", "-c", '"$@"; sleep 60', "sh", *agreed.words]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=agreed.environ, start_new_session=True
    ) as program:
        assert program.stdin is not None
        program.stdin.write(agreed.payload("git status"))
        program.stdin.close()
        server = agreed_server_of(agreed)
        os.killpg(program.pid, signal.SIGKILL)
        program.wait()
    time.sleep(0.3)
    assert running(str(agreed.state)) == server


def agreed_server_of(home: Home) -> Running:
    until = time.monotonic() + 20
    while not (home.state / starting.RECORD_FILE).exists():
        assert time.monotonic() < until
        time.sleep(0.02)
    return home.server()


def test_many_hooks_at_once_start_one_server(agreed: Home) -> None:
    with ThreadPoolExecutor(6) as pool:
        assert set(pool.map(lambda _: agreed.call(), range(6))) == {"allow"}
    agreed.server()
    assert agreed.starts == 1


def test_a_start_under_way_is_not_told_as_one_that_failed(agreed: Home, capsys: pytest.CaptureFixture[str]) -> None:
    record = agreed.state / starting.RECORD_FILE
    record.write_text(f"failed 1 {time.time():.0f}\n")
    with record.open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert main(["status"]) == 1
        assert capsys.readouterr().out == "a server is starting; ask again in a moment\n"
    assert main(["status"]) == 1
    assert "1 start by a hook failed" in capsys.readouterr().out


def test_a_server_that_does_not_start_is_left_alone_for_a_while(
    agreed: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    (agreed.state / "server.sock").mkdir()  # it cannot listen there
    assert agreed.call() == "allow"
    assert agreed.settled()[:2] == ("failed", 1)
    assert agreed.call() == "allow"
    assert (agreed.settled()[:2], agreed.starts) == (("failed", 1), 1)
    assert main(["status"]) == 1
    assert "1 start by a hook failed" in capsys.readouterr().out
    (agreed.state / starting.RECORD_FILE).write_text(f"failed 1 {time.time() - 61:.0f}\n")
    assert agreed.call() == "allow"
    assert (agreed.settled()[:2], agreed.starts) == (("failed", 2), 2)
    (agreed.state / "server.sock").rmdir()
    (agreed.state / starting.RECORD_FILE).write_text(f"failed 2 {time.time() - 121:.0f}\n")
    agreed.call()
    agreed.server()
    assert starting.last(str(agreed.state)) == ("", 0, 0.0)


def test_a_start_that_breaks_anywhere_counts_as_failed(agreed: Home) -> None:
    script = agreed.state / "bin" / starting.SCRIPT
    script.write_text("raise SystemExit(1)")
    agreed.call()
    assert agreed.settled()[:2] == ("failed", 1)
    agreed.call()
    assert (agreed.settled()[:2], agreed.log) == (("failed", 1), "")


@pytest.mark.parametrize("spoil", ["folder", "script", "link", "environment"])
def test_what_others_could_have_put_there_is_not_started(agreed: Home, tmp_path: Path, spoil: str) -> None:
    script = agreed.state / "bin" / starting.SCRIPT
    if spoil == "folder":
        script.parent.chmod(0o770)
    elif spoil == "script":
        script.chmod(0o720)
    elif spoil == "link":
        script.rename(tmp_path / "elsewhere")
        script.symlink_to(tmp_path / "elsewhere")
    else:  # a hook for everybody, whose environment a project's settings made
        words = tuple(word for word in agreed.words if word not in ("--home", str(agreed.state)))
        assert len(words) == len(agreed.words) - 2
        agreed.given = words
    assert agreed.call() == "allow"
    time.sleep(0.5)
    assert (running(str(agreed.state)), agreed.starts) == (None, 0)


def test_a_server_that_was_killed_is_started_anew(agreed: Home) -> None:
    agreed.call()
    first = agreed.server()
    os.kill(first.pid, signal.SIGKILL)
    while running(str(agreed.state)) is not None:
        time.sleep(0.02)
    assert agreed.call() == "allow"  # over the socket that it left behind nobody answers
    assert agreed.server().pid != first.pid


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP])
def test_a_server_that_ends_in_the_middle_of_calls_changes_no_answer(agreed: Home, how: int) -> None:
    """Each call is answered by a server or without one, and as it must be."""
    agreed.call()
    agreed.server()
    calls = {"git status": "allow", "cat ~/.ssh/id_rsa": "deny", "rm -rf /": "deny"}
    commands = [command for _ in range(20) for command in calls]
    with ThreadPoolExecutor(3) as pool:
        answers = [(command, pool.submit(agreed.call, command=command)) for command in commands]
        for _ in range(3):
            time.sleep(0.15)
            found = running(str(agreed.state))
            if found is not None:
                os.kill(found.pid, how)
                time.sleep(0.1)
                with suppress(ProcessLookupError):
                    os.kill(found.pid, signal.SIGCONT)
        assert {(command, each.result()) for command, each in answers} == set(calls.items())


def test_where_its_port_is_taken_it_listens_on_another(home: Home) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["serve", "--background", "--port", str(port)]) == 0
        assert home.server().port != port


def test_it_ends_by_itself_where_nobody_calls_for_as_long_as_the_user_said(agreed: Home) -> None:
    (agreed.state / "config.toml").write_text(CONFIG + "idle = 3\n")
    agreed.call()
    agreed.server()
    until = time.monotonic() + 20
    while running(str(agreed.state)) is not None:
        assert time.monotonic() < until
        time.sleep(0.05)
    assert "no requests for 3 seconds" in agreed.log
    assert starting.last(str(agreed.state)) == ("", 0, 0.0)


def test_a_users_no_stays(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    home.state.mkdir(mode=0o700)
    (home.state / "config.toml").write_text("[server]\nstart = false\n")
    assert main(["install", "claude", "--no-policy", "--start-server"]) == 0
    assert "has `server.start = false`, which is not changed" in capsys.readouterr().err
    assert (home.state / "config.toml").read_text() == "[server]\nstart = false\n"
    assert home.call() == "allow"
    assert not (home.state / starting.RECORD_FILE).exists()


def test_a_script_that_does_not_work_is_not_agreed_to(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(server_script, "folders", lambda: [str(home.folder)])
    assert main(["install", "claude", "--no-policy", "--start-server"]) == 0
    assert "hooks cannot start the server: ModuleNotFoundError" in capsys.readouterr().err
    assert not (home.state / "bin/assent-server").exists()
    assert not (home.state / "config.toml").exists()


# ---------------------------------------------------------------- without processes


def test_each_failure_doubles_the_pause_up_to_an_hour() -> None:
    assert [starting.pause(count) for count in (1, 2, 3, 6, 7, 1000)] == [60, 120, 240, 1920, 3600, 3600]


@pytest.mark.parametrize(
    ("record", "now", "may"),
    [
        (("", 0, 0.0), 5.0, True),
        (("stopped", 0, 0.0), 1e9, False),
        (("failed", 1, 1000.0), 1059.0, False),
        (("failed", 1, 1000.0), 1060.0, True),
        (("failed", 3, 1000.0), 1239.0, False),
        (("failed", 3, 1000.0), 900.0, True),
    ],
)
def test_a_start_is_tried_again_after_the_pause(record: tuple[str, int, float], now: float, may: bool) -> None:
    assert starting.may_try(*record, now) is may


@pytest.mark.parametrize("text", ["", "garbage", "failed x y", "failed 1", "\xff" * 300, "stopped 0 0\nmore"])
def test_a_record_that_cannot_be_read_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / starting.RECORD_FILE).write_text(text)
    assert starting.last(str(tmp_path)) == ("", 0, 0.0)


def test_a_pipe_or_a_link_in_place_of_the_lock_holds_no_hook_up(tmp_path: Path) -> None:
    """Opening a pipe for reading would wait for a writer, in a hook that has answered already."""
    lock = tmp_path / starting.LOCK_FILE
    os.mkfifo(lock)
    assert not starting.runs(str(tmp_path))
    lock.unlink()
    lock.symlink_to(tmp_path / "elsewhere")
    assert starting.runs(str(tmp_path))


def test_the_log_never_grows_beyond_its_bound(tmp_path: Path) -> None:
    handle = detached.opened(str(tmp_path))
    log = detached.BoundedLog(handle)
    for number in range(3000):
        log.write(f"{number} {'x' * 200}\n")
    log.write("y" * 10_000_000)
    os.close(handle)
    assert (tmp_path / "server.log").stat().st_size <= 2 * detached.MOST
    os.close(detached.opened(str(tmp_path)))
    assert (tmp_path / "server.log").stat().st_size == 0
    assert (tmp_path / "server.log.1").exists()
