"""Many sessions and many gates in one process: calls stay as quick, files stay few, and what is old goes."""

from __future__ import annotations

import os
import time
import tracemalloc
from pathlib import Path

import pytest

from assent import Answer, Call, Gate, Outcome, Said
from assent.engine import cache as gates_module
from assent.engine.cache import EngineCache
from assent.state import sessions

LIST = Call("bash", {"command": "ls"})
MAKE = Call("bash", {"command": "make test"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path


@pytest.mark.slow
def test_two_thousand_sessions_cost_no_more_each(folder: Path) -> None:
    with Gate(
        str(folder / "project"), files=False, state=str(folder / "state"), channels=["nobody"], tools={"bash": "bash"}
    ) as gate:
        every = [gate.session(f"user-{number}") for number in range(2_000)]

        def seconds(some: list[object]) -> float:
            started = time.thread_time()
            assert all(each.decide(LIST).outcome is Outcome.ALLOW for each in every[: len(some)])
            return time.thread_time() - started

        seconds([None] * 100)
        few = min(seconds([None] * 100) for _ in range(3)) / 100
        assert seconds([None] * 2_000) / 2_000 < few * 5 + 0.002
        assert every[0].decide(LIST).outcome is Outcome.ALLOW
    assert not (folder / "state/sessions").exists()


def test_sessions_beyond_those_that_are_remembered_share_the_gate_all_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gates_module, "MOST_VIEWS", 8)
    project = str(folder / "project")
    for text in (None, 'deny = ["bash(rm:*)"]\n'):
        if text is not None:
            (folder / "project/.assent.toml").write_text(text)
            time.sleep(0.1)
        gates = EngineCache({"HOME": str(folder), "ASSENT_HOME": str(folder / f"state{text is None}")})
        for _ in range(3):
            for number in range(24):
                gates.find(project, f"s{number}")
        assert gates.loads == 1


def test_the_gates_of_a_process_share_what_they_hold_open(folder: Path) -> None:
    def opened() -> Gate:
        asks = [lambda held: Answer(Said.ALLOW, who="ada")]
        gate = Gate(
            str(folder / "project"), files=False, state=str(folder / "state"), channels=asks, tools={"bash": "bash"}
        )
        assert gate.guard_sync(MAKE).allowed is True
        return gate

    before = len(os.listdir("/proc/self/fd"))
    first = opened()
    held = len(os.listdir("/proc/self/fd"))
    others = [opened() for _ in range(20)]
    assert len(os.listdir("/proc/self/fd")) <= held + 1
    first.close()
    assert others[0].guard_sync(MAKE).allowed is True  # closing one leaves the others what they use
    for each in others:
        each.close()
    for _ in range(100):
        if len(os.listdir("/proc/self/fd")) <= before:
            break
        time.sleep(0.05)
    assert len(os.listdir("/proc/self/fd")) <= before


def test_what_sessions_left_goes_after_a_month_without_use(folder: Path) -> None:
    state, now = str(folder / "state"), time.time()
    for session in ("old", "used"):
        sessions.pinned(state, session, "/project", "deny = []")
        sessions.choose_mode(state, session, "plan")
    old = now - sessions.KEPT - 60
    files = [each for each in (folder / "state/sessions").iterdir() if each.name != sessions.MARKER]
    for each in files:
        os.utime(each, (old, old))
    assert sessions.chosen_mode(state, "used") == "plan"  # which counts as use
    assert sessions.sweep(state, now) == 0  # today it was swept already
    assert sessions.sweep(state, now + sessions.DAY + 1) == 3
    assert (sessions.chosen_mode(state, "used"), sessions.chosen_mode(state, "old")) == ("plan", "")


@pytest.mark.slow
def test_gates_with_equal_rules_share_what_was_made_of_them(folder: Path) -> None:
    def gate(number: int, deny: str) -> Gate:
        state = str(folder / f"s{number}")
        return Gate(str(folder / "project"), files=False, state=state, deny=[deny], tools={"bash": "bash"})

    def decided(gate: Gate, command: str) -> Outcome:
        return gate.decide(gate.call("bash", {"command": command})).outcome

    with gate(0, "bash(make:*)") as one, gate(1, "bash(make:*)") as two, gate(2, "bash(ls:*)") as other:
        assert [decided(each, "make test") for each in (one, two, other)] == [Outcome.DENY, Outcome.DENY, Outcome.ASK]
        assert [decided(each, "ls") for each in (one, two, other)] == [Outcome.ALLOW, Outcome.ALLOW, Outcome.DENY]
        tracemalloc.start()
        try:
            many = [gate(3 + number, "bash(make:*)") for number in range(20)]
            assert {decided(each, "make test") for each in many} == {Outcome.DENY}
            size = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
        for each in many:
            each.close()
    assert size / len(many) < 100_000
