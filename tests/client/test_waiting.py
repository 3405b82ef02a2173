"""How long a hook waits: not for a server that does not answer, and for a person no longer than the program waits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from assent import agents
from assent.agents import probes, settings
from assent.agents.adapter import Rendered, deadline_within
from assent.agents.capabilities import CAPABILITIES, Does
from assent.hook import compiled_client, launcher
from tests.client.conftest import built
from tests.server.program import Program

CONFIG = 'mode = "default"\n[approval]\ntimeout = 300\nunseen = 300\nroute = "broker"\n'
OPEN = (Does.RUNS, Does.HOST)


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    built()
    found = Program(tmp_path, config=CONFIG)
    launcher.write(str(found.state))
    compiled_client.write(str(found.state))
    yield found
    found.stop()


def words(program: Program, kind: str, runtime: str, deadline: int) -> tuple[str, ...]:
    found = launcher.launcher(str(program.state), runtime, socket=program.socket, deadline=deadline)
    return found if kind == "python" else compiled_client.words(found, str(program.state))


def fired(program: Program, kind: str, runtime: str, command: str, deadline: int = 570) -> tuple[str, str, float]:
    """How the program would read the answer, its text, and the seconds until it came."""
    start = time.monotonic()
    ran = subprocess.run(
        words(program, kind, runtime, deadline),
        input=json.dumps(probes.event(runtime, command, str(program.project))).encode(),
        capture_output=True,
        env={**program.environ, "CLAUDE_CODE_SESSION_ATTENDED": "0"},
        cwd=program.project,
        timeout=120,
    )
    said = Rendered(ran.stdout.decode(), ran.stderr.decode(), ran.returncode)
    return probes.understood(runtime, said), said.stdout + said.stderr, time.monotonic() - start


@pytest.mark.parametrize("kind", ["python", "compiled"])
def test_a_server_that_is_stopped_in_its_tracks_costs_two_seconds(program: Program, kind: str) -> None:
    os.kill(program.process.pid, signal.SIGSTOP)
    try:
        for command, wanted in ((probes.HARMLESS, probes.ALLOWED), (probes.FORBIDDEN, probes.BLOCKED)):
            found, said, seconds = fired(program, kind, "claude", command)
            assert found == wanted, said
            assert seconds < 8
    finally:
        os.kill(program.process.pid, signal.SIGCONT)


@pytest.mark.parametrize("kind", ["python", "compiled"])
def test_a_question_ends_before_its_hook_does_and_the_trail_says_so(program: Program, kind: str) -> None:
    """Also one that waits behind another of its session, and so has not been shown."""
    person = program.sign_in()
    waiting = [program.pool.submit(fired, program, kind, "claude", f"make {each}", 9) for each in ("one", "two")]
    held = person.held(2)
    ends = [each["deadline"] for each in held if each["deadline"]]
    for each in waiting:
        found, said, seconds = each.result(60)
        assert (found, seconds < 9) == (probes.BLOCKED, True), said
        assert "no decision within" not in said
    assert ends
    answers = [json.loads(line) for line in (program.state / "audit/permissions.jsonl").read_text().splitlines()]
    ended = [each for each in answers if each["kind"] == "answer"]
    assert [(each["outcome"], each["code"]) for each in ended] == [("deny", "answer.expired")] * 2


@pytest.mark.parametrize("runtime", [each for each in settings.RUNTIMES if agents.load(each).limit])
def test_a_hook_of_a_program_with_a_limit_ends_before_it_whatever_its_words_say(runtime: str) -> None:
    adapter, known = agents.load(runtime), CAPABILITIES[runtime]
    assert known.longest == adapter.limit
    assert known.does["timeout"] in OPEN
    assert deadline_within(adapter.limit) <= adapter.limit - 10


def test_a_limit_that_lets_calls_run_is_known_to_the_adapter() -> None:
    """A program that blocks at its limit needs no cap of ours; one that goes on does."""
    for runtime, known in CAPABILITIES.items():
        if known.longest and known.does["timeout"] in OPEN:
            assert agents.load(runtime).limit == known.longest
