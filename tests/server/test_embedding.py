"""Programs that embed Assent, beside a running server: their gate is the server's, or only their questions are."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from pathlib import Path

import pytest

from assent import Call, Gate, Outcome, StoreError, Tool, Verdict
from tests.server.program import Person, Program

LIST = Call("bash", {"command": "ls"})
WIPE = Call("bash", {"command": "rm -rf ~"})


def make(target: str) -> Call:
    return Call("bash", {"command": f"make {target}"})


@pytest.fixture
def connected(program: Program) -> Gate:
    return opened(program)


def opened(program: Program) -> Gate:
    gate = Gate.connect(str(program.project), state=str(program.state))
    gate.declare("bash", Tool(like="bash"))
    return gate


def test_a_connected_gate_decides_as_the_server_does(connected: Gate) -> None:
    found = [connected.decide(each).outcome for each in (LIST, make("x"), WIPE)]
    assert found == [Outcome.ALLOW, Outcome.ASK, Outcome.DENY]
    assert [connected.guard_sync(each).allowed for each in (LIST, WIPE)] == [True, False]


@pytest.mark.parametrize("said", ["allow", "deny"])
def test_a_person_answers_a_connected_gate(connected: Gate, program: Program, person: Person, said: str) -> None:
    waiting: Future[Verdict] = program.pool.submit(connected.guard_sync, make("one"))
    person.answer(person.held_in(connected.id), said, message="so be it")
    verdict = waiting.result(20)
    assert verdict.allowed is (said == "allow")
    assert verdict.allowed or "so be it" in verdict.message


def test_a_cancelled_call_takes_its_question_back(connected: Gate, program: Program, person: Person) -> None:
    session = connected.session()

    async def work() -> None:
        task = asyncio.create_task(session.guard(make("cancelled")))
        await asyncio.to_thread(person.held_in, session.id)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(work())
    assert [each for each in person.ask("GET", "/v1/held").json["held"] if each["call"]["session"] == session.id] == []


def test_without_a_server_there_is_nothing_to_connect_to(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="assent serve"):
        Gate.connect(state=str(tmp_path))


def test_a_server_that_is_gone_denies(tmp_path: Path) -> None:
    program = Program(tmp_path)
    gate = opened(program)
    assert gate.guard_sync(LIST).allowed
    path = Path(program.socket)
    program.stop()
    path.touch()
    assert not gate.guard_sync(LIST).allowed
    assert gate.decide(LIST).outcome is Outcome.DENY


# A gate of its own, whose questions are asked on the server's pages


@pytest.fixture
def own(program: Program) -> Gate:
    state, ask = str(program.state), ["bash(echo:*)", "bash(make:*)"]
    return Gate(str(program.project), files=False, mode="auto", ask=ask, state=state, channels=["server"])


@pytest.mark.parametrize("said", ["allow", "deny", "stop"])
@pytest.mark.parametrize("command", ["make two", "echo what the server itself would let pass"])
def test_questions_go_to_the_servers_pages(
    own: Gate, program: Program, person: Person, said: str, command: str
) -> None:
    waiting: Future[Verdict] = program.pool.submit(own.guard_sync, Call("bash", {"command": command}))
    person.answer(person.held_in(own.id), said, message="so be it")
    verdict = waiting.result(20)
    assert (verdict.allowed, verdict.stop) == (said == "allow", said == "stop")
    answer = verdict.resolution.answer if verdict.resolution is not None else None
    assert answer is not None
    assert answer.who


def test_what_the_server_denies_is_denied(program: Program) -> None:
    state = str(program.state)
    strict = program.state / "config.toml"
    gate = Gate(str(program.project), files=False, ask=["bash(echo:*)"], state=state, channels=["server"])
    strict.write_text('deny = ["bash(echo:*)"]\n')
    try:
        assert not gate.guard_sync(Call("bash", {"command": "echo x"})).allowed
    finally:
        strict.unlink()


def test_without_a_server_nobody_sees_the_question(tmp_path: Path) -> None:
    gate = Gate(str(tmp_path), files=False, state=str(tmp_path / "state"), channels=["server"])
    verdict = gate.guard_sync(make("x"))
    assert not verdict.allowed
    assert verdict.unseen
