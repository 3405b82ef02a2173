"""If copies are required, no yes runs a call without a copy, however the yes is given."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from assent import Answer, Gate, Held, Said, Scope
from assent.api.embedded import ChannelSpec
from assent.api.gates import Session

REQUIRED = 'mode = "default"\n[undo]\nmax_files = 1\nrequired = true\n'
TOO_MANY = "these are more than 1 files"
ONE, TWO, BUILD = "rm b.txt", "rm b.txt c.txt", "make it"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder, state = tmp_path / "project", tmp_path / "state"
    folder.mkdir()
    state.mkdir(mode=0o700)
    (state / "config.toml").write_text(REQUIRED)
    for name in ("b.txt", "c.txt"):
        (folder / name).write_text("text\n")
    return folder


def gate_of(project: Path, channel: ChannelSpec = "nobody") -> Gate:
    return Gate(str(project), state=str(project.parent / "state"), channels=[channel], tools={"bash": "bash"})


def yes(held: Held) -> Answer:
    return Answer(Said.ALLOW, who="ann", channel="callback")


@pytest.mark.parametrize(("command", "runs"), [(ONE, True), (TWO, False)])
def test_a_yes_runs_only_what_is_copied(project: Path, command: str, runs: bool) -> None:
    with gate_of(project, yes) as gate:
        found = gate.guard_sync(gate.call("bash", {"command": command}))
    assert found.allowed is runs
    assert runs or "no copy can be kept" in found.message


@pytest.mark.parametrize(
    ("command", "says"), [(ONE, ("kept", None)), (TWO, ("no-copy", "these are more than 1 files"))]
)
def test_where_copies_are_not_required_a_yes_runs_and_the_trail_says_so(
    project: Path, command: str, says: tuple[str, str | None]
) -> None:
    state = project.parent / "state"
    (state / "config.toml").write_text(REQUIRED.replace("required = true", ""))
    with gate_of(project, yes) as gate:
        assert gate.guard_sync(gate.call("bash", {"command": command})).allowed
    answer = json.loads((state / "audit/permissions.jsonl").read_text().splitlines()[-1])
    assert (answer["kind"], answer["copy"], answer.get("no_copy")) == ("answer", *says)


@pytest.mark.parametrize(("command", "runs"), [(ONE, True), (TWO, False)])
def test_so_does_a_yes_to_a_paused_run(project: Path, command: str, runs: bool) -> None:
    with gate_of(project) as gate:
        call = gate.call("bash", {"command": command})
        approval = gate.request_approval(call)
        found = gate.resolve_approval(approval.id, call, allow=True, who="ann")
    assert found.allowed is runs
    assert runs or "no copy can be kept" in found.message


@pytest.mark.parametrize(("command", "runs"), [(ONE, True), (TWO, False)])
def test_so_does_a_rule_that_settles_an_open_question(project: Path, command: str, runs: bool) -> None:
    """A rule allows the call while its question is open. It is judged again when the answer to another is saved."""
    asyncio.run(settled(project, command, runs=runs))


async def settled(project: Path, command: str, *, runs: bool) -> None:
    shown: list[str] = []
    answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    state = project.parent / "state"
    trail = state / "audit/permissions.jsonl"

    async def ask(held: Held) -> Answer:
        shown.append(str(held.call.input["command"]))
        await answer
        if shown[-1] != BUILD:
            return yes(held)
        return Answer(Said.ALLOW, scope=Scope.SESSION, rules=held.suggestions[0].rules, who="ann", channel="callback")

    with gate_of(project, ask) as gate:
        session: Session = gate.session("s")
        building = asyncio.ensure_future(session.guard(session.call("bash", {"command": BUILD})))
        while not shown:
            await asyncio.sleep(0.01)
        deleting = asyncio.ensure_future(session.guard(session.call("bash", {"command": command})))
        while len(trail.read_text().splitlines()) < 2:
            await asyncio.sleep(0.01)
        (state / "config.toml").write_text('allow = ["bash(rm:*)"]\n' + REQUIRED)
        answer.set_result(None)
        assert (await building).allowed
        found = await deleting
    assert found.allowed is runs
    assert runs or "no copy can be kept" in found.message
