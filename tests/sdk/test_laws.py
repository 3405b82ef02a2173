"""What holds for the adapter of every framework."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from assent import Gate
from assent.approval.store import SqliteStore
from assent.trail import query

from .acp_host import ACP
from .adk_host import GoogleADK
from .claude_host import Claude, ClaudePermission
from .kit import ALLOWED, ASKED, ASKED_TOO, DENIED, WRITES, Host, Person, Use, no, opened
from .langchain_host import LangChain, LangChainSync
from .mcp_host import MCP, FastMCP
from .openai_host import OpenAIAgents
from .openharness_host import OpenHarness
from .pydantic_host import PydanticAI

HOSTS: list[Host] = [
    *(Claude(), ClaudePermission(), OpenAIAgents(), LangChain(), LangChainSync(), PydanticAI()),
    *(MCP(), FastMCP(), GoogleADK(), OpenHarness(), ACP()),
]
ONCE = [[Use(ASKED)]]
Opens = Callable[..., Gate]


@pytest.fixture(params=HOSTS, ids=lambda host: host.name)
def host(request: pytest.FixtureRequest) -> Host:
    found: Host = request.param
    return found


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Opens]:
    gates: list[Gate] = []

    def make(person: Person | None = None, **given: Any) -> Gate:
        gates.append(opened(tmp_path, **{**({"channels": [person]} if person else {}), **given}))
        return gates[-1]

    yield make
    for each in gates:
        each.close()


@pytest.mark.parametrize("command", [ALLOWED, WRITES])
def test_what_is_allowed_runs(host: Host, gate: Opens, command: str) -> None:
    ran = asyncio.run(host.run(gate(), [[Use(command)]]))
    assert (ran.commands, ran.told["call_1"]) == ([command], f"ran {command}")


def test_what_is_denied_does_not_run_and_the_model_gets_the_reason(host: Host, gate: Opens) -> None:
    ran = asyncio.run(host.run(gate(), [[Use(DENIED)]]))
    assert ran.commands == []
    assert gate().decide(gate().call("bash", {"command": DENIED})).reason in ran.told["call_1"]


def test_what_is_approved_after_a_wait_runs(host: Host, gate: Opens) -> None:
    person = Person({ASKED: True}, after=0.3)
    ran = asyncio.run(host.run(gate(person), ONCE))
    assert (ran.commands, ran.told["call_1"], person.asked) == ([ASKED], f"ran {ASKED}", [ASKED])


def test_what_a_person_denies_does_not_run_and_the_model_gets_the_message(host: Host, gate: Opens) -> None:
    ran = asyncio.run(host.run(gate(Person({ASKED: no("use the other target")})), ONCE))
    assert ran.commands == []
    assert "use the other target" in ran.told["call_1"]


def test_where_nobody_can_be_asked_nothing_runs(host: Host, gate: Opens) -> None:
    ran = asyncio.run(host.run(gate(), ONCE))
    assert ran.commands == []
    assert ran.told["call_1"]


def test_a_policy_that_breaks_stops_everything(host: Host, gate: Opens, tmp_path: Path) -> None:
    opened_gate = gate(files=True)
    (tmp_path / "project/.assent.toml").write_text("deny = [")
    ran = asyncio.run(host.run(opened_gate, [[Use(ALLOWED)]]))
    assert ran.commands == []
    assert "policy" in ran.told["call_1"]


def test_a_channel_that_raises_stops_the_call(host: Host, gate: Opens) -> None:
    person = Person()
    person.fault = RuntimeError("the pager is on fire")
    ran = asyncio.run(host.run(gate(person), ONCE))
    assert (ran.commands, person.asked) == ([], [ASKED])
    assert ran.told["call_1"]


@pytest.mark.parametrize("command", [WRITES, ASKED])
def test_what_cannot_be_recorded_does_not_run(host: Host, gate: Opens, tmp_path: Path, command: str) -> None:
    opened_gate = gate(Person({ASKED: True}), state=str(tmp_path / "file"))
    (tmp_path / "file").write_text("no folder")
    ran = asyncio.run(host.run(opened_gate, [[Use(command)]]))
    assert ran.commands == []
    assert ran.told["call_1"]


def test_a_session_that_cannot_be_had_stops_the_call(host: Host) -> None:
    def missing() -> Any:
        raise LookupError("no session in this run")

    ran = asyncio.run(host.run(missing, [[Use(ALLOWED)]]))
    assert ran.commands == []
    assert "no session in this run" in ran.told["call_1"]


def test_every_run_can_have_its_own_session(host: Host, gate: Opens, tmp_path: Path) -> None:
    opened_gate = gate()
    sessions = [opened_gate.session(), opened_gate.session()]
    for each in sessions:
        asyncio.run(host.run(lambda each=each: each, [[Use(ALLOWED)]]))  # type: ignore[misc]
    assert _sessions(tmp_path) == [each.id for each in sessions]


def test_a_cancelled_run_leaves_nothing_pending(host: Host, gate: Opens, tmp_path: Path) -> None:
    if host.name == "langchain-sync":
        pytest.skip("a thread cannot be cancelled")
    person = Person()
    opened_gate = gate(person)

    async def cancelled() -> None:
        run = asyncio.create_task(host.run(opened_gate, ONCE))
        await asyncio.wait_for(person.shown.wait(), 10)
        run.cancel()
        with suppress(asyncio.CancelledError):
            await run
        for _ in range(100):
            if not _pending(opened_gate) and not person.at_once:
                return
            await asyncio.sleep(0.02)

    asyncio.run(cancelled())
    assert (_pending(opened_gate), person.at_once, _kept(tmp_path)) == ([], 0, 0)


def test_two_calls_of_one_turn_queue_and_each_gets_its_own_answer(host: Host, gate: Opens) -> None:
    person = Person({ASKED: no("not this one"), ASKED_TOO: True}, after=0.1)
    ran = asyncio.run(host.run(gate(person), [[Use(ASKED, "a"), Use(ASKED_TOO, "b")]]))
    assert (ran.commands, sorted(person.asked), person.most) == ([ASKED_TOO], [ASKED, ASKED_TOO], 1)
    assert "not this one" in ran.told["a"]
    assert ran.told["b"] == f"ran {ASKED_TOO}"


def test_the_tools_of_an_agent_within_are_gated(host: Host, gate: Opens) -> None:
    person = Person({ASKED: True, ASKED_TOO: no("not within")})
    turns = [[Use(ASKED, "a")], [Use(ASKED_TOO, "b")], [Use(DENIED, "c")]]
    ran = asyncio.run(host.run(gate(person), turns, nested=True))
    assert (ran.commands, person.asked) == ([ASKED], [ASKED, ASKED_TOO])
    assert "not within" in ran.told["b"]


def test_the_arguments_that_run_are_the_ones_that_were_judged(host: Host, gate: Opens) -> None:
    if not host.rewrites:
        pytest.skip("nothing in this framework can change them")
    ran = asyncio.run(host.run(gate(), [[Use(ALLOWED)]], rewrite=lambda _: DENIED))
    assert ran.commands == []
    ran = asyncio.run(host.run(gate(), [[Use(ALLOWED)]], rewrite=lambda _: "ls"))
    assert ran.commands == ["ls"]


def test_an_approval_is_for_one_run_whatever_its_call_ids(host: Host, gate: Opens) -> None:
    person = Person({ASKED: True})
    opened_gate = gate(person)
    first = asyncio.run(host.run(opened_gate, ONCE))
    person.answers = {ASKED: no("not again")}
    second = asyncio.run(host.run(opened_gate, ONCE))
    assert (first.commands, second.commands, person.asked) == ([ASKED], [], [ASKED, ASKED])
    assert "not again" in second.told["call_1"]


def _pending(gate: Gate) -> list[Any]:
    asking = gate._embedded()._gate
    return list(asking.broker.pending()) if asking is not None else []


def _kept(folder: Path) -> int:
    store = SqliteStore(str(folder / "state/held.db"))
    try:
        return len(store)
    finally:
        asyncio.run(store.close())


def _sessions(folder: Path) -> list[str]:
    return [str(each.fields["session"]) for each in query.read(str(folder / "state/audit"))]
