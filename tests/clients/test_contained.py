"""A script that an agent wrote runs contained in the real agent programs: its output reaches the model, closed files
stay closed, and the same call again asks a person and after a yes runs outside once."""

from __future__ import annotations

import json
import re
import shutil
import socket
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.contained.scene import PLACES, RUNS, TOOL

from .claude import Claude
from .client import Client, Run
from .codex import Codex, CodexCode
from .copilot import Copilot
from .gate import Gate, answering, serving
from .model import Call, Say, Step, Turn, Use
from .observed import DONE
from .opencode import Opencode
from .programs import Programs
from .sandbox import Sandbox

POLICY = """
mode = "auto"
allow = ["agent"]
[contain]
on = true
"""
CLIENTS = [Claude, Codex, CodexCode, Copilot, Opencode]
KEY = "id_ed25519"


@pytest.fixture(params=CLIENTS, ids=lambda kind: str(kind.name))
def rewriting(request: pytest.FixtureRequest, installed: Programs) -> Client:
    made: Client = request.param(installed)
    return made


def prepared(place: Sandbox, status: int, port: int = 9) -> None:
    """The person's key, and a plan for the tool that the agent writes."""
    place.contains = True
    key = place.home / ".ssh" / KEY
    key.parent.mkdir()
    key.write_text("a key")
    plan = {"look": str(key.parent), "host": "127.0.0.1", "port": port, "status": status}
    (place.project / "plan.json").write_text(json.dumps(plan))


def wrote(client: Client, place: Sandbox) -> list[Step]:
    """The turns in which the agent writes its tool. Codex gives an unknown model no tool to write with."""
    files = {"places.py": PLACES, "tool.py": TOOL}
    if client.name == "codex":
        return [Use(client.shell(f"cat > {name} <<'EOF'\n{text}EOF\n")) for name, text in files.items()]
    return [Use(client.write(place.project / name, text)) for name, text in files.items()]


def go(client: Client, place: Sandbox, *script: Step, **more: Any) -> Run:
    loose = () if client.name == "claude" else client.loose
    return client.run(place, [*script, DONE], args=loose, patience=90, deadline=240, **more)


def codes(gate: Gate) -> list[str]:
    ran = [each for each in gate.records("decision") if each.get("input", {}).get("command", "").startswith(RUNS)]
    return [each["code"] for each in ran]


def test_a_script_runs_contained_and_again_outside_once_after_a_person_said_so(
    rewriting: Client, place: Sandbox
) -> None:
    listening = place.network.inside(lambda: socket.create_server(("127.0.0.1", 0)))
    prepared(place, 3, listening.getsockname()[1])
    gate = Gate(place, POLICY)
    gate.install(rewriting)

    asked: list[dict[str, Any]] = []

    def answer(question: dict[str, Any]) -> dict[str, Any]:
        asked.append(question)
        return {"said": "allow" if len(asked) == 1 else "deny"}

    again = [Use(rewriting.shell(RUNS)) for _ in range(3)]
    with listening, serving(gate) as server, answering(server, answer):
        run = go(rewriting, place, *wrote(rewriting, place), *again)
    assert len(run.told) >= 5, run.told
    inside, outside, refused = run.told[-3:]
    assert "hello from the tool" in inside, run.told
    assert "looked: failed" in inside
    assert "reached: failed" in inside
    assert KEY not in inside
    assert KEY in outside, run.told
    assert "reached: <socket" in outside
    assert "hello from the tool" not in refused
    assert run.changed["made.txt"] == "made"
    assert codes(gate) == ["contain.allowed", "contain.failed", "contain.failed"]
    assert ["failed with exit status 3" in json.dumps(each) for each in asked] == [True, True]


def test_nobody_has_to_be_there_and_nothing_is_told_where_it_went_well(rewriting: Client, place: Sandbox) -> None:
    prepared(place, 0)
    gate = Gate(place, POLICY)
    gate.install(rewriting)
    run = go(rewriting, place, *wrote(rewriting, place), Use(rewriting.shell(RUNS)))
    assert "looked: failed" in run.told[-1], run.told
    assert "This call ran contained" not in json.dumps(run.told)
    assert codes(gate) == ["contain.allowed"]


def test_a_sub_agent_s_script_is_contained_too(rewriting: Client, place: Sandbox) -> None:
    prepared(place, 0)
    gate = Gate(place, POLICY)
    gate.install(rewriting)
    (place.project / "places.py").write_text(PLACES)
    (place.project / "tool.py").write_text(TOOL)
    sub = [Use(rewriting.shell(RUNS)), rewriting.report("did it")]
    run = go(rewriting, place, *rewriting.delegate(), sub=sub)
    assert "looked: failed" in json.dumps(run.told_sub), (run.told, run.told_sub)
    assert codes(gate) == ["contain.allowed"]


def test_where_nothing_can_be_contained_it_is_asked_about(rewriting: Client, place: Sandbox) -> None:
    """Bubblewrap is missing: never a bare run."""
    prepared(place, 0)
    place.contains = False
    gate = Gate(place, POLICY)
    gate.install(rewriting)
    run = go(rewriting, place, *wrote(rewriting, place), Use(rewriting.shell(RUNS)), Say("done"))
    assert "hello from the tool" not in json.dumps(run.told)
    assert codes(gate) == ["headless.ask"]


def test_in_codex_s_own_sandbox_nothing_runs_contained_and_the_question_says_so(installed: Programs) -> None:
    """The runner cannot claim its ticket there: the first call fails, and from then on it is asked as before."""
    folder = Path(tempfile.mkdtemp(prefix="assent-", dir=Path.home()))  # its helper program is not put below /tmp
    place, client = Sandbox(folder / "place"), Codex(installed)
    try:
        prepared(place, 0)
        gate = Gate(place, POLICY)
        gate.install(client)
        (place.project / "places.py").write_text(PLACES)
        (place.project / "tool.py").write_text(TOOL)

        def later(results: Sequence[str]) -> Turn:
            time.sleep(1.2)  # as long as a model thinks
            return Use(client.shell(f"{RUNS} again"))

        script: list[Step] = [Use(client.shell(RUNS)), later, DONE]
        run = client.run(place, script, args=("--sandbox", "workspace-write"), patience=90, deadline=240)
        found, events = codes(gate), [each["code"] for each in gate.records("event")]
    finally:
        place.close()
        shutil.rmtree(folder)
    assert "the command was not run: Assent's folder cannot be written here" in run.told[0], run.told
    assert "in a sandbox of its own" in run.told[1]
    assert "hello from the tool" not in json.dumps(run.told)
    assert (found, events) == (["contain.allowed", "headless.ask"], ["contain.untaken"])


def test_what_is_typed_into_a_contained_command_of_codex_stays_inside(place: Sandbox, installed: Programs) -> None:
    """Codex fires no hook for what is typed into a command that runs."""
    client, gate = Codex(installed), Gate(place, POLICY)
    prepared(place, 0)
    gate.install(client)
    (place.project / "places.py").write_text(PLACES)
    (place.project / "tool.py").write_text('import places\nwhile True:\n    print("looked:", places.look(input()))\n')

    def typed(results: Sequence[str]) -> Turn:
        found = re.search(r"session ID (\d+)", results[-1])
        assert found is not None, results
        text = f"{place.home}/.ssh\n"
        return Use(Call("write_stdin", {"session_id": int(found[1]), "chars": text, "yield_time_ms": 3000}))

    begins = Call("exec_command", {"cmd": RUNS, "tty": True, "yield_time_ms": 3000})
    run = go(client, place, Use(begins), typed)
    assert "looked: failed" in run.told[-1], run.told
    assert KEY not in json.dumps(run.told)
    assert codes(gate) == ["contain.allowed"]
