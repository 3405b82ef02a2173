"""The start command of an MCP server behind the proxy runs contained, and never bare if it was to be contained."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

SERVER = Path(__file__).parent / "server.py"
ON = 'allow = ["mcp__srv"]\n[contain]\non = true\n'


class Place:
    """A person's home with a key, a project with the server, and a folder elsewhere."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project, self.elsewhere = folder / "home", folder / "work" / "project", folder / "elsewhere"
        for each in (self.home / ".ssh", self.home / ".assent", self.project, self.elsewhere):
            each.mkdir(parents=True, mode=0o700)
        (self.home / ".ssh" / "id_ed25519").write_text("a key")
        self.put(self.project)
        self.configure(ON)

    def put(self, folder: Path) -> None:
        shutil.copy(SERVER, folder / "server.py")
        (folder / "plan.json").write_text(json.dumps([str(self.home), str(self.elsewhere)]))

    def configure(self, text: str, mode: str = "auto") -> None:
        (self.home / ".assent" / "config.toml").write_text(f'mode = "{mode}"\n{text}')

    @property
    def command(self) -> list[str]:
        return ["python3", "server.py"]

    @contextmanager
    def proxy(self, *options: str, command: list[str] | None = None) -> Iterator[subprocess.Popen[str]]:
        words = [sys.executable, "-I", "-m", "assent", "mcp-proxy", "--name", "srv", "--session", "s", *options, "--"]
        environ = {"HOME": str(self.home), "PATH": "/usr/local/bin:/usr/bin:/bin", "GITHUB_TOKEN": "token"}
        process = subprocess.Popen(
            [*words, *(command or self.command)],
            cwd=self.project,
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout, process.stderr):
                assert pipe is not None
                pipe.close()

    def records(self, kind: str = "decision") -> list[dict[str, Any]]:
        lines = (self.home / ".assent/audit/permissions.jsonl").read_text().splitlines()
        return [entry for entry in map(json.loads, lines) if entry["kind"] == kind]


def ask(process: subprocess.Popen[str], port: int = 9) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    params = {"name": "try", "arguments": {"port": port}}
    process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}) + "\n")
    process.stdin.flush()
    found: dict[str, Any] = json.loads(json.loads(process.stdout.readline())["result"]["content"][0]["text"])
    return found


@pytest.fixture
def place(tmp_path: Path, sandboxed: None) -> Place:
    return Place(tmp_path.resolve())


def test_a_server_starts_contained_and_still_answers(place: Place) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening, place.proxy() as process:
        said = ask(process, listening.getsockname()[1])
        again = ask(process)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(30) == 0
    assert sorted(said["workspace"]) == ["plan.json", "server.py"]
    failed = {key: value for key, value in said.items() if "failed" in str(value)}
    assert failed.keys() == {"keys", "inside", "outside", "settings", "port"}
    assert (said["own"], said["token"], again["id"]) == ("written", "absent", said["id"])
    assert sorted(path.name for path in place.project.iterdir()) == ["plan.json", "server.py"]
    first = place.records()[0]
    assert (first["code"], first["tool"], first["session"]) == ("contain.server", "bash", "s")
    assert first["contained"] == "no network, writes no files"


def test_without_containment_the_same_server_can_do_all_of_it(place: Place) -> None:
    """What the other tests see closed is open otherwise."""
    place.configure('allow = ["mcp__srv"]\n')
    with socket.create_server(("127.0.0.1", 0)) as listening, place.proxy() as process:
        said = ask(process, listening.getsockname()[1])
    assert said["keys"] == ["id_ed25519"]
    assert [said[key] for key in ("inside", "outside", "settings", "port", "token")] == [
        *("written", "written", "written", "connected", "token")
    ]


def test_with_writes_it_changes_the_workspace_and_no_settings(place: Place) -> None:
    with place.proxy("--writes") as process:
        said = ask(process)
        assert (place.project / "made.txt").exists()
        assert process.stdin is not None
        process.stdin.close()
        process.wait(30)
        assert process.stderr is not None
        noise = process.stderr.read()
    assert (said["inside"], said["settings"]) == ("written", "written")
    assert "failed" in said["outside"]
    assert not (place.project / ".envrc").exists()
    assert ".envrc" in noise
    assert "moved aside" in noise


def test_a_server_that_is_killed_with_its_proxy_leaves_no_process(place: Place) -> None:
    with place.proxy() as process:
        ask(process)
        assert running(place)
    end = time.monotonic() + 20
    while found := running(place):
        assert time.monotonic() < end, found
        time.sleep(0.05)


def running(place: Place) -> list[str]:
    """The processes that work in the project."""
    found = []
    for each in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):
            found += [str(each)] if str(each.readlink()) == str(place.project) else []
    return found


def refused(place: Place, *options: str, command: list[str] | None = None) -> str:
    with place.proxy(*options, command=command) as process:
        out, err = process.communicate(timeout=60)
    assert (out, process.returncode) == ("", 126)
    return err


def test_what_cannot_be_contained_is_not_started_unless_a_rule_of_the_person_says_so(place: Place) -> None:
    place.put(place.elsewhere)
    server = place.elsewhere / "server.py"
    command = ["python3", str(server)]
    said = refused(place, command=command)
    assert "the server is not started" in said
    assert f'allow = ["bash(python3 {server}' in said
    place.configure(f'allow = ["mcp__srv", "bash(python3 {server}:*)"]\n[contain]\non = true\n')
    with place.proxy(command=command) as process:
        assert ask(process)["keys"] == ["id_ed25519"]


def test_no_engine_no_start(place: Place) -> None:
    """The runner does not fit the package's, and cannot be put in its place."""
    place.home.joinpath(".assent/bin").write_text("in the way")
    assert "the server is not started: the sandbox cannot be tried" in refused(place)


def test_a_deny_rule_holds(place: Place) -> None:
    place.configure('deny = ["bash(python3 server.py:*)"]\n[contain]\non = true\n')
    assert "the server is not started" in refused(place)


@pytest.mark.parametrize(("mode", "contained"), [("plan", True), ("default", True), ("full_auto", False)])
def test_in_every_mode_that_asks_it_is_contained(place: Place, mode: str, contained: bool) -> None:
    place.configure(ON, mode)
    with place.proxy() as process:
        assert process.stdin is not None
        if mode == "plan":  # no call of its tools passes
            process.stdin.close()
            process.wait(30)
            assert place.records()[0]["code"] == "contain.server"
        else:
            assert ("failed" in str(ask(process)["keys"])) is contained


def test_a_gate_server_s_absence_and_a_missing_program_are_told(place: Place) -> None:
    assert "`no-such-program` is not there" in refused(place, command=["no-such-program"])
