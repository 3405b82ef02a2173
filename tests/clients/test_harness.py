"""Tests the harness itself, with one-line hooks. What the hosts do by themselves is in test_hosts.py."""

from __future__ import annotations

import socket
import sys
import time
from pathlib import Path

import pytest

from . import programs
from .client import Client, Hook
from .model import Step, Use
from .observed import DONE, MADE, MAKE, REASON
from .programs import Programs
from .sandbox import Sandbox

NOTES = Path(__file__).with_name("notes_server.py")


def refusing(tool: str = "") -> Hook:
    """A hook that refuses what mentions the tool, in the one form that all hosts understand."""
    return Hook(f"grep -q {tool!r} || exit 0; echo {REASON} >&2; exit 2")


def test_a_sandbox_has_no_network_but_loopback(place: Sandbox) -> None:
    ended = place.run(["cat", "/proc/net/dev"], deadline=10)
    assert [line.split(":")[0].strip() for line in ended.stdout.splitlines()[2:]] == ["lo"]


def test_nothing_of_this_environment_gets_into_a_sandbox(place: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", "secret")
    ended = place.run(["env"], deadline=10)
    assert "SOME_TOKEN" not in ended.stdout
    assert f"HOME={place.home}\n" in ended.stdout


def test_no_process_outlives_the_program_that_started_it(place: Sandbox) -> None:
    place.run(["sh", "-c", "setsid sh -c 'sleep 0.5; touch late' & sleep 0.1"], deadline=10)
    time.sleep(0.8)
    assert list(place.project.iterdir()) == []


def test_the_deadline_ends_a_program(place: Sandbox) -> None:
    assert place.run(["sh", "-c", "echo begun; sleep 60"], deadline=0.3).status is None


def test_the_test_reaches_a_server_in_the_sandbox_and_the_sandbox_only(place: Sandbox) -> None:
    serve = "import socket; socket.create_server(('127.0.0.1', 54321)).accept()[0].sendall(b'here')"
    place.start([sys.executable, "-c", serve])
    assert place.network.inside(lambda: heard(54321, seconds=20)) == b"here"
    assert heard(54321, seconds=0) == b""


def heard(port: int, seconds: float) -> bytes:
    end = time.monotonic() + seconds
    while True:
        try:
            with socket.create_connection(("127.0.0.1", port)) as connection:
                return connection.recv(10)
        except ConnectionRefusedError:
            if time.monotonic() > end:
                return b""
            time.sleep(0.1)


@pytest.mark.parametrize("name", programs.PACKAGES)
def test_the_pinned_version_is_the_one_that_runs(name: str, place: Sandbox, installed: Programs) -> None:
    words: tuple[str, ...] = getattr(installed, name)
    assert programs.versions()[name] in place.run([*words, "--version"], deadline=60).stdout


def test_the_shell_runs_and_the_model_reads_what_it_said(client: Client, place: Sandbox) -> None:
    run = client.run(place, [Use(client.shell(MAKE)), DONE], args=client.loose)
    assert (run.status, run.changed) == (0, MADE)
    assert "made-by-agent" in run.told[0]
    assert DONE.text in run.stdout


def test_a_file_is_written_unless_the_hook_refuses(client: Client, place: Sandbox) -> None:
    client.hook(place, refusing("forbidden"))
    calls = [client.write(place.project / name, "some text\n") for name in ("allowed", "forbidden")]
    run = client.run(place, [Use(calls[0]), Use(calls[1]), DONE], args=client.loose + client.trust)
    assert run.changed == {"allowed": "some text\n"}
    assert REASON in run.told[1]


def test_an_mcp_tool_is_called_unless_the_hook_refuses(client: Client, place: Sandbox) -> None:
    client.hook(place, refusing("forbidden"))
    calls = [client.mcp("notes", "note", {"text": text}) for text in ("allowed", "forbidden")]
    servers = {"notes": [sys.executable, str(NOTES), str(place.project / "noted")]}
    script: list[Step] = [Use(calls[0]), Use(calls[1]), DONE]
    run = client.run(place, script, args=client.loose + client.trust, servers=servers)
    assert run.changed == {"noted": "allowed\n"}
    assert "noted allowed" in run.told[0]
    assert REASON in run.told[1]


def test_the_hook_refuses_the_call_of_a_sub_agent(client: Client, place: Sandbox) -> None:
    client.hook(place, refusing("made-by-agent"))
    sub = [Use(client.shell(MAKE)), client.report("could not do it")]
    run = client.run(place, [*client.delegate(), DONE], sub=sub, args=client.loose + client.trust)
    assert run.changed == {}
    assert REASON in run.told_sub[0]
    assert DONE.text in run.stdout


def test_before_a_person_the_hook_refuses_too(client: Client, place: Sandbox) -> None:
    client.hook(place, refusing("made-by-agent"))
    with client.attended(place, [Use(client.shell(MAKE)), DONE], args=client.trust) as (screen, model):
        screen.wait_for(DONE.text, seconds=180)
    assert list(place.project.iterdir()) == []
    assert REASON in model.told()[0]
