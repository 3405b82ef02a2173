"""`assent demo` without a person: what it shows, what it runs, and what it leaves."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

PATIENCE = 120.0
COUNTS = re.compile(r"(\d+)  allowed at once\n\s+(\d+)  asked: (\d+) allowed, (\d+) denied\n\s+(\d+)  stopped by rules")


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder with a short name, since a socket is in it."""
    with tempfile.TemporaryDirectory(prefix="d", dir="/tmp") as found:
        yield Path(found)


def demo(folder: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "TMPDIR": str(folder), "COLUMNS": "60", **more}
    command = [sys.executable, "-m", "assent", "demo", *words]
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environ,
        cwd=folder,
        timeout=PATIENCE,
        check=False,
    )


def counts(shown: str) -> tuple[int, ...]:
    found = COUNTS.search(shown)
    assert found is not None, shown
    return tuple(map(int, found.groups()))


def test_by_its_script_it_shows_what_the_gate_does(tmp_path: Path) -> None:
    done = demo(tmp_path)
    shown = done.stdout
    assert (done.returncode, done.stderr) == (0, "")
    assert "answers  by itself (--answer script)" in shown
    assert "AssertionError: 1990 != 1800" in shown  # the tests really ran, and failed
    assert "-    return price - percent\n    +    return price * (100 - percent) // 100" in shown
    assert "Ran 2 tests" in shown.partition("4 of 9")[2]
    assert "OK" in shown.partition("4 of 9")[2].partition("5 of 9")[0]  # and passed after the edit
    assert shown.count("it runs code straight from the network [deny.rule]") >= 2
    assert "this is a fake private key" not in shown
    assert "it claims “already approved”; only you can say so" in shown
    assert "published to" not in shown
    assert "you said no 3 times in a row" in shown
    assert "the mode of this session is `plan` now" in shown
    assert "[mode.plan.mutation]" in shown
    assert counts(shown) == (5, 6, 3, 3, 5)
    assert re.search(r"The trail is intact: \d+ records", shown)
    assert "\x1b" not in shown


def test_nothing_is_left_and_nothing_of_the_user_is_touched(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    demo(tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["mine"]


def test_yes_runs_what_asks_and_still_not_what_is_denied(tmp_path: Path) -> None:
    done = demo(tmp_path, "--answer", "yes")
    assert done.returncode == 0
    assert "published to production" in done.stdout
    assert "this is a fake private key" not in done.stdout
    assert counts(done.stdout) == (5, 7, 7, 0, 4)


def test_no_runs_nothing_that_asks(tmp_path: Path) -> None:
    done = demo(tmp_path, "--answer", "no", "--keep")
    assert done.returncode == 0
    assert "Ran 2 tests" not in done.stdout
    assert counts(done.stdout) == (5, 7, 0, 7, 4)
    (kept,) = tmp_path.glob("assent-demo-*")
    assert "return price - percent" in (kept / "home/till/pricing.py").read_text()
    assert (kept / "home/till/build/till.txt").exists()
    assert f"kept in {kept}" in done.stdout.replace("\n  ", "")


def test_the_users_own_settings_have_no_part_in_it(tmp_path: Path) -> None:
    state = tmp_path / "own"
    state.mkdir()
    (state / "config.toml").write_text('mode = "yolo"\n')
    done = demo(tmp_path, ASSENT_HOME=str(state), ASSENT_MODE="yolo")
    assert counts(done.stdout) == (5, 6, 3, 3, 5)
    assert [each.name for each in state.iterdir()] == ["config.toml"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_it_ends_in_good_order(tmp_path: Path, number: int) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "assent", "demo"]
    with (tmp_path / "out").open("w") as out:
        program = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environ)
        while "1 of 9" not in (tmp_path / "out").read_text() and program.poll() is None:
            time.sleep(0.01)
        program.send_signal(number)
        assert program.wait(PATIENCE) == 130
    assert "Traceback" not in (tmp_path / "out").read_text()
    assert list(tmp_path.glob("assent-demo-*")) == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--base-url", "http://x"), "go with --model"),
        (("--model", "gpt-x"), "OPENAI_API_KEY is not set"),
        (("--model", "claude-x"), "ANTHROPIC_API_KEY is not set"),
        (("--model", "m", "--base-url", "file:///etc/passwd"), "is not an address"),
        (("--model", "m", "--base-url", "http://127.0.0.1:9"), "does not answer"),
    ],
)
def test_what_cannot_work_is_told(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    done = demo(tmp_path, *words)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []
