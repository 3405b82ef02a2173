"""A model's opinion settles calls that no rule matches, on record; everything else still asks."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from assent.approval.channels.callback import CallbackChannel
from assent.approval.store import SqliteStore
from assent.contract import Layer, Outcome
from assent.contract.approval import Answer, Held, Said, Verdict
from assent.contract.classifier import Opinion
from assent.engine.classify import Inquiry, asked_a_person
from assent.engine.engine import Request, Settled
from assent.gate import CallGate
from assent.mcp.judge import McpJudge
from assent.state import pause
from tests.classifier.service import KEY, SAFE, TOKENS, UNSAFE, Service
from tests.classifier.world import World

ALLOWED, ASKED = ("allow", "classifier.safe"), ("ask", "mode.execute")
APIS = ["anthropic", "openai"]


# ---------------------------------------------------------------- safe, and not


@pytest.mark.parametrize("api", APIS)
def test_what_the_model_calls_safe_runs_and_the_trail_says_by_whom(tmp_path: Path, service: Service, api: str) -> None:
    world = World(tmp_path, service, api=api, input_price=2.0, output_price=10.0)
    decision = world.settle("npm test")
    world.close()
    assert (decision.outcome, decision.deciding.layer, decision.code) == (
        Outcome.ALLOW,
        Layer.CLASSIFIER,
        "classifier.safe",
    )
    (record,) = world.records()
    took = record["classifier"].pop("latency_ms")
    assert 0 < took < 5000
    assert record["classifier"] == {
        "model": "small-1",
        "safe": True,
        "settled": True,
        "tokens": sum(TOKENS),
        "cost": (TOKENS[0] * 2.0 + TOKENS[1] * 10.0) / 1e6,
        "said": "an ordinary task",
    }
    assert [record[name] for name in ("outcome", "layer", "code")] == ["allow", "classifier", "classifier.safe"]


@pytest.mark.parametrize("api", APIS)
def test_what_it_does_not_call_safe_is_asked_as_before_and_the_trail_says_so(
    tmp_path: Path, service: Service, api: str
) -> None:
    service.answers = UNSAFE
    world = World(tmp_path, service, api=api)
    assert world.outcome("npm test") == ASKED
    world.close()
    (record,) = world.records()
    assert (record["outcome"], record["classifier"]["safe"], record["classifier"]["settled"]) == ("ask", False, False)
    assert record["classifier"]["said"] == "it is not clear what this does"


def test_it_is_spoken_to_as_its_api_wants(tmp_path: Path, service: Service) -> None:
    found = []
    for api in APIS:
        (tmp_path / api).mkdir()
        world = World(tmp_path / api, service, api=api)
        world.settle("npm test")
        world.close()
        asked = service.asked[-1]
        keys = {name: asked.headers[name] for name in ("x-api-key", "authorization") if name in asked.headers}
        found.append((asked.path, keys, asked.body["model"], asked.body["max_tokens"]))
    assert found == [
        ("/v1/messages", {"x-api-key": KEY}, "small-1", 300),
        ("/v1/chat/completions", {"authorization": f"Bearer {KEY}"}, "small-1", 300),
    ]


def test_without_the_section_nobody_is_asked(tmp_path: Path, service: Service) -> None:
    world = World(tmp_path, service)
    (world.state / "config.toml").write_text('mode = "default"\n')
    assert (world.outcome("npm test"), service.asked) == (ASKED, [])
    assert "classifier" not in world.records()[0]


# ---------------------------------------------------------------- what it is never asked about

NEVER = [
    ("an ask rule", 'ask = ["bash(npm:*)"]\n', "npm test", ("ask", "ask.rule")),
    ("a deny rule", 'deny = ["bash(npm:*)"]\n', "npm test", ("deny", "deny.rule")),
    ("a shipped ask rule", "", "git push --force", ("ask", "ask.rule")),
    ("a shipped deny rule", "", "rm -rf /", ("deny", "deny.rule")),
    ("the floor", "", "cat ~/.ssh/id_rsa", ("deny", "floor.sensitive-path")),
    ("the floor's question", "", "tar cf x.tar ~", ("ask", "floor.holds-sensitive")),
    ("a gap", "", "eval $X", ("ask", "mode.execute")),
    ("a gap beside", "", "npm test; $X", ("ask", "mode.execute")),
    ("a deletion", "", "rm notes.txt", ("ask", "mode.delete")),
    ("plan mode", 'mode = "plan"\n', "npm test", ("deny", "mode.plan.mutation")),
    ("an allow rule", 'allow = ["bash(npm test)"]\n', "npm test", ("allow", "allow.rule")),
    ("a preloaded library", "", "LD_PRELOAD=./x.so npm test", ("ask", "mode.execute")),
]


@pytest.mark.parametrize(("policy", "command", "outcome"), [row[1:] for row in NEVER], ids=[row[0] for row in NEVER])
@pytest.mark.parametrize("headless", [False, True], ids=["attended", "headless"])
def test_a_model_that_says_yes_to_everything_is_not_even_asked(
    tmp_path: Path, service: Service, policy: str, command: str, outcome: tuple[str, str], headless: bool
) -> None:
    world = World(tmp_path, service, policy)
    found = world.outcome(command, headless=headless)
    world.close()
    expected = ("deny", "headless.ask") if headless and outcome[0] == "ask" else outcome
    assert (found, service.asked) == (expected, [])


@pytest.mark.parametrize("tool", ["fetch", "agent"])
def test_the_questions_of_plan_mode_are_a_persons(world: World, tool: str) -> None:
    given: dict[str, object] = {"url": "https://example.com"} if tool == "fetch" else {"subagent_type": "x"}
    assert world.outcome(given, tool, host_mode="plan") == ("ask", f"mode.{'fetch' if tool == 'fetch' else 'delegate'}")
    assert world.service.asked == []
    assert world.outcome(given, tool) == ALLOWED


def test_while_assents_own_protection_is_lifted_no_model_is_asked(world: World) -> None:
    own: dict[str, object] = {"file_path": str(world.state / "config.toml"), "content": "x"}
    assert world.outcome(own, "write") == ("deny", "floor.self")
    pause.begin(str(world.state), time.time() + 60, "ann")
    assert world.outcome(own, "write")[0] == "ask"
    assert (world.outcome("npm test"), world.service.asked) == (ASKED, [])
    pause.finish(str(world.state))
    assert world.outcome("npm test") == ALLOWED


def test_a_grant_comes_before_the_model(world: World) -> None:
    from assent.contract.approval import Grant, Scope

    world.memory.grants.add(Grant("g", Scope.EVERYWHERE, rules=("bash(npm test)",)))
    assert (world.outcome("npm test"), world.service.asked) == (("allow", "grant.rule"), [])


# ---------------------------------------------------------------- headless


def test_a_headless_run_is_judged_before_its_question_becomes_a_denial(world: World) -> None:
    assert world.outcome("npm test", headless=True) == ALLOWED
    world.service.answers = UNSAFE
    assert world.outcome("make", headless=True) == ("deny", "headless.ask")


def test_the_gate_before_an_mcp_server_asks_the_model_where_nobody_can_be_asked(world: World) -> None:
    judge = McpJudge({"HOME": world.environ["HOME"]}, state=str(world.state))
    call, project = world.call({"title": "x"}, "mcp__tracker__create"), str(world.project)
    first = asyncio.run(judge.ask(call, project=project))
    world.service.answers = UNSAFE
    other = asyncio.run(judge.ask(world.call({"title": "y"}, "mcp__tracker__create"), project=project))
    judge.close()
    assert (first.allowed, first.message, other.allowed, len(world.service.asked)) == (True, "", False, 2)


# ---------------------------------------------------------------- one answer, for what it was given


def test_an_opinion_holds_for_the_identical_call_of_its_session(world: World) -> None:
    calls: list[tuple[str, dict[str, str]]] = [
        ("npm test", {}),
        ("npm test", {}),
        ("npm test", {"session": "s2"}),
        ("npm test -- a", {}),
    ]
    counts = []
    for command, more in calls:
        assert world.outcome(command, **more) == ALLOWED
        counts.append(len(world.service.asked))
    assert counts == [1, 1, 2, 3]
    cached = [record["classifier"].get("cached", False) for record in world.records()]
    assert cached == [False, True, False, False]


def test_an_agents_description_does_not_make_another_call(world: World) -> None:
    world.settle({"command": "npm test", "description": "Run the tests"})
    world.settle({"command": "npm test", "description": "Once more", "explanation": "to be sure"})
    assert ["Run the tests" in asked.text for asked in world.service.asked] == [False]


def test_a_no_is_remembered_too(world: World) -> None:
    world.service.answers = UNSAFE
    assert [world.outcome("npm test") for _ in range(2)] == [ASKED, ASKED]
    assert len(world.service.asked) == 1


def test_an_error_is_not_remembered(world: World) -> None:
    world.service.status = 500
    assert world.outcome("npm test") == ASKED
    world.service.status = 200
    assert world.outcome("npm test") == ALLOWED


def test_another_policy_is_judged_anew(world: World) -> None:
    world.settle("npm test")
    world.configure('mode = "default"\ndeny = ["bash(rm:*)"]\n')
    assert (world.outcome("npm test"), len(world.service.asked)) == (ALLOWED, 2)
    world.configure('mode = "auto"\n')
    assert (world.outcome("npm test"), len(world.service.asked)) == (ALLOWED, 3)


def test_a_rule_that_comes_later_wins_over_a_remembered_yes(world: World) -> None:
    assert world.outcome("npm test") == ALLOWED
    world.configure('ask = ["bash(npm:*)"]\n')
    assert world.outcome("npm test") == ("ask", "ask.rule")


def test_a_script_that_changed_is_judged_anew(world: World) -> None:
    script = world.project / "run.sh"
    script.write_text("frob one\n")
    world.settle("bash run.sh")
    world.settle("bash run.sh")
    script.write_text("frob two\n")
    world.settle("bash run.sh")
    assert len(world.service.asked) == 2


def test_a_link_that_turned_is_judged_anew(world: World, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    link = world.project / "out"
    link.symlink_to(tmp_path / "a")
    world.settle({"file_path": str(link / "x"), "content": "1"}, "write")
    link.unlink()
    link.symlink_to(tmp_path / "b")
    world.settle({"file_path": str(link / "x"), "content": "1"}, "write")
    assert len(world.service.asked) == 2


def test_what_is_remembered_is_bounded(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assent.approval.classifier.model.REMEMBERED", 2)
    for command in ("make a", "make b", "make c", "make a"):
        world.settle(command)
    assert len(world.service.asked) == 4


# ---------------------------------------------------------------- what changes while it thinks


def changing(world: World, change: Callable[[], object], command: str = "bash run.sh") -> tuple[str, str]:
    """The outcome if something changes while the model answers."""

    def answer(_: object) -> str:
        change()
        return SAFE

    (world.project / "run.sh").write_text("frob one\n")
    world.service.answers = answer
    return world.outcome(command)


def test_a_script_that_changes_meanwhile_is_asked_about(world: World) -> None:
    found = changing(world, lambda: (world.project / "run.sh").write_text("frob three\n"))
    assert (found, world.records()[0]["classifier"]["error"]) == (ASKED, "changed")


def test_a_rule_that_comes_meanwhile_wins(world: World) -> None:
    assert changing(world, lambda: world.configure('deny = ["bash(bash:*)"]\n')) == ("deny", "deny.rule")


def test_a_policy_that_does_not_load_meanwhile_denies(world: World) -> None:
    broken = world.state / "config.toml"
    assert changing(world, lambda: broken.write_text("mode = \n")) == ("deny", "policy.load")


def test_a_mode_that_a_person_chooses_meanwhile_wins(world: World) -> None:
    found = changing(world, lambda: world.memory.choose_mode("s1", "plan", who="ann"))
    assert found == ("deny", "mode.plan.mutation")


def test_a_person_who_says_no_meanwhile_wins(world: World) -> None:
    call = world.call("bash run.sh")
    found = changing(world, lambda: asked_a_person(str(world.state), call))
    assert (found, world.records()[0]["classifier"]["error"]) == (ASKED, "changed")


def test_what_stays_as_it_was_runs(world: World) -> None:
    assert changing(world, lambda: None) == ALLOWED


# ---------------------------------------------------------------- a person's word is final


def guarded(world: World, *commands: str, answer: Answer | None) -> tuple[list[Verdict], list[Held]]:
    """Calls one after the other through a gate with somebody who answers."""
    shown: list[Held] = []

    def asked(held: Held) -> Answer | None:
        shown.append(held)
        return answer

    async def play() -> list[Verdict]:
        store = SqliteStore(str(world.state / "held.db"))
        gate = CallGate(world.memory, store, lambda _: world.gate())
        gate.broker.attach(CallbackChannel(asked))
        try:
            project = str(world.project)
            return [await gate.guard(Request(world.gate(), world.call(each), project)) for each in commands]
        finally:
            await gate.broker.close()
            await store.close()

    return asyncio.run(play()), shown


def test_a_call_called_safe_reaches_nobody(world: World) -> None:
    verdicts, shown = guarded(world, "npm test", answer=None)
    assert ([each.allowed for each in verdicts], shown) == ([True], [])


def test_a_call_not_called_safe_is_answered_by_a_person(world: World) -> None:
    world.service.answers = UNSAFE
    verdicts, shown = guarded(world, "npm test", answer=Answer(Said.ALLOW, who="ann"))
    assert ([each.allowed for each in verdicts], len(shown)) == ([True], 1)


def test_what_a_person_said_no_to_the_model_is_not_asked_again(world: World) -> None:
    said = iter([UNSAFE, SAFE, SAFE])
    world.service.answers = lambda _: next(said)
    guarded(world, "npm test", answer=Answer(Said.DENY, who="ann"))
    world.memory.classifiers.close()  # whatever the model itself would remember
    again, shown = guarded(world, "npm test", answer=Answer(Said.DENY, who="ann"))
    assert ([each.allowed for each in again], len(shown), len(world.service.asked)) == ([False], 1, 1)
    other, shown = guarded(world, "make", answer=None)
    assert ([each.allowed for each in other], shown) == ([True], [])


@pytest.mark.parametrize(
    "spelling",
    [
        "./deploy.sh  prod",
        "./deploy.sh prod # to be sure",
        "'./deploy.sh' prod",
        "npm test; ./deploy.sh prod",
        "MODE=quick ./deploy.sh prod > out.log",
        "cd . && ./deploy.sh prod",
        "timeout 9 ./deploy.sh prod",
        "(./deploy.sh prod)",
    ],
)
def test_a_persons_no_holds_for_the_command_however_it_is_written(world: World, spelling: str) -> None:
    asked_a_person(str(world.state), world.call("./deploy.sh prod"))
    assert (world.outcome(spelling)[0], world.service.asked) == ("ask", [])
    assert world.outcome("./deploy.sh test") == ALLOWED


def test_a_persons_no_to_several_commands_is_one_to_each(world: World) -> None:
    asked_a_person(str(world.state), world.call("make && ls && ./deploy.sh prod"))
    assert [world.outcome(each) for each in ("./deploy.sh prod", "make", "ls | tee a")] == [ASKED, ASKED, ALLOWED]


def test_a_persons_no_holds_for_calls_without_a_session_too(world: World) -> None:
    asked_a_person(str(world.state), world.call("./deploy.sh prod", session=""))
    assert (world.outcome("./deploy.sh prod", session=""), world.service.asked) == (ASKED, [])
    assert world.outcome("./deploy.sh prod") == ALLOWED


def test_what_is_before_a_person_is_not_put_to_a_model_meanwhile(world: World) -> None:
    """The model failed, so a person looks at it; the same call again does not get another try at the model."""
    world.service.status = 500
    found: list[object] = []

    async def asked(held: Held) -> Answer:
        world.service.status = 200
        for command in ("./deploy.sh prod", "./deploy.sh  prod # again", "./deploy.sh test"):
            found.append(await asyncio.to_thread(world.outcome, command))
        return Answer(Said.ALLOW, who="ann")

    async def play() -> Verdict:
        store = SqliteStore(str(world.state / "held.db"))
        gate = CallGate(world.memory, store, lambda _: world.gate())
        gate.broker.attach(CallbackChannel(asked))
        try:
            return await gate.guard(Request(world.gate(), world.call("./deploy.sh prod"), str(world.project)))
        finally:
            await gate.broker.close()
            await store.close()

    verdict = asyncio.run(play())
    assert (verdict.allowed, found) == (True, [ASKED, ASKED, ALLOWED])
    assert world.outcome("./deploy.sh prod") == ALLOWED


def test_a_question_that_a_person_put_away_is_a_no_in_its_session(world: World) -> None:
    world.service.status = 500
    verdicts, _ = guarded(world, "npm test", answer=None)
    assert [each.allowed for each in verdicts] == [False]
    world.service.status = 200
    assert (world.outcome("npm test"), world.outcome("npm test", session="s2")) == (ASKED, ALLOWED)


def test_a_damaged_note_of_what_was_asked_costs_a_question(world: World) -> None:
    guarded(world, "rm a", answer=Answer(Said.DENY, who="ann"))
    for path in (world.state / "sessions").iterdir():
        if path.suffix != ".lock":
            path.write_bytes(b'{"no": "list"}')
    assert (world.outcome("npm test"), world.service.asked) == (ASKED, [])


# ---------------------------------------------------------------- at once


def test_identical_calls_at_once_are_asked_about_once(world: World) -> None:
    world.service.delay = 0.4
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: world.outcome("npm test"), range(8)))
    assert (found, len(world.service.asked)) == ([ALLOWED] * 8, 1)
    requests = [record for record in world.records() if "latency_ms" in record["classifier"]]
    assert len(requests) == 1


def test_different_calls_at_once_do_not_wait_for_each_other(world: World) -> None:
    world.settle("make warm")
    world.service.delay = 0.5
    started = time.monotonic()
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda n: world.outcome(f"make {n}"), range(6)))
    assert found == [ALLOWED] * 6
    assert time.monotonic() - started < 2.0


def test_an_event_loop_goes_on_while_the_model_thinks(world: World) -> None:
    world.settle("make warm")
    world.service.delay = 0.5

    async def play() -> tuple[int, Settled]:
        begun = CallGate(world.memory).begin(Request(world.gate(), world.call("npm test"), str(world.project)))
        assert isinstance(begun, Inquiry)
        asking: Awaitable[Opinion] = begun.awaited()
        waiting = asyncio.ensure_future(asking)
        turns = 0
        while not waiting.done():
            await asyncio.sleep(0.01)
            turns += 1
        return turns, CallGate(world.memory).conclude(begun, waiting.result())

    turns, settled = asyncio.run(play())
    assert turns > 20
    assert settled.judged.decision.code == "classifier.safe"


def test_a_caller_that_leaves_does_not_take_the_answer_of_others_along(world: World) -> None:
    world.settle("make warm")
    world.service.delay = 0.4

    async def play() -> Opinion:
        inquiries: list[Any] = [
            CallGate(world.memory).begin(Request(world.gate(), world.call("npm test"), str(world.project)))
            for _ in range(2)
        ]
        first, second = (asyncio.ensure_future(each.awaited()) for each in inquiries)
        await asyncio.sleep(0.1)
        first.cancel()
        found: Opinion = await second
        return found

    assert asyncio.run(play()).safe
    assert len(world.service.asked) == 2


def test_who_waits_when_assent_ends_is_told_and_asks(world: World) -> None:
    world.settle("make warm")
    world.service.delay = 3.0
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(world.outcome, "npm test")
        while len(world.service.asked) < 2:
            time.sleep(0.01)
        world.memory.classifiers.close()
        assert asking.result(timeout=2) == ASKED
    assert world.records()[-1]["classifier"]["error"] == "fault"


def test_a_child_of_a_fork_asks_in_a_thread_of_its_own(world: World) -> None:
    world.settle("make warm")
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if world.outcome("npm test") == ALLOWED else 2
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


def test_a_trail_that_cannot_be_written_lets_nothing_run(world: World) -> None:
    (world.state / "audit").write_text("in the way")
    assert world.outcome("npm test") == ("deny", "trail.unwritable")
