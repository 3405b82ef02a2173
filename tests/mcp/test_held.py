"""The proxy with a gate server: a call that asks is held until a person answers, and never runs without that."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.pipes import ALLOW, PATIENCE, Pipes, call, refused
from tests.server.program import Person, Program

Start = Callable[..., Pipes]


@pytest.fixture
def start(program: Program, tmp_path: Path) -> Iterator[Start]:
    yield from starter(program, tmp_path)


def starter(program: Program, folder: Path) -> Iterator[Start]:
    started: list[Pipes] = []

    def make(how: str = "plain", **more: Any) -> Pipes:
        options = ("--home", str(program.state), *more.pop("options", ()))
        started.append(Pipes(folder, how, options=options, **more))
        return started[-1]

    yield make
    for each in started:
        if each.process.poll() is None:
            each.process.kill()
        each.process.wait(10)


def eventually(holds: Callable[[], object], seconds: float = PATIENCE) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if holds():
            return True
        time.sleep(0.02)
    return False


def test_a_call_that_asks_is_held_and_runs_once_it_is_approved(program: Program, person: Person, start: Start) -> None:
    proxy = start()
    proxy.send(call(1, "ask", text="hello"))
    question = person.held()[0]
    assert question["call"]["tool"] == "mcp__srv__ask"
    assert question["call"]["input"] == {"text": "hello"}
    assert proxy.nothing()
    assert proxy.came() == []
    assert person.answer(question).status == 200
    assert proxy.get()["result"]["echo"] == {"name": "ask", "arguments": {"text": "hello"}}
    assert proxy.came() == [call(1, "ask", text="hello")]


@pytest.mark.parametrize("said", ["deny", "stop"])
def test_a_call_that_a_person_denies_does_not_run_and_the_model_reads_what_they_said(
    person: Person, start: Start, said: str
) -> None:
    proxy = start()
    proxy.send(call(1, "ask"))
    person.answer(person.held()[0], said, message="ask the owner first")
    assert "ask the owner first" in refused(proxy.get())
    assert proxy.came() == []


def test_settled_calls_are_answered_while_another_is_held(person: Person, start: Start) -> None:
    proxy = start()
    proxy.send(call(1, "ask"))
    question = person.held()[0]
    assert "result" in proxy.ask(call(2))
    refused(proxy.ask(call(3, "no")))
    person.answer(question, "deny")
    refused(proxy.get())
    assert [each["id"] for each in proxy.came()] == [2]


def test_an_answer_for_the_session_settles_the_next_call(person: Person, start: Start) -> None:
    proxy = start()
    proxy.send(call(1, "ask", text="a"))
    question = person.held()[0]
    assert person.answer(question, scope="session", rules=["mcp__srv__ask"]).status == 200
    assert "result" in proxy.get()
    assert "isError" not in proxy.ask(call(2, "ask", text="b"))["result"]


def test_a_cancelled_call_takes_its_question_back_and_is_not_answered(
    program: Program, person: Person, start: Start
) -> None:
    proxy = start()
    proxy.send(call("x", "ask"))
    question = person.held()[0]
    proxy.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "x"}})
    assert eventually(lambda: program.held_now() == 0)
    assert person.answer(question).json.get("counted") is not True
    assert proxy.nothing()
    assert "result" in proxy.ask(call("x"))
    assert [each["params"]["name"] for each in proxy.came()] == ["ok"]


def test_a_call_cancelled_at_once_leaves_no_question(program: Program, start: Start) -> None:
    proxy = start()
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    proxy.send(call(1, "ask"), cancel)
    assert "result" in proxy.ask(call(2))
    assert eventually(lambda: program.held_now() == 0)
    time.sleep(0.3)
    assert program.held_now() == 0
    assert [each["id"] for each in proxy.came()] == [2]


def test_a_cancelled_call_of_a_batch_lets_the_others_be_answered(person: Person, start: Start) -> None:
    proxy = start()
    proxy.send([call(1, "ask"), call(2)])
    person.held()
    assert proxy.nothing()
    proxy.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    assert [each["id"] for each in proxy.get()] == [2]


def test_a_client_that_hangs_up_takes_its_questions_back(program: Program, person: Person, start: Start) -> None:
    proxy = start()
    proxy.send(call(1, "ask"), call(2, "ask"))
    person.held(2)
    assert proxy.end() == 0
    assert eventually(lambda: program.held_now() == 0)
    assert proxy.came() == []


def test_a_server_that_ends_takes_the_questions_about_it_back(program: Program, person: Person, start: Start) -> None:
    proxy = start("leaving")
    proxy.send(call(1, "ask"))
    person.held()
    proxy.send(call(2))
    assert {proxy.get()["id"], proxy.get()["id"]} == {1, 2}
    assert proxy.process.wait(PATIENCE) == 7
    assert eventually(lambda: program.held_now() == 0)


def test_a_hundred_calls_at_once_each_get_their_own_answer(person: Person, start: Start, program: Program) -> None:
    proxy = start()
    tools = ["ok", "no", "ask", "echo"] * 25
    proxy.send(*(call(number, tool, number=number) for number, tool in enumerate(tools)))
    answered: dict[int, Any] = {}
    while len(answered) < 75:
        answer = proxy.get()
        answered[answer["id"]] = answer
    assert {tools[each] for each in answered} == {"ok", "no", "echo"}
    for question in person.held(25):
        said = "allow" if question["call"]["input"]["number"] % 8 == 2 else "deny"
        assert person.answer(question, said).status == 200
    while len(answered) < 100:
        answer = proxy.get()
        answered[answer["id"]] = answer
    ran = {each["id"] for each in proxy.came()}
    assert ran == {number for number, tool in enumerate(tools) if tool in ("ok", "echo") or number % 8 == 2}
    for number, answer in answered.items():
        if number in ran:
            assert answer["result"]["echo"] == {"name": tools[number], "arguments": {"number": number}}
        else:
            refused(answer)


def test_an_argument_larger_than_the_gate_takes_is_refused(start: Start) -> None:
    proxy = start()
    assert "larger than" in refused(proxy.ask(call(1, "ok", text="x" * (9 * 1024 * 1024))))
    assert proxy.came() == []


# ---------------------------------------------------------------- a gate server that goes


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Program]:
    found = Program(tmp_path, config=ALLOW)
    yield found
    found.stop()


@pytest.fixture
def start_own(own: Program, tmp_path: Path) -> Iterator[Start]:
    yield from starter(own, tmp_path)


def test_a_killed_gate_server_does_not_let_a_held_call_run_and_the_next_one_answers(
    own: Program, start_own: Start
) -> None:
    proxy = start_own()
    person = own.sign_in()
    proxy.send(call(1, "ask"))
    person.held()
    own.stop(signal.SIGKILL)
    assert proxy.nothing(1)
    assert proxy.came() == []
    own.start()
    person = own.sign_in()
    assert eventually(lambda: person.answer(person.held()[0]).json.get("counted"))
    assert "result" in proxy.get()


def test_without_a_gate_server_the_proxy_decides_by_itself(own: Program, start_own: Start) -> None:
    proxy = start_own()
    own.stop(signal.SIGKILL)
    try:
        assert "[headless.ask]" in refused(proxy.ask(call(1, "ask")))
        refused(proxy.ask(call(2, "no")))
        assert "result" in proxy.ask(call(3))
    finally:
        own.start()
    assert [each["id"] for each in proxy.came()] == [3]


def test_a_gate_server_whose_policy_breaks_refuses(own: Program, start_own: Start) -> None:
    proxy = start_own()
    proxy.child()
    (own.state / "config.toml").write_text("allow = [")
    assert "does not load" in refused(proxy.ask(call(1)))
    assert proxy.came() == []


def test_the_answers_stand_in_the_trail(own: Program, start_own: Start) -> None:
    proxy = start_own()
    person = own.sign_in()
    proxy.send(call(1, "ask"))
    person.answer(person.held()[0])
    proxy.get()
    lines = (own.state / "audit/permissions.jsonl").read_text().splitlines()
    found = [(each["kind"], each["outcome"]) for each in map(json.loads, lines) if "outcome" in each]
    assert found == [("decision", "ask"), ("answer", "allow")]
