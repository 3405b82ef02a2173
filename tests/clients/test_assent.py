"""Assent's own hook in the real agent programs, put there as the installer does. What the hosts do without it is in
test_hosts.py, what a person sees in their dialogs in test_dialogs.py."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from assent.agents.capabilities import CAPABILITIES, Does

from .claude import Claude
from .client import Client, Run
from .gate import PYTHON, Gate, answering, runtime, serving
from .model import Step, Turn, Use
from .observed import DONE
from .opencode import Opencode
from .programs import Programs
from .sandbox import Sandbox

NOTES = Path(__file__).with_name("notes_server.py")
POLICY = """
mode = "default"
allow = ["bash(touch allowed*)", "bash(sleep:*)", "agent", "mcp__open"]
deny = [{ rule = "bash(touch denied*)", message = "take the other file" }]
"""


def loose(client: Client) -> tuple[str, ...]:
    """The mode that asks nobody, but for Claude Code: there our allow itself spares the prompt."""
    return () if client.name == "claude" else client.loose


def go(client: Client, place: Sandbox, *script: Step, **more: Any) -> Run:
    return client.run(place, [*script, DONE], args=loose(client), patience=60, **more)


def touch(client: Client, *names: str) -> list[Step]:
    """A turn for each file."""
    return [Use(client.shell(f"touch {name}")) for name in names]


def test_an_allowed_call_runs_and_one_that_is_denied_or_has_nobody_to_ask_does_not(
    client: Client, place: Sandbox
) -> None:
    gate = Gate(place, POLICY)
    gate.install(client)
    run = go(client, place, *touch(client, "allowed", "denied", "asked"))
    assert (run.status, run.changed) == (0, {"allowed": ""})
    assert "Take the other file" in run.told[1]
    assert "nobody can be asked in this run" in run.told[2]
    found = [(each["runtime"], each["outcome"], each["code"]) for each in gate.records("decision")]
    known = [("allow", "allow.rule"), ("deny", "deny.rule"), ("deny", "headless.ask")]
    assert found == [(runtime(client), outcome, code) for outcome, code in known]


def test_a_question_waits_for_a_person_and_the_answer_is_obeyed(client: Client, place: Sandbox) -> None:
    """A command is approved, another one is not, a file is written after its diff was seen."""
    gate = Gate(place, POLICY)
    gate.install(client)
    before: list[list[str]] = []

    def answer(question: dict[str, Any]) -> dict[str, Any]:
        before.append(sorted(each.name for each in place.project.iterdir()))
        refused = "unwanted" in str(question["call"]["input"])
        return {"said": "deny", "message": "take a branch"} if refused else {"said": "allow"}

    write = Use(client.write(place.project / "written", "some text\n"))
    with serving(gate) as server, answering(server, answer) as person:
        run = go(client, place, *touch(client, "wanted", "unwanted"), write)
    assert run.changed == {"wanted": "", "written": "some text\n"}, run.told
    assert before == [[], ["wanted"], ["wanted"]]
    assert "take a branch" in run.told[1]
    preview = person.seen[2]["preview"]
    assert "+some text" in preview["text"]
    # Codex gives a model that it does not know no tool to write with: the patch is text of a command.
    assert preview["kind"] == ("command" if client.name == "codex" else "diff")
    said = [(each["outcome"], each["channel"]) for each in gate.records("answer")]
    assert said == [("allow", "web"), ("deny", "web"), ("allow", "web")]


def test_a_file_that_is_there_is_changed_after_a_person_saw_the_change(client: Client, place: Sandbox) -> None:
    gate, file = Gate(place, POLICY), place.project / "notes"
    gate.install(client)
    file.write_text("one\ntwo\n")

    def answer(question: dict[str, Any]) -> dict[str, Any]:
        return {"said": "deny" if "four" in question["preview"]["text"] else "allow"}

    script = [*client.edit(file, "two", "three"), *client.edit(file, "one", "four")]
    with serving(gate) as server, answering(server, answer) as person:
        run = go(client, place, *script)
    assert run.changed == {"notes": "one\nthree\n"}, run.told
    seen = [question["preview"]["text"] for question in person.seen]
    assert ["-two" in seen[0] and "+three" in seen[0], "-one" in seen[1] and "+four" in seen[1]] == [True, True], seen


def test_a_question_of_a_sub_agent_waits_for_the_same_person(client: Client, place: Sandbox) -> None:
    gate = Gate(place, POLICY)
    gate.install(client)

    def answer(question: dict[str, Any]) -> dict[str, Any]:
        return {"said": "deny" if "unwanted" in str(question["call"]["input"]) else "allow"}

    sub = [*touch(client, "wanted", "unwanted"), client.report("did it")]
    with serving(gate) as server, answering(server, answer) as person:
        run = go(client, place, *client.delegate(), sub=sub)
    assert run.changed == {"wanted": ""}, run.told_sub
    assert len(person.seen) == 2
    said = [(each["outcome"], each["channel"]) for each in gate.records("answer")]
    assert said == [("allow", "web"), ("deny", "web")]


@pytest.mark.parametrize(
    "args",
    [(), ("--bare",), ("--safe-mode",), ("--setting-sources=project",)],
    ids=lambda args: str(args[0] if args else "plain"),
)
def test_a_hook_for_the_whole_machine_holds_whatever_a_project_and_its_user_say(
    args: tuple[str, ...], place: Sandbox, installed: Programs
) -> None:
    """A project's settings switch hooks off, and bring a policy of their own by the environment of hooks."""
    client, gate = Claude(installed), Gate(place, POLICY)
    place.own_etc()
    gate.install(client, "managed")
    brought = place.project / ".claude" / "brought"
    brought.mkdir(parents=True, mode=0o700)
    (brought / "config.toml").write_text('mode = "yolo"\n')
    project = {"disableAllHooks": True, "env": {"ASSENT_HOME": str(brought), "ASSENT_MODE": "yolo"}}
    (place.project / ".claude" / "settings.json").write_text(json.dumps(project))
    script = [*touch(client, "allowed", "denied", "asked"), DONE]
    run = client.run(place, script, args=(*client.loose, *args))
    assert run.changed == {"allowed": ""}
    assert [each["outcome"] for each in gate.records("decision")] == ["allow", "deny", "deny"]


def test_doctor_starts_the_program_and_sees_whether_the_hook_holds(client: Client, place: Sandbox) -> None:
    gate = Gate(place)
    gate.install(client)
    programs = place.base / "bin"
    programs.mkdir()
    name = runtime(client)
    (programs / name).write_text(f'#!/bin/sh\nexec {shlex.join(getattr(client.programs, name))} "$@"\n')
    (programs / name).chmod(0o755)
    more = {"PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin", "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    words = [*PYTHON, "-m", "assent", "doctor", name, "--start"]
    held = place.run(words, deadline=120, more=more)
    assert (held.status, "the hook blocked a forbidden call" in held.stdout) == (0, True), held.stdout
    inert = {
        "claude": (".claude/settings.local.json", '{"disableAllHooks": true}'),
        "codex": (".codex/config.toml", "[features]\nhooks = false\n"),
        "gemini": (".gemini/settings.json", '{"hooksConfig": {"enabled": false}}'),
    }
    if name not in inert:
        return
    file, text = inert[name]
    (place.project / file).parent.mkdir(exist_ok=True)
    (place.project / file).write_text(text)
    found = place.run(words, deadline=120, more=more)
    assert found.status == 1
    if name != "codex":  # a project that nobody trusts switches nothing off there
        assert "the hook did not block a forbidden call" in found.stdout, found.stdout


def test_the_calls_of_a_sub_agent_pass_the_gate(client: Client, place: Sandbox) -> None:
    gate = Gate(place, POLICY)
    gate.install(client)
    sub = [*touch(client, "allowed", "denied"), client.report("did it")]
    run = go(client, place, *client.delegate(), sub=sub)
    assert run.changed == {"allowed": ""}
    assert "Take the other file" in run.told_sub[1]


def test_a_sub_agent_starts_only_where_the_gate_lets_it(client: Client, place: Sandbox) -> None:
    Gate(place, 'deny = ["agent"]').install(client)
    first, *_ = client.delegate()
    run = go(client, place, first, sub=[*touch(client, "started"), client.report("did it")])
    assert (run.changed, run.told_sub) == ({}, [])
    assert "deny.rule" in run.told[0]


def test_the_tools_of_mcp_servers_pass_the_gate(client: Client, place: Sandbox) -> None:
    """One server is allowed by name; the other one would be asked about."""
    gate = Gate(place, POLICY)
    gate.install(client)
    servers = {name: [sys.executable, str(NOTES), str(place.project / name)] for name in ("open", "closed")}
    calls: list[Step] = [Use(client.mcp(name, "note", {"text": "hello"})) for name in servers]
    run = go(client, place, *calls, servers=servers)
    assert run.changed == {"open": "hello\n"}
    tools = [(each["tool"], each["outcome"]) for each in gate.records("decision")]
    assert tools == [("mcp__open__note", "allow"), ("mcp__closed__note", "deny")]


@pytest.mark.parametrize("kind", [Claude, Opencode], ids=lambda kind: str(kind.name))
def test_where_the_program_plans_nothing_is_changed(kind: type[Client], place: Sandbox, installed: Programs) -> None:
    """Not even what a rule allows; a program that does not tell its mode is not asked here."""
    client, gate = kind(installed), Gate(place, POLICY)
    gate.install(client)
    args = {"claude": ("--permission-mode=plan",), "opencode": ("--agent=plan",)}[client.name]
    run = client.run(place, [*touch(client, "allowed"), DONE], args=args)
    assert run.changed == {}
    assert "mode.plan" in run.told[0]


# What a broken hook, policy or server turns into


def test_a_policy_that_does_not_load_and_a_hook_that_is_gone_let_nothing_run(client: Client, place: Sandbox) -> None:
    gate = Gate(place, 'allow = ["bash(touch allowed"]')
    gate.install(client)

    def gone(results: Sequence[str]) -> Turn:
        gate.policy(POLICY)
        (gate.state / "bin" / "assent").unlink()
        return Use(client.shell("touch allowed"))

    run = client.run(place, [*touch(client, "allowed"), gone, DONE], args=client.loose)
    assert run.changed == {}
    assert "the policy does not load" in run.told[0]
    assert len(run.told) == 2


# What an interpreter does in place of ours with a call that names it. The host's own limit is three seconds.
BROKEN = {
    "exit_1": "exit 1",
    "crash": "kill -KILL $$",
    "garbage": "echo all is well; exit 0",
    "silence": "exit 0",
    "timeout": "sleep 20",
}


def test_a_broken_hook_turns_into_what_is_written_of_the_host(client: Client, place: Sandbox) -> None:
    gate, python = Gate(place, POLICY), place.base / "python"
    cases = "".join(f"*touch\\ allowed-{name}*) {end};;\n" for name, end in BROKEN.items())
    python.write_text(
        f'#!/bin/bash\ngiven=$(cat)\ncase "$given" in\n{cases}esac\nexec {sys.executable} "$@" <<< "$given"\n'
    )
    python.chmod(0o755)
    gate.wire(client, start=(str(python), "-I"), timeout=3, deadline=2)
    script = touch(client, *(f"allowed-{name}" for name in BROKEN), "allowed")
    run = client.run(place, [*script, DONE], args=client.loose)  # the mode in which only the hook is in the way
    known = CAPABILITIES[runtime(client)]
    does = {name: known.does[name] for name in BROKEN if name != "silence"}
    does["silence"] = does["garbage"] if runtime(client) in ("claude", "opencode") else Does.BLOCKS
    ran = [name for name in BROKEN if does[name] in (Does.RUNS, Does.HOST)]
    assert sorted(run.changed) == ["allowed", *sorted(f"allowed-{name}" for name in ran)]


def test_a_hook_past_its_own_deadline_lets_nothing_run(client: Client, place: Sandbox) -> None:
    """Nobody answers, and the question outlives the time that the hook has."""
    gate = Gate(place, POLICY)
    gate.wire(client, deadline=3)
    with serving(gate) as server, answering(server, lambda question: None) as person:
        run = go(client, place, *touch(client, "asked"))
    assert run.changed == {}
    assert len(person.seen) == 1
    assert "waits no longer than 1 s" in run.told[0]  # the hook answers before the time is over


def test_a_killed_server_lets_nothing_run(client: Client, place: Sandbox) -> None:
    """Before the question, and while it waits: what needs nobody still runs."""
    gate = Gate(place, POLICY)
    gate.wire(client, deadline=40)
    with serving(gate) as server:

        def killed_while_waiting(question: dict[str, Any]) -> None:
            server.kill()

        with answering(server, killed_while_waiting):
            run = go(client, place, *touch(client, "waiting", "asked", "allowed"))
    assert run.changed == {"allowed": ""}
    assert len(run.told) == 3
