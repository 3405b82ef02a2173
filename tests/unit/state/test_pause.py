"""A pause lasts until its end, and only if nobody but its owner can have written it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from assent.contract import Call
from assent.engine.engine import Engine
from assent.policy.modes import Mode
from assent.policy.settings import combine
from assent.state import pause

OPENED = (
    ("write", {"file_path": "/home/user/.claude/settings.json", "content": "x"}),
    ("bash", {"command": "pip uninstall -y assent"}),
    ("bash", {"command": "assent uninstall claude"}),
    ("bash", {"command": "rm -f /home/user/.assent/config.toml"}),
)
CLOSED = (
    ("bash", {"command": "assent grants revoke x"}),
    ("bash", {"command": "assent pause 10m"}),
    ("bash", {"command": "assent sign-in"}),
    ("bash", {"command": "tmux send-keys y"}),
    ("read", {"file_path": "/home/user/.ssh/id_rsa"}),
    ("write", {"file_path": "/home/user/.aws/credentials", "content": "x"}),
)


def outcomes(state: Path, calls: tuple[tuple[str, dict[str, str]], ...]) -> list[str]:
    gate = Engine(combine([]), own=("/home/user/.assent",), state=str(state))
    made = [Call(tool, given, cwd="/workspace", roots=("/workspace",), home="/home/user") for tool, given in calls]
    return [gate.judge(call, mode=Mode.FULL_AUTO, links={}).decision.outcome.word for call in made]


def test_a_pause_lifts_what_protects_assent_and_nothing_else(tmp_path: Path) -> None:
    assert outcomes(tmp_path, OPENED + CLOSED) == ["deny"] * 10
    pause.begin(str(tmp_path), time.time() + 60, "me")
    assert "deny" not in outcomes(tmp_path, OPENED)
    assert outcomes(tmp_path, CLOSED) == ["deny"] * 6
    assert pause.finish(str(tmp_path)) is True
    assert outcomes(tmp_path, OPENED) == ["deny"] * 4
    assert pause.finish(str(tmp_path)) is False


def test_it_ends_by_itself(tmp_path: Path) -> None:
    now = time.time()
    pause.begin(str(tmp_path), now + 60, "me")
    assert pause.until(str(tmp_path), now + 59) == pytest.approx(now + 60, abs=0.01)
    assert pause.until(str(tmp_path), now + 61) == 0.0


@pytest.mark.parametrize("text", ["", "nan\n", "inf\n", "x\n", "99999999999\n", "\xff"])
def test_what_says_anything_else_is_no_pause(tmp_path: Path, text: str) -> None:
    (tmp_path / pause.FILE).write_text(text, encoding="latin-1")
    (tmp_path / pause.FILE).chmod(0o600)
    assert not pause.lasts(str(tmp_path))


def test_a_file_that_others_could_have_written_is_no_pause(tmp_path: Path) -> None:
    pause.begin(str(tmp_path), time.time() + 60, "me")
    (tmp_path / pause.FILE).chmod(0o666)
    assert not pause.lasts(str(tmp_path))


@pytest.mark.parametrize("command", ["kill 4242", "kill -9 4242", "kill -TERM -- -4242", "sleep 1; kill 4242"])
def test_the_server_is_not_ended_by_its_number(tmp_path: Path, command: str) -> None:
    given = (("bash", {"command": command}),)
    assert outcomes(tmp_path, given) != ["deny"]
    (tmp_path / "server.lock").write_text('{"pid": 4242, "port": 1, "socket": "/x"}')
    assert outcomes(tmp_path, given) == ["deny"]
    assert outcomes(tmp_path, (("bash", {"command": "kill 42"}),)) != ["deny"]
    pause.begin(str(tmp_path), time.time() + 60, "me")
    assert outcomes(tmp_path, given) != ["deny"]
