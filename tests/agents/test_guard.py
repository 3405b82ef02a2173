"""The shell around a hook, run for real: anything but an answer becomes a block."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from assent.agents import settings
from assent.agents.settings.entry import FAILED, HookEntry

# What stands where our program does, and what the runtime sees of it: output, errors, status.
PROGRAMS = {
    "answers": ("cat; echo", "the payload\n", "", 0),
    "blocks": ("echo no >&2; exit 2", "", "no\n", 2),
    "fails": ("echo half; exit 1", "", f"{FAILED}\n", 2),
    "says nothing": ("exit 0", "", f"{FAILED}\n", 2),
    "prints an empty line": ("echo", "", f"{FAILED}\n", 2),
}


def program(tmp_path: Path, text: str) -> HookEntry:
    path = tmp_path / "it's assent"
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return HookEntry((str(path), "hook", "a b"), 5)


def run(words: list[str]) -> tuple[str, str, int]:
    done = subprocess.run(words, input="the payload", capture_output=True, text=True, check=False, timeout=30)
    return done.stdout, done.stderr, done.returncode


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_answer_goes_through_and_all_else_blocks(tmp_path: Path, name: str) -> None:
    text, *seen = PROGRAMS[name]
    entry = program(tmp_path, text)
    assert list(run(["/bin/sh", "-c", entry.guarded])) == seen


@pytest.mark.parametrize("text", ["kill -KILL $$", "exec /nowhere/python", "echo '{}'; kill -SEGV $$"])
def test_a_hook_that_dies_blocks(tmp_path: Path, text: str) -> None:
    out, err, status = run(["/bin/sh", "-c", program(tmp_path, text).guarded])
    assert (out, status) == ("", 2)
    assert err.endswith(f"{FAILED}\n")


def test_a_missing_hook_blocks() -> None:
    out, err, status = run(["/bin/sh", "-c", HookEntry(("/nowhere/assent", "hook", "x"), 5).guarded])
    assert (out, status) == ("", 2)
    assert err.endswith(f"{FAILED}\n")


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_script_for_cline_answers_or_cancels(tmp_path: Path, name: str) -> None:
    text, answered, *_ = PROGRAMS[name]
    script = tmp_path / "PreToolUse"
    script.write_text(settings.load("cline").install("", program(tmp_path, text)), encoding="utf-8")
    script.chmod(0o755)
    out, _, status = run([str(script)])
    assert status == 0
    if answered:
        assert out == answered
    else:
        assert json.loads(out) == {"cancel": True, "errorMessage": FAILED}
