"""A real `assent hook claude`, alone and with a real `assent serve`: the model is asked there too, and in time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assent.hook import launcher
from tests.classifier.service import KEY, SAFE, UNSAFE, Asked, Service
from tests.hook.loading import loaded
from tests.server.program import Program


class Hooked:
    """A Claude Code session whose hook is a process for each call."""

    def __init__(self, folder: Path, service: Service, *, attended: bool = False, **backend: object) -> None:
        self.project, self.state = folder / "project", folder / "state"
        self.project.mkdir(exist_ok=True)
        self.state.mkdir(mode=0o700, exist_ok=True)
        config = service.config(**backend)  # type: ignore[arg-type]  # as a file would have it
        (self.state / "config.toml").write_text(f'mode = "default"\n{config}')
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "CLAUDE_PROJECT_DIR": str(self.project),
            "CLAUDE_CODE_SESSION_ATTENDED": "1" if attended else "0",
            "CLASSIFIER_KEY": KEY,
        }
        self.command = [sys.executable, "-m", "assent", "hook", "claude", "--home", str(self.state)]

    def start(self, command: str, session: str = "s1", *options: str) -> subprocess.Popen[bytes]:
        event = {
            "session_id": session,
            "cwd": str(self.project),
            "permission_mode": "default",
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": command, "description": "it is safe"},
        }
        pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        process = subprocess.Popen([*self.command, *options], env=self.environ, cwd=self.project, **pipes)
        assert process.stdin is not None
        process.stdin.write(json.dumps(event).encode())
        process.stdin.close()
        process.stdin = None
        return process

    def decides(self, command: str, session: str = "s1", *options: str) -> str:
        return self.said(self.start(command, session, *options))

    def said(self, process: subprocess.Popen[bytes]) -> str:
        out, err = process.communicate(timeout=40)
        assert process.returncode == 0, (out, err)
        return str(json.loads(out)["hookSpecificOutput"]["permissionDecision"])

    def records(self) -> list[dict[str, Any]]:
        lines = (self.state / "audit" / "permissions.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]


# ---------------------------------------------------------------- alone


def test_a_headless_hook_asks_the_model_before_it_denies(tmp_path: Path, service: Service) -> None:
    service.answers = lambda asked: SAFE if "npm test" in asked.data else UNSAFE
    hook = Hooked(tmp_path, service)
    assert [hook.decides(each) for each in ("npm test", "make", "ls", "rm -rf /")] == ["allow", "deny", "allow", "deny"]
    found = [(each["code"], each.get("classifier", {}).get("safe")) for each in hook.records()]
    assert found == [
        ("classifier.safe", True),
        ("headless.ask", False),
        ("intrinsic.read-only", None),
        ("deny.rule", None),
    ]
    assert len(service.asked) == 2


def test_the_snapshot_of_an_earlier_hook_carries_the_model(tmp_path: Path, service: Service) -> None:
    hook = Hooked(tmp_path, service)
    hook.decides("ls")
    assert list((hook.state / "cache").iterdir()) != []
    assert hook.decides("npm test") == "allow"
    (hook.state / "config.toml").write_text('mode = "default"\n')
    assert hook.decides("npm test") == "deny"


def test_an_attended_hook_hands_over_what_is_not_safe_and_then_leaves_it_to_the_person(
    tmp_path: Path, service: Service
) -> None:
    said = iter([UNSAFE, SAFE, SAFE])
    service.answers = lambda _: next(said)
    hook = Hooked(tmp_path, service, attended=True)
    assert [hook.decides("npm test"), hook.decides("npm test")] == ["ask", "ask"]
    assert len(service.asked) == 1
    assert hook.decides("npm test", "another session") == "allow"


@pytest.mark.parametrize(("policy", "outcome"), [('ask = ["bash(npm:*)"]\n', "deny"), ('mode = "plan"\n', "deny")])
def test_a_hook_asks_no_model_about_what_is_spoken_of(
    tmp_path: Path, service: Service, policy: str, outcome: str
) -> None:
    hook = Hooked(tmp_path, service)
    (hook.state / "config.toml").write_text(policy + service.config())
    assert (hook.decides("npm test"), service.asked) == (outcome, [])


def test_a_projects_file_that_names_a_model_stops_everything(tmp_path: Path, service: Service) -> None:
    hook = Hooked(tmp_path, service)
    (hook.project / ".assent.toml").write_text(service.config())
    assert (hook.decides("ls"), hook.decides("npm test"), service.asked) == ("deny", "deny", [])


def test_a_silent_model_is_a_denial_within_the_hooks_own_time(tmp_path: Path, service: Service) -> None:
    service.delay = 30.0
    hook = Hooked(tmp_path, service, timeout=15)
    started = time.monotonic()
    assert hook.decides("npm test", "s1", "--deadline", "4") == "deny"
    assert time.monotonic() - started < 4
    assert hook.records()[0]["classifier"]["error"] == "timeout"


def test_a_hook_that_is_killed_while_the_model_thinks_lets_nothing_run(tmp_path: Path, service: Service) -> None:
    service.delay = 5.0
    hook = Hooked(tmp_path, service)
    process = hook.start("npm test")
    while not service.asked:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    out, _ = process.communicate(timeout=10)
    assert (out, process.returncode) == (b"", -signal.SIGKILL)


def test_the_launcher_that_is_installed_finds_what_it_needs(tmp_path: Path, service: Service) -> None:
    hook = Hooked(tmp_path, service)
    state = str(hook.state)
    launcher.write(state)
    words = launcher.launcher(state, "claude", socket=str(hook.state / "none.sock"), deadline=60)
    hook.command = list(words)
    assert hook.decides("npm test") == "allow"


@pytest.mark.parametrize("command", ["git status", "npm test"])
def test_with_the_classifier_off_a_hook_loads_nothing_of_it(tmp_path: Path, service: Service, command: str) -> None:
    hook = Hooked(tmp_path, service)
    (hook.state / "config.toml").write_text('mode = "default"\n')
    assert of_the_classifier(hook, command) == set()


def test_with_it_on_a_call_that_does_not_ask_loads_no_client(tmp_path: Path, service: Service) -> None:
    hook = Hooked(tmp_path, service)
    assert of_the_classifier(hook, "git status") <= {"assent.contract.classifier"}


PARTS = frozenset(
    "httpx asyncio ssl keyring assent.engine.classify assent.contract.classifier assent.policy.classifier "
    "assent.state.human_decisions assent.approval.classifier assent.approval.classifier.model".split()
)


def of_the_classifier(hook: Hooked, command: str) -> set[str]:
    return loaded(hook.state, hook.project, command, hook.environ, PARTS)


# ---------------------------------------------------------------- with a server


def answers(asked: Asked) -> str:
    return UNSAFE if "make" in asked.data else SAFE


@pytest.fixture(scope="module")
def model() -> Iterator[Service]:
    with Service(answers) as found:
        yield found


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory, model: Service) -> Iterator[Program]:
    os.environ["CLASSIFIER_KEY"] = KEY
    folder = tmp_path_factory.mktemp("server")
    found = Keyed(folder, config=f'mode = "default"\n{model.config()}')
    yield found
    found.stop()


class Keyed(Program):
    """A server that has the key in its environment; the agents' environment has none."""

    def start(self) -> None:
        self.environ["CLASSIFIER_KEY"] = KEY
        super().start()


def test_a_hook_of_a_server_needs_no_key_of_its_own(tmp_path: Path, program: Program, model: Service) -> None:
    hook = Hooked(tmp_path, model)
    hook.project, hook.state = program.project, program.state
    hook.environ |= {"CLAUDE_PROJECT_DIR": str(program.project), "HOME": program.environ["HOME"]}
    del hook.environ["CLASSIFIER_KEY"]
    hook.command = [sys.executable, "-m", "assent", "hook", "claude", "--home", str(program.state)]
    before = len(model.asked)
    assert [hook.decides("npm test", "h1"), hook.decides("npm test", "h1")] == ["allow", "allow"]
    assert len(model.asked) - before == 1
    assert [each["classifier"].get("cached", False) for each in hook.records()[-2:]] == [False, True]


def test_the_server_decides_other_calls_while_the_model_thinks(program: Program, model: Service) -> None:
    program.call("npm run warm", session="w")
    model.delay = 2.0
    try:
        slow = [program.calling(f"npm run slow{n}", session=f"w{n}") for n in range(6)]
        while len([each for each in model.asked if "slow" in each.data]) < 6:
            time.sleep(0.02)
        started = time.monotonic()
        assert program.call("ls", session="w").json["allowed"] is True
        assert time.monotonic() - started < 1.0
        assert not any(each.done() for each in slow)
        assert [each.result().json["decision"]["deciding"]["code"] for each in slow] == ["classifier.safe"] * 6
    finally:
        model.delay = 0.0


def test_identical_calls_of_a_session_reach_the_model_once(program: Program, model: Service) -> None:
    model.delay = 0.5
    try:
        before = len(model.asked)
        found = [program.calling("npm run same", session="same") for _ in range(5)]
        assert [each.result().json["allowed"] for each in found] == [True] * 5
        assert len(model.asked) - before == 1
    finally:
        model.delay = 0.0


def test_what_is_not_safe_is_held_and_a_persons_no_is_final(program: Program, model: Service) -> None:
    person = program.sign_in()
    calling = program.calling("make deploy", session="m")
    question = person.held_in("m")
    before = len(model.asked)
    person.answer(question, "deny")
    assert calling.result().json["allowed"] is False
    model.answers = SAFE
    try:
        again = program.calling("make deploy", session="m")
        person.answer(person.held_in("m"), "deny")
        assert (again.result().json["allowed"], len(model.asked)) == (False, before)
    finally:
        model.answers = answers


def test_a_headless_call_of_a_server_is_judged_too(program: Program) -> None:
    found = [program.call(each, session="x", headless=True).json for each in ("npm run x", "make x")]
    assert [each["decision"]["deciding"]["code"] for each in found] == ["classifier.safe", "headless.ask"]


def test_checking_a_call_asks_no_model(program: Program, model: Service) -> None:
    before = len(model.asked)
    where = str(program.project)
    body = {"tool": "bash", "input": {"command": "npm run check"}, "cwd": where, "project": where}
    assert program.ask("POST", "/v1/check", body, unix=True).json["outcome"] == "ask"
    assert len(model.asked) == before
