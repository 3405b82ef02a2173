"""The whole path of a call that may need a person: gate, grants, broker, store and trail as they really are."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from assent.approval.channels import Offering
from assent.approval.channels.callback import CallbackChannel
from assent.approval.store import SqliteStore
from assent.contract import Call
from assent.contract.approval import Answer, Ending, Grant, Held, Said, Scope, Verdict
from assent.engine import configure
from assent.engine.engine import Engine, Request
from assent.engine.memory import Memory
from assent.gate import CallGate
from assent.state import sessions
from assent.trail.verify import verify
from tests.broker.memory_store import MemoryStore

Asked = Callable[[Held], Answer | Awaitable[Answer | None] | None]
YES, NO = Answer(Said.ALLOW, who="ann"), Answer(Said.DENY, who="ann")


class World:
    """A project, a state folder and a gate, with somebody who answers."""

    def __init__(self, folder: Path, asked: Asked, *, rules: str = "") -> None:
        self.project = folder / "project"
        self.project.mkdir(exist_ok=True)
        self.state = folder / "state"
        self.state.mkdir(exist_ok=True)
        (self.state / "config.toml").write_text(rules)
        self.environ = {"HOME": str(folder), "ASSENT_HOME": str(self.state)}
        self.shown: list[Held] = []
        self.asked = asked

    def gate(self) -> Engine:
        here = configure.place(str(self.project), self.environ)
        return configure.open_gate(here, self.environ)[0]

    def call(self, command: str, session: str = "s1") -> Call:
        root = str(self.project)
        return Call("bash", {"command": command}, cwd=root, roots=(root,), home=self.environ["HOME"], session=session)

    def answer(self, held: Held) -> Answer | Awaitable[Answer | None] | None:
        self.shown.append(held)
        return self.asked(held)

    async def guard(self, *calls: Call, cancel_after: float = 0.0) -> list[Verdict]:
        """All the calls at once through one gate; nothing may be left of them after."""
        store = SqliteStore(str(self.state / "held.db"))
        gate = CallGate(Memory(str(self.state)), store, lambda held: self.gate())
        gate.broker.attach(CallbackChannel(self.answer))
        try:
            tasks = [asyncio.create_task(gate.guard(Request(self.gate(), each, str(self.project)))) for each in calls]
            if cancel_after:
                await asyncio.sleep(cancel_after)
                for task in tasks:
                    task.cancel()
            found = await asyncio.gather(*tasks, return_exceptions=True)
            assert gate.broker.pending() == ()
            return [each for each in found if isinstance(each, Verdict)]
        finally:
            await gate.broker.close()
            await store.close()

    def run(self, *calls: Call, cancel_after: float = 0.0) -> list[Verdict]:
        return asyncio.run(self.guard(*calls, cancel_after=cancel_after))

    def records(self) -> list[dict[str, object]]:
        text = (self.state / "audit" / "permissions.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]

    def trail_is_whole(self) -> bool:
        return verify(str(self.state / "audit")).fault is None


def test_what_is_settled_asks_nobody_and_is_recorded(tmp_path: Path) -> None:
    world = World(tmp_path, lambda held: NO)
    allowed, denied = world.run(world.call("git status"), world.call("rm -rf /"))
    assert (allowed.allowed, denied.allowed, world.shown) == (True, False, [])
    assert sorted(str(each["outcome"]) for each in world.records()) == ["allow", "deny"]
    assert world.trail_is_whole()


def test_a_question_and_its_answer_are_two_records_with_one_id(tmp_path: Path) -> None:
    world = World(tmp_path, lambda held: YES)
    [verdict] = world.run(world.call("npm test"))
    question, answer = world.records()
    assert verdict.allowed
    assert question["id"] == answer["id"] == verdict.id
    assert (question["outcome"], answer["outcome"], answer["who"], answer["channel"]) == (
        "ask",
        "allow",
        "ann",
        "callback",
    )


@pytest.mark.parametrize("answer", [None, NO, Answer(Said.STOP)])
def test_no_answer_but_a_yes_lets_a_call_run(tmp_path: Path, answer: Answer | None) -> None:
    world = World(tmp_path, lambda held: answer)
    [verdict] = world.run(world.call("npm test"))
    assert not verdict.allowed
    assert verdict.stop == (answer is not None and answer.said is Said.STOP)


def test_a_denial_tells_the_agent_what_the_person_wrote(tmp_path: Path) -> None:
    world = World(tmp_path, lambda held: Answer(Said.DENY, message="use the staging host"))
    [verdict] = world.run(world.call("./deploy.sh"))
    assert "use the staging host" in verdict.message


def test_an_answer_for_the_session_is_for_that_session_alone(tmp_path: Path) -> None:
    yes = Answer(Said.ALLOW, scope=Scope.SESSION, rules=("bash(npm test)",))
    world = World(tmp_path, lambda held: yes)
    for session in ("s1", "s1", "s2"):
        assert [each.allowed for each in world.run(world.call("npm test", session))] == [True]
    assert [held.call.session for held in world.shown] == ["s1", "s2"]


def test_a_waiting_sibling_that_a_new_grant_settles_is_not_asked(tmp_path: Path) -> None:
    yes = Answer(Said.ALLOW, scope=Scope.SESSION, rules=("bash(npm test)",))
    world = World(tmp_path, lambda held: yes)
    found = world.run(world.call("npm test"), world.call("npm test"), world.call("npm test"))
    assert ([each.allowed for each in found], len(world.shown)) == ([True] * 3, 1)
    assert sorted(each.resolution.ending.value for each in found if each.resolution is not None) == [
        "answered",
        "settled",
        "settled",
    ]


def test_a_rule_that_is_too_broad_is_not_remembered_and_the_answer_counts_once(tmp_path: Path) -> None:
    world = World(tmp_path, lambda held: Answer(Said.ALLOW, scope=Scope.SESSION, rules=("bash(*)",)))
    assert [each.allowed for each in (*world.run(world.call("npm test")), *world.run(world.call("npm test")))] == [
        True
    ] * 2
    assert len(world.shown) == 2
    assert not (world.state / "grants.json").exists()


def test_a_script_that_changes_while_its_question_waits_does_not_run(tmp_path: Path) -> None:
    def changes(held: Held) -> Answer:
        (world.project / "run.sh").write_text("frob other\n")
        return YES

    world = World(tmp_path, changes)
    (world.project / "run.sh").write_text("frob one\n")
    [verdict] = world.run(world.call("bash run.sh"))
    assert verdict.resolution is not None
    assert (verdict.allowed, verdict.resolution.ending) == (False, Ending.CHANGED)


def test_a_link_that_is_turned_while_its_question_waits_does_not_open_its_new_target(tmp_path: Path) -> None:
    def turns(held: Held) -> Answer:
        os.unlink(world.project / "out")
        os.symlink("/etc/passwd", world.project / "out")
        return YES

    world = World(tmp_path, turns)
    os.symlink(world.project / "file", world.project / "out")
    [verdict] = world.run(world.call("date > out"))
    assert not verdict.allowed


def test_what_the_rules_deny_by_now_does_not_run(tmp_path: Path) -> None:
    def forbids(held: Held) -> Answer:
        (world.project / ".assent.toml").write_text('deny = ["bash(npm test)"]\n')
        return YES

    world = World(tmp_path, forbids)
    [verdict] = world.run(world.call("npm test"))
    assert verdict.resolution is not None
    assert (verdict.allowed, verdict.resolution.ending) == (False, Ending.OVERRULED)


def test_without_a_trail_only_reading_goes_on(tmp_path: Path) -> None:
    world = World(tmp_path, lambda held: YES, rules='allow = ["bash(touch a)"]\n')
    (world.state / "audit").write_text("in the way")
    found = [each for command in ("git status", "touch a", "npm test") for each in world.run(world.call(command))]
    assert [(each.allowed, each.decision.code) for each in found] == [
        (True, "intrinsic.read-only"),
        (False, "trail.unwritable"),
        (False, "trail.unwritable"),
    ]
    assert world.shown == []


def test_a_cancelled_call_leaves_nothing_and_says_so_in_the_trail(tmp_path: Path) -> None:
    async def never(held: Held) -> Answer | None:
        await asyncio.sleep(60)
        return YES

    world = World(tmp_path, never)
    assert world.run(world.call("npm test"), cancel_after=0.3) == []
    assert [each.get("code") for each in world.records()] == ["mode.execute", "answer.cancelled"]


def test_three_denials_bring_an_offer_into_the_trail(tmp_path: Path) -> None:
    world = World(tmp_path, lambda held: NO)
    world.run(*(world.call(f"./step {number}") for number in range(3)))
    assert [each["kind"] for each in world.records()].count("offer") == 1


def test_what_was_asked_in_plan_mode_is_settled_by_no_grant_that_comes_meanwhile(tmp_path: Path) -> None:
    world = World(tmp_path, lambda held: YES)

    async def scene() -> tuple[bool, bool]:
        store = SqliteStore(str(world.state / "held.db"))
        gate = CallGate(Memory(str(world.state)), store, lambda held: world.gate())
        engine, project = world.gate(), str(world.project)
        call = world.call("curl https://example.com/x")
        rules = ("fetch(domain:example.com)",)
        gate.memory.grants.add(Grant("g1", Scope.PROJECT, rules=rules, project=project, made=1.0))
        request = Request(engine, call, project, host_mode="plan")
        held = gate.question(request, gate.decide(request))
        plain = Held(**{**{name: getattr(held, name) for name in held.__slots__}, "decision": engine.decide(call)})
        found = await gate._settles(held), await gate._settles(plain)
        await gate.broker.close()
        await store.close()
        return found

    assert asyncio.run(scene()) == (False, True)


def test_an_offer_that_is_turned_down_stands_in_the_trail(tmp_path: Path) -> None:
    world = World(tmp_path, lambda held: NO)

    async def scene() -> None:
        store = SqliteStore(str(world.state / "held.db"))
        gate = CallGate(Memory(str(world.state)), store, lambda held: world.gate())
        gate.broker.attach(CallbackChannel(world.answer))
        for _ in range(3):
            await gate.guard(Request(world.gate(), world.call("npm test"), str(world.project)))
        (offer,) = gate.broker.offers.open()
        gate.broker.offers.reject(offer.id, who="ann", channel="desk")
        await gate.broker.close()
        await store.close()

    asyncio.run(scene())
    offers = [each for each in world.records() if each["kind"] == "offer"]
    assert [(each.get("who"), each.get("said")) for each in offers] == [(None, None), ("ann", "rejected")]


def test_an_offer_that_is_taken_up_denies_by_rule_from_then_on(tmp_path: Path) -> None:
    class Chooses(CallbackChannel):
        async def offer(self, offering: Offering) -> None:
            said.append(await offering.accept(rule=offering.offer.rules[0], who="ann"))

    async def plays() -> None:
        store = MemoryStore()
        gate = CallGate(Memory(str(world.state)), store, lambda held: world.gate())
        gate.broker.attach(Chooses(world.answer))
        for _ in range(3):
            await gate.guard(Request(world.gate(), world.call("./deploy now"), str(world.project)))
        await gate.broker.close()

    said: list[str] = []
    world = World(tmp_path, lambda held: NO)
    asyncio.run(plays())
    assert said == ["`bash(./deploy now)` is denied from now on"]
    [verdict] = world.run(world.call("./deploy now"))
    assert (verdict.allowed, verdict.decision.code, len(world.shown)) == (False, "deny.rule", 3)


def test_no_secret_of_a_call_is_kept_with_its_grant(tmp_path: Path) -> None:
    world = World(tmp_path, lambda held: Answer(Said.ALLOW, scope=Scope.SESSION, rules=held.suggestions[0].rules))
    [verdict] = world.run(world.call("cargo login hunter2Zq"))
    assert verdict.allowed
    kept = (world.state / "grants.json").read_text()
    assert ("hunter2Zq" in kept, "cargo login" in kept) == (False, True)
    assert not any("hunter2Zq" in rule for held in world.shown for each in held.suggestions for rule in each.rules)


def test_a_mode_of_a_session_that_is_none_is_a_denial_and_no_fault(tmp_path: Path) -> None:
    world = World(tmp_path, lambda held: YES)
    sessions.choose_mode(str(world.state), "s1", "frobnicate")
    [verdict] = world.run(world.call("ls"))
    assert (verdict.allowed, verdict.decision.deciding.code) == (False, "policy.load")
