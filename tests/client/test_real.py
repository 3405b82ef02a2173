"""Both clients against a real server, for every agent program: the same answers, byte for byte."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from assent import agents
from assent.agents import probes
from assent.agents import settings as host_settings
from assent.agents.adapter import Rendered
from assent.hook import compiled_client, launcher
from tests.client.clients import Client, Fake, done, http, saying
from tests.client.conftest import built
from tests.examples import examples
from tests.server.program import Person, Program

ASKING = "make release"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    built()
    found = Program(tmp_path_factory.mktemp("real"))
    launcher.write(str(found.state))
    compiled_client.write(str(found.state))
    yield found
    found.stop()


@pytest.fixture(scope="module")
def person(program: Program) -> Person:
    return program.sign_in()


def words(program: Program, kind: str, runtime: str) -> tuple[str, ...]:
    found = launcher.launcher(str(program.state), runtime, socket=program.socket, deadline=60)
    if kind == "python":
        return found
    given = compiled_client.words(found, str(program.state))
    return (*given[: given.index("--cold")], "--cold", "/bin/false")  # it must be the server that answers


def answered(program: Program, kind: str, runtime: str, text: str, **environ: str) -> tuple[int, bytes, bytes]:
    variable = agents.load(runtime).variable
    ran = subprocess.run(
        words(program, kind, runtime),
        input=b"" if variable else text.encode(),
        capture_output=True,
        env={**program.environ, **({variable: text} if variable else {}), **environ},
        cwd=program.project,
        timeout=60,
    )
    return ran.returncode, ran.stdout, ran.stderr


@pytest.mark.parametrize("what", [probes.FORBIDDEN, probes.HARMLESS, "garbage"])
@pytest.mark.parametrize("runtime", host_settings.RUNTIMES)
def test_both_clients_give_every_program_the_same_answer(program: Program, runtime: str, what: str) -> None:
    folder = str(program.project)
    text = '{"tool' if what == "garbage" else json.dumps(probes.event(runtime, what, folder))
    found = [answered(program, kind, runtime, text, PWD=folder) for kind in ("python", "compiled")]
    assert found[0] == found[1]
    status, out, err = found[0]
    wanted = probes.ALLOWED if what == probes.HARMLESS else probes.BLOCKED
    assert probes.understood(runtime, Rendered(out.decode(), err.decode(), status)) == wanted


def test_the_compiled_client_waits_for_a_persons_answer(program: Program, person: Person) -> None:
    for said, expected in (("allow", "allow"), ("deny", "deny")):
        call = {"tool_name": "Bash", "tool_input": {"command": ASKING}}
        event = {"session_id": f"c-{said}", "cwd": str(program.project), "hook_event_name": "PreToolUse", **call}
        environ = {"CLAUDE_PROJECT_DIR": str(program.project), "CLAUDE_CODE_SESSION_ATTENDED": "0"}
        waiting = program.pool.submit(answered, program, "compiled", "claude", json.dumps(event), **environ)
        assert person.answer(person.held_in(f"c-{said}"), said).status == 200
        status, out, _ = waiting.result(30)
        assert (status, json.loads(out)["hookSpecificOutput"]["permissionDecision"]) == (0, expected)


@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(), value=st.binary(max_size=40).filter(lambda each: b"\0" not in each))
def test_every_text_and_every_variable_arrives_as_python_would_send_it(
    fast: Client, tmp_path: Path, text: str, value: bytes
) -> None:
    server = Fake(fast.socket, saying(http(done(b"x"))))
    try:
        try:
            payload = text.encode()
        except UnicodeEncodeError:
            return
        fast.run(payload, environ={b"HOME": b"/h", b"CLAUDE_X": value})
        body = server.bodies[0]
        assert body == {
            "payload": text,
            "environ": {"HOME": "/h", "CLAUDE_X": os.fsdecode(value)},
            "project": os.getcwd(),
            "deadline": 59,
        }
    finally:
        server.close()
