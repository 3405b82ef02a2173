"""`assent hook` answers every event, records what it decides, and blocks whatever breaks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assent.agents import known, load
from assent.agents.adapter import Rendered
from assent.contract import PayloadError, fault
from assent.hook.hook import answer


class Session:
    """A Claude Code session whose events come to the hook."""

    def __init__(self, folder: Path, *, config: str = "", attended: str = "1") -> None:
        self.project, self.state = folder / "project", folder / "state"
        self.project.mkdir()
        self.state.mkdir()
        (self.state / "config.toml").write_text(config)
        self.environ = {
            "HOME": str(folder),
            "CLAUDE_PROJECT_DIR": str(self.project),
            "CLAUDE_CODE_SESSION_ATTENDED": attended,
        }

    def payload(self, event: str, command: str = "", **more: object) -> bytes:
        call = {"tool_name": "Bash", "tool_input": {"command": command}} if command else {}
        common = {"session_id": "s1", "cwd": str(self.project), "permission_mode": "default"}
        return json.dumps({**common, "hook_event_name": event, **call, **more}).encode()

    def send(self, event: str, command: str = "", **more: object) -> Rendered:
        text = self.payload(event, command, **more)
        return answer(load("claude"), text, self.environ, state=str(self.state))

    def decides(self, command: str, **more: object) -> str:
        said = json.loads(self.send("PreToolUse", command, **more).stdout)["hookSpecificOutput"]
        return str(said["permissionDecision"])

    def records(self) -> list[tuple[str, str, str]]:
        lines = (self.state / "audit" / "permissions.jsonl").read_text().splitlines()
        found = [json.loads(line) for line in lines]
        return [(each["kind"], each["outcome"], each["code"]) for each in found]


def test_every_call_is_decided_and_recorded(tmp_path: Path) -> None:
    session = Session(tmp_path)
    assert [session.decides(each) for each in ("git status", "npm test", "rm -rf /")] == ["allow", "ask", "deny"]
    assert session.records() == [
        ("decision", "allow", "intrinsic.read-only"),
        ("decision", "ask", "mode.execute"),
        ("decision", "deny", "deny.rule"),
    ]


def test_a_call_that_runs_after_an_ask_was_allowed_in_the_dialog(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.send("PreToolUse", "npm test")
    session.send("PostToolUse", "npm test", tool_response={})
    session.send("PostToolUse", "npm test", tool_response={})
    assert session.records()[1:] == [("answer", "allow", "answer.answered")]


@pytest.mark.parametrize("event", ["Stop", "UserPromptSubmit"])
def test_a_session_that_goes_on_without_the_call_did_not_say(tmp_path: Path, event: str) -> None:
    session = Session(tmp_path)
    session.send("PreToolUse", "npm test")
    assert session.send(event).status == 0
    session.send("PostToolUse", "npm test", tool_response={})
    assert session.records()[1:] == [("answer", "deny", "answer.unanswered")]


def test_where_nobody_attends_an_ask_is_a_denial(tmp_path: Path) -> None:
    session = Session(tmp_path, attended="0")
    assert session.decides("npm test") == "deny"
    assert session.records() == [("decision", "deny", "headless.ask")]


def test_the_programs_plan_mode_is_ours(tmp_path: Path) -> None:
    session = Session(tmp_path, config='mode = "full_auto"\n')
    assert (session.decides("touch a"), session.decides("touch a", permission_mode="plan")) == ("allow", "deny")


@pytest.mark.parametrize(("follow", "expected"), [(False, "ask"), (True, "allow")])
def test_a_looser_mode_of_the_program_counts_only_if_the_user_says_so(
    tmp_path: Path, follow: bool, expected: str
) -> None:
    session = Session(tmp_path, config="follow_runtime_mode = true\n" if follow else "")
    assert session.decides("touch a", permission_mode="bypassPermissions") == expected


def test_the_environment_can_only_tighten(tmp_path: Path) -> None:
    session = Session(tmp_path, config='mode = "auto"\n')
    for mode, expected in (("full_auto", "ask"), ("plan", "deny")):
        session.environ |= {"ASSENT_MODE": mode, "ASSENT_HOME": str(tmp_path / "elsewhere")}
        assert session.decides("npm test") == expected
    assert not (tmp_path / "elsewhere").exists()


def test_a_policy_that_does_not_load_denies_with_the_error(tmp_path: Path) -> None:
    session = Session(tmp_path, config='mode = "atuo"\n')
    said = json.loads(session.send("PreToolUse", "ls").stdout)["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    assert "config.toml:1" in said["permissionDecisionReason"]


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"a":1,"a":2}', b"\xff\xfe"])
@pytest.mark.parametrize("runtime", known.runtimes())
def test_what_is_no_event_is_answered_with_the_programs_own_block(tmp_path: Path, runtime: str, text: bytes) -> None:
    adapter, environ = load(runtime), {"HOME": str(tmp_path)}
    with pytest.raises(PayloadError) as found:
        adapter.parse_text(text, environ=environ, home=str(tmp_path))
    rendered = answer(adapter, text, environ, state=str(tmp_path))
    assert rendered == adapter.render(None, fault(str(found.value)))


def test_a_state_folder_that_cannot_be_used_blocks(tmp_path: Path) -> None:
    session = Session(tmp_path)
    (session.state / "sessions").write_text("in the way")
    rendered = session.send("PreToolUse", "touch a")
    assert (rendered.stdout, rendered.status) == ("", 2)


@pytest.mark.parametrize(("said", "decision"), [({}, "ask"), ({"ASSENT_HOST_ATTENDED": "0"}, "deny")])
def test_where_nobody_sits_before_gemini_an_ask_is_a_denial(
    tmp_path: Path, said: dict[str, str], decision: str
) -> None:
    """Gemini CLI would wait for ever for an answer."""
    payload = {"session_id": "g1", "cwd": str(tmp_path), "hook_event_name": "BeforeTool"}
    call = {"tool_name": "run_shell_command", "tool_input": {"command": "make x"}}
    done = answer(load("gemini"), json.dumps({**payload, **call}).encode(), {"HOME": str(tmp_path), **said})
    assert json.loads(done.stdout)["decision"] == decision


def test_where_a_program_has_no_ask_the_call_is_denied_and_recorded_so(tmp_path: Path) -> None:
    session = Session(tmp_path)
    done = answer(load("codex"), session.payload("PreToolUse", "make x"), session.environ, state=str(session.state))
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert session.records() == [("decision", "deny", "headless.ask")]
