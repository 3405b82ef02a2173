"""Checks the hosts against `observed`, with one-line hooks: what Assent relies on, without Assent."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from . import observed
from .claude import Claude
from .client import Client, Hook, Run
from .codex import Codex, CodexCode
from .gemini import Gemini
from .model import Step, Use
from .observed import DONE, MADE, MAKE, RAN, REASON, WAITS
from .opencode import Opencode
from .programs import Programs
from .sandbox import Sandbox

HOSTS = {kind.name: kind for kind in (Claude, Codex, CodexCode, Gemini, Opencode)}
ROWS = [(host, answer) for host, outcomes in observed.COMMANDS.items() for answer in outcomes]


@pytest.mark.parametrize(("host", "answer"), ROWS, ids=[f"{host}: {answer}" for host, answer in ROWS])
def test_a_host_does_with_an_answer_what_was_observed(
    host: str, answer: str, place: Sandbox, installed: Programs
) -> None:
    name, _, blocking = host.partition(", ")
    client, payload = HOSTS[name](installed), place.base / "payload"
    answers = observed.ANSWERS[name]
    command = answers[answer] if answer == "missing" else f"cat > {payload}; {answers[answer]}"
    more: dict[str, object] = {"onFailure": "block"} if blocking else {}
    client.hook(place, Hook(command, timeout=1 if answer == "late" else 60, more=more))
    outcome = observed.COMMANDS[host][answer]
    check(run_until(client, place, outcome), outcome)
    if answer != "missing":
        assert json.loads(payload.read_text())["tool_input"]["command"] == MAKE


@pytest.mark.parametrize("plugin", observed.PLUGINS)
def test_opencode_does_with_a_plugin_what_was_observed(plugin: str, place: Sandbox, installed: Programs) -> None:
    client = Opencode(installed)
    client.plugin(place, observed.PLUGINS[plugin])
    outcome = observed.OPENCODE[plugin]
    check(run_until(client, place, outcome), outcome)


def run_until(client: Client, place: Sandbox, outcome: str) -> Run:
    patience = 6 if outcome == WAITS else 90
    return client.run(place, [Use(client.shell(MAKE)), DONE], args=client.loose + client.trust, patience=patience)


def check(run: Run, outcome: str) -> None:
    if outcome == RAN:
        assert run.changed == MADE
        assert "made-by-agent" in run.told[0]
    elif outcome == WAITS:
        assert (run.status, run.changed, run.told) == (None, {}, [])
        assert len([request for request in run.requests if request.turn]) == 1  # the call was made, and not answered
    else:
        assert run.changed == {}
        assert outcome in run.told[0]


def test_an_allow_spares_the_prompt_in_claude_code_only_where_it_is_given(place: Sandbox, installed: Programs) -> None:
    client = Claude(installed)
    script: list[Step] = [Use(client.shell(MAKE)), DONE]
    assert client.run(place, script).changed == {}
    client.hook(place, Hook(observed.CLAUDE["allow"]))
    assert client.run(place, script).changed == MADE


YES, NO = {"claude": "1", "gemini": "1"}, {"claude": "2", "gemini": "Escape"}


@pytest.mark.parametrize("host", YES)
@pytest.mark.parametrize(("keys", "changed"), [(YES, MADE), (NO, {})], ids=["yes", "no"])
def test_before_a_person_an_ask_is_asked_and_its_answer_obeyed(
    host: str, keys: dict[str, str], changed: dict[str, str], place: Sandbox, installed: Programs
) -> None:
    client = HOSTS[host](installed)
    client.hook(place, Hook(observed.ANSWERS[host]["ask"]))
    with client.attended(place, [Use(client.shell(MAKE)), DONE]) as (screen, _):
        question = screen.wait_for("Do you want to proceed?", "Allow execution of", seconds=60)
        assert REASON in screen.screen()
        screen.answer(question, keys[host])
        screen.wait_for(DONE.text, "Interrupted", "Request cancelled", seconds=60)
    assert files(place.project) == changed


def test_in_claude_code_a_hook_can_answer_while_the_dialog_is_up(place: Sandbox, installed: Programs) -> None:
    client, go = Claude(installed), place.base / "go"
    client.hook(place, Hook(observed.CLAUDE["ask"]))
    yes = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}}
    wait = f"until test -e {go}; do sleep 0.1; done; {observed.printed(yes)}"
    client.hook(place, Hook(wait), "PermissionRequest")
    with client.attended(place, [Use(client.shell(MAKE)), DONE]) as (screen, _):
        screen.wait_for("Do you want to proceed?", seconds=60)
        assert files(place.project) == {}
        go.touch()
        screen.wait_for(DONE.text, seconds=60)
    assert files(place.project) == MADE


def test_codex_passes_over_a_hook_until_its_hash_is_trusted(place: Sandbox, installed: Programs) -> None:
    client, command = Codex(installed), f"echo {REASON} >&2; exit 2"
    client.hook(place, Hook(command, timeout=20))
    script: list[Step] = [Use(client.shell(MAKE)), DONE]
    assert client.run(place, script, args=client.loose).changed == MADE
    (place.project / "made").unlink()

    entry = {"async": False, "command": command, "timeout": 20, "type": "command"}
    known = {"event_name": "pre_tool_use", "hooks": [entry], "matcher": "*"}
    digest = hashlib.sha256(json.dumps(known, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    folder = place.home / ".codex"
    state = f'[hooks.state."{folder}/hooks.json:pre_tool_use:0:0"]\ntrusted_hash = "sha256:{digest}"\n'
    (folder / "config.toml").write_text(state)
    assert client.run(place, script, args=client.loose).changed == {}


@pytest.fixture(params=[Codex, CodexCode], ids=lambda kind: str(kind.name))
def prompting(request: pytest.FixtureRequest, place: Sandbox, installed: Programs) -> Codex:
    """Codex with a hook that puts a program before each command, and with a rule that asks before that program runs."""
    client: Codex = request.param(installed)
    ask = place.base / "ask"
    ask.write_text('#!/bin/sh\nexec /bin/bash -c "$1"\n')
    ask.chmod(0o755)
    rules = place.home / ".codex" / "rules" / "ask.rules"
    rules.parent.mkdir(parents=True)
    rules.write_text(f'prefix_rule(pattern=["{ask}"], decision="prompt", justification="{REASON}")\n')
    changed = {"permissionDecision": "allow", "updatedInput": {"command": f"{ask} '{MAKE}'"}}
    client.hook(place, Hook(observed.printed({"hookSpecificOutput": {"hookEventName": "PreToolUse"} | changed})))
    return client


@pytest.mark.parametrize(("key", "changed"), [("y", MADE), ("Escape", {})], ids=["yes", "no"])
def test_codex_can_be_made_to_ask_by_a_rule(
    key: str, changed: dict[str, str], prompting: Codex, place: Sandbox
) -> None:
    with prompting.attended(place, [Use(prompting.shell(MAKE)), DONE], args=prompting.trust) as (screen, _):
        question = screen.wait_for("Would you like to run the following command?", seconds=60)
        assert REASON in " ".join(screen.screen().split())
        screen.answer(question, key)
        screen.wait_for(DONE.text, "Conversation interrupted", seconds=60)
    assert files(place.project) == changed


def test_where_nobody_is_asked_codex_refuses_what_a_rule_would_ask(prompting: Codex, place: Sandbox) -> None:
    run = prompting.run(place, [Use(prompting.shell(MAKE)), DONE], args=prompting.loose + prompting.trust)
    assert run.changed == {}
    assert "approval required by policy" in run.told[0]


def files(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}
