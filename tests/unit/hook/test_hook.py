"""`assent hook` answers every event, records what it decides, and blocks whatever breaks."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from assent.agents import RUNTIMES, load
from assent.agents.adapter import Rendered
from assent.contract.errors import PayloadError
from assent.contract.reply import fault
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


def test_a_hook_for_everybody_takes_no_folder_from_the_environment(tmp_path: Path) -> None:
    """A project's settings may set the environment of hooks, and a policy that the project brings loosens nothing."""
    project, brought = tmp_path / "project", tmp_path / "project" / "brought"
    brought.mkdir(parents=True, mode=0o700)
    (brought / "config.toml").write_text('mode = "yolo"\n')
    for mode, expected in (("plan", "deny"), ("full_auto", "allow")):
        (tmp_path / ".assent").mkdir(mode=0o700, exist_ok=True)
        (tmp_path / ".assent" / "config.toml").write_text(f'mode = "{mode}"\n')
        call = {"tool_name": "Bash", "tool_input": {"command": "touch a"}, "cwd": str(project)}
        done = subprocess.run(
            [sys.executable, "-m", "assent", "hook", "claude", "--deadline", "20"],
            input=json.dumps({"hook_event_name": "PreToolUse", "session_id": "s", **call}),
            env={"HOME": str(tmp_path), "ASSENT_HOME": str(brought), "CLAUDE_PROJECT_DIR": str(project)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == expected, done.stderr


def test_a_policy_that_does_not_load_denies_with_the_error(tmp_path: Path) -> None:
    session = Session(tmp_path, config='mode = "atuo"\n')
    said = json.loads(session.send("PreToolUse", "ls").stdout)["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    assert "config.toml:1" in said["permissionDecisionReason"]


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"a":1,"a":2}', b"\xff\xfe"])
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_what_is_no_event_is_answered_with_the_programs_own_block(tmp_path: Path, runtime: str, text: bytes) -> None:
    adapter, environ = load(runtime), {"HOME": str(tmp_path)}
    with pytest.raises(PayloadError) as found:
        adapter.parse_text(text, environ=environ, home=str(tmp_path))
    rendered = answer(adapter, text, environ, state=str(tmp_path))
    assert rendered == adapter.render(None, fault(str(found.value)))


def test_a_decision_that_hangs_where_no_handler_runs_is_ended(tmp_path: Path) -> None:
    """The handler of an alarm waits for such code to come back; the processor time of a process does not."""
    code = (
        "import hashlib; from assent.agents import load; from assent.hook import hook\n"
        "hook.GRACE = 0.2; hook._alarm(load('gemini'), 1); hashlib.pbkdf2_hmac('sha256', b'', b'', 10**9)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (-signal.SIGPROF, b"")


def test_the_command_prints_one_answer_and_nothing_else(tmp_path: Path) -> None:
    session = Session(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "assent", "hook", "claude", "--home", str(session.state)],
        input=session.payload("PreToolUse", "ls"),
        capture_output=True,
        env={**session.environ, "PATH": os.environ["PATH"]},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "allow"


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


def test_whether_somebody_sits_there_is_seen_and_not_told_by_an_environment(tmp_path: Path) -> None:
    payload = {"session_id": "g1", "cwd": str(tmp_path), "hook_event_name": "BeforeTool"}
    call = {"tool_name": "run_shell_command", "tool_input": {"command": "make x"}}
    done = subprocess.run(
        [sys.executable, "-m", "assent", "hook", "gemini"],
        input=json.dumps({**payload, **call}).encode(),
        capture_output=True,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "ASSENT_HOST_ATTENDED": "1"},
        check=False,
    )
    # The hook looks at the process of these tests, which a person may have started in a terminal.
    decision = "ask" if all(map(os.isatty, (0, 1))) else "deny"
    assert json.loads(done.stdout)["decision"] == decision


@pytest.mark.parametrize(
    ("closed", "status"), [("1>&-", 2), ("2>&-", 0), ("1>&- 2>&-", 2), ("0<&-", 2), ("1>/dev/full", 2)]
)
def test_a_closed_handle_is_never_a_file_of_ours_and_no_answer_is_a_block(
    tmp_path: Path, closed: str, status: int
) -> None:
    session = Session(tmp_path)
    (tmp_path / "event").write_bytes(session.payload("PreToolUse", "npm test"))
    command = f'"{sys.executable}" -m assent hook claude --home "$STATE" < "$EVENT" {closed}'
    environ = {**os.environ, **session.environ, "STATE": str(session.state), "EVENT": str(tmp_path / "event")}
    done = subprocess.run(["bash", "-c", command], env=environ, capture_output=True, timeout=60)
    assert done.returncode == status
    for path in (each for each in session.state.rglob("*") if each.is_file()):
        assert b"hookSpecificOutput" not in path.read_bytes()


def test_where_a_program_has_no_ask_the_call_is_denied_and_recorded_so(tmp_path: Path) -> None:
    session = Session(tmp_path)
    done = answer(load("codex"), session.payload("PreToolUse", "make x"), session.environ, state=str(session.state))
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert session.records() == [("decision", "deny", "headless.ask")]
