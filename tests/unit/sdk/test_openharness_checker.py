"""The API of OpenHarness's checker: what it stops or asks about, so do we, compared with the real one."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import openharness.permissions as theirs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent import Call, Gate, PayloadError
from assent.contract.approval import Held
from assent.sdk.openharness_checker import (
    OPERATIONS,
    ApprovalGate,
    DenialTracker,
    PathRule,
    PermissionChecker,
    PermissionContext,
    PermissionDecision,
    PermissionMode,
    PermissionSettings,
    request_approval,
    requires_approval,
    resolve_approval,
)
from tests.examples import examples

MODES = ["default", "plan", "full_auto"]
SECRETS = [
    ".ssh/id_rsa",
    ".ssh",
    ".aws/credentials",
    ".aws/config",
    ".config/gcloud/creds.json",
    ".azure/tokens.json",
    ".gnupg/secring.gpg",
    ".docker/config.json",
    ".kube/config",
    ".openharness/credentials.json",
    ".openharness/copilot_auth.json",
]


def checker(**given: Any) -> PermissionChecker:
    return PermissionChecker(PermissionSettings(**given), project="/srv/project")


def test_reading_needs_no_confirmation() -> None:
    for mode in MODES:
        assert checker(mode=mode).evaluate("read_file", is_read_only=True).allowed


def test_changing_something_is_confirmed_in_default_mode() -> None:
    found = checker().evaluate("write_file", is_read_only=False)
    assert (found.allowed, found.requires_confirmation) == (False, True)
    assert "/permissions full_auto" in found.reason


def test_installing_packages_is_pointed_out() -> None:
    found = checker().evaluate("bash", is_read_only=False, command="npm init -y && npm install next")
    assert found.requires_confirmation
    assert "installing packages changes the workspace" in found.reason


def test_plan_blocks_what_changes() -> None:
    found = checker(mode="plan").evaluate("bash", is_read_only=False)
    assert found == PermissionDecision(False, False, found.reason)
    assert "plan mode" in found.reason


def test_full_auto_lets_tools_run() -> None:
    for command in (None, "echo hello"):
        assert checker(mode="full_auto").evaluate("bash", is_read_only=False, command=command).allowed


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("tool", ["read_file", "write_file", "grep", "some_tool"])
def test_places_of_secrets_are_closed_in_every_mode(mode: str, secret: str, tool: str) -> None:
    found = checker(mode=mode, allowed_tools=[tool])
    for read_only in (True, False):
        assert not found.evaluate(tool, is_read_only=read_only, file_path=f"/home/u/{secret}").allowed


@pytest.mark.parametrize("path", ["/home/u/project/main.py", "/home/u/.bashrc", "/home/u/.config/nvim/init.lua"])
def test_other_places_are_open(path: str) -> None:
    assert checker(mode="full_auto").evaluate("read_file", is_read_only=True, file_path=path).allowed


def test_a_path_rule_denies_what_it_matches() -> None:
    found = checker(mode="full_auto", path_rules=[PathRule("  /etc/*  ", allow=False), {"pattern": "/data/*"}])
    assert [(each.pattern, each.allow) for each in found.path_rules] == [("/etc/*", False), ("/data/*", True)]
    denied = found.evaluate("read_file", is_read_only=True, file_path="/etc/passwd")
    assert not denied.allowed
    assert "/etc/passwd" in denied.reason
    assert found.evaluate("read_file", is_read_only=True, file_path="/home/u/x.txt").allowed


@pytest.mark.parametrize("pattern", ["", "   ", None, 42])
def test_a_path_rule_that_denies_nothing_is_an_error(pattern: object) -> None:
    with pytest.raises(PayloadError, match="no pattern"):
        checker(path_rules=[{"pattern": pattern, "allow": False}])
    assert checker(path_rules=[{"pattern": pattern, "allow": True}]).path_rules == ()


def test_a_denied_command_is_denied_behind_a_wrapper_too() -> None:
    found = checker(mode="full_auto", denied_commands=["make deploy*"])
    for command in ("make deploy", "make deploy --now", "env X=1 make deploy", "bash -c 'make deploy'"):
        assert not found.evaluate("bash", is_read_only=False, command=command).allowed


def test_a_denial_is_not_opened_by_an_allowed_tool() -> None:
    found = checker(mode="full_auto", allowed_tools=["bash"], denied_commands=["make deploy*"])
    assert not found.evaluate("bash", is_read_only=False, command="make deploy").allowed
    assert checker(allowed_tools=["bash"]).evaluate("bash", is_read_only=False, command="make test").allowed


def rank(decision: Any) -> int:
    return 0 if decision.allowed else 1 if decision.requires_confirmation else 2


@examples(300)
@given(
    mode=st.sampled_from(MODES),
    tool=st.sampled_from(["bash", "read_file", "write_file", "edit_file", "grep", "glob", "web_fetch", "mystery"]),
    read_only=st.booleans(),
    path=st.sampled_from(
        [None, "/etc/passwd", "notes.md", "/srv/project/a.py", *(f"/home/u/{each}" for each in SECRETS)]
    ),
    command=st.sampled_from([None, "ls", "rm -rf build", "make deploy", "echo $(make deploy)", "cat ~/.ssh/id_rsa"]),
    allowed=st.sets(st.sampled_from(["bash", "write_file"])),
    denied=st.sets(st.sampled_from(["bash", "grep", "mystery"])),
    patterns=st.sets(st.sampled_from(["/etc/*", "*.md", "/home/*"])),
    commands=st.sets(st.sampled_from(["make deploy*", "rm *", "*ssh*"])),
)
@pytest.mark.slow
def test_what_the_real_one_stops_or_asks_about_so_do_we(
    mode: str,
    tool: str,
    read_only: bool,
    path: str | None,
    command: str | None,
    allowed: set[str],
    denied: set[str],
    patterns: set[str],
    commands: set[str],
) -> None:
    from openharness.config.settings import PathRuleConfig
    from openharness.config.settings import PermissionSettings as TheirSettings

    same = TheirSettings(
        mode=theirs.PermissionMode(mode),
        allowed_tools=sorted(allowed),
        denied_tools=sorted(denied),
        path_rules=[PathRuleConfig(pattern=each, allow=False) for each in sorted(patterns)],
        denied_commands=sorted(commands),
    )
    asked: dict[str, Any] = {"is_read_only": read_only, "file_path": path, "command": command}
    ours = PermissionChecker(same, project="/srv/project").evaluate(tool, **asked)
    assert rank(ours) >= rank(theirs.PermissionChecker(same).evaluate(tool, **asked))


def test_the_standard_operations() -> None:
    table = {mode: [op for op in OPERATIONS if requires_approval(op, mode)] for mode in PermissionMode}
    changing = ["write", "delete", "execute", "edit", "shell", "install", "push", "agent"]
    assert table == {
        PermissionMode.PLAN: changing,
        PermissionMode.DEFAULT: changing,
        PermissionMode.AUTO: ["delete", "execute", "install", "push", "agent"],
        PermissionMode.FULL_AUTO: [],
        PermissionMode.YOLO: [],
    }
    with pytest.raises(PayloadError, match="none of the operations"):
        requires_approval("fly")


@pytest.mark.parametrize("op", ["read", "list", "search", "write", "delete", "execute", "EXECUTE"])
def test_its_six_operations_are_known(op: str) -> None:
    changes = op.lower() in ("write", "delete", "execute")
    assert [requires_approval(op, mode) for mode in MODES] == [changes, changes, False]


def trail_of(state: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (state / "audit/permissions.jsonl").read_text().splitlines()]


def test_an_approval_gate_asks_and_is_resolved(tmp_path: Path) -> None:
    shown: list[Held] = []

    async def play() -> list[bool]:
        gate = ApprovalGate(shown.append, project=str(tmp_path), files=False, state=str(tmp_path / "state"))
        found = [await gate.ask("read_file", {"file_path": "a.txt"})]  # settled without a question
        for approved in (True, False, "yes"):
            asking = asyncio.ensure_future(gate.ask("bash", {"command": "make test"}, reason="run the tests"))
            while not gate.pending():
                await asyncio.sleep(0.01)
            (id,) = gate.pending()
            threading.Thread(target=gate.resolve, args=(id, approved), kwargs={"who": "ada"}).start()
            found.append(await asking)
            assert not gate.resolve(id, True)
        gate.close()
        return found

    assert asyncio.run(play()) == [True, True, False, False]
    assert [held.call.description for held in shown] == ["run the tests"] * 3
    ends = [line for line in trail_of(tmp_path / "state") if line["kind"] == "answer"]
    assert [(line["outcome"], line["who"]) for line in ends] == [("allow", "ada"), ("deny", "ada"), ("deny", "ada")]


@pytest.mark.slow
def test_an_approval_gate_that_nobody_resolves_says_no(tmp_path: Path) -> None:
    async def play() -> bool:
        policy = {"approval": {"timeout": 1}}
        given = {"project": str(tmp_path), "files": False, "policy": policy, "state": str(tmp_path / "state")}
        gate = ApprovalGate(lambda held: None, **given)
        try:
            return await gate.ask("bash", {"command": "make test"})
        finally:
            gate.close()

    assert asyncio.run(play()) is False
    assert trail_of(tmp_path / "state")[-1]["timed_out"] is True


def test_a_permission_context_counts_denials() -> None:
    context = PermissionContext("default")
    assert [context.record_denial() for _ in range(3)] == [False, False, True]
    context.record_approval()
    assert isinstance(context.denials, DenialTracker)
    assert (context.denials.row, context.denials.total) == (0, 3)
    assert context.requires_approval("execute")
    assert not context.requires_approval("list")


def test_approvals_are_the_gates(tmp_path: Path) -> None:
    gate = Gate(str(tmp_path), files=False, state=str(tmp_path / "state"), channels=["nobody"])
    call = Call("bash", {"command": "make test"})
    asked = request_approval(gate, call)
    assert resolve_approval(gate, asked.id, call, approved=True, who="ada").allowed
    assert not resolve_approval(gate, asked.id, call, approved=True, who="ada").allowed
    gate.close()


def test_a_path_rule_speaks_of_the_project_and_of_what_links_lead_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "project").mkdir()
    (tmp_path / "kept").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "kept")
    settings = PermissionSettings(
        mode="full_auto",
        path_rules=[
            {"pattern": f"{tmp_path}/project/*", "allow": False},
            {"pattern": f"{tmp_path}/kept/*", "allow": False},
        ],
    )
    found = PermissionChecker(settings, project=str(tmp_path / "project"))
    for path in ("notes.md", "./a/b", "~/link/x", "../kept/x", f"{tmp_path}/link/x"):
        assert not found.evaluate("read_file", is_read_only=True, file_path=path).allowed
