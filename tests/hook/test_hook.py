"""The hook as a process of its own: what it is started with, what it prints, how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.hook.test_hook import Session


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
