"""The modules of a hook that answers by itself. Each module that is not needed costs more than its part of the
decision."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from assent import agents
from assent.hook import bundle, launcher

# What an interpreter without site-packages has loaded before its first line, on any version.
BARE = frozenset("abc codecs encodings genericpath io marshal os posix posixpath stat time zipimport site".split())
# What of the standard library an everyday call needs besides. Modules that begin with `_` are written in C.
NEEDED = frozenset("bisect errno fcntl gc pwd".split())


def loaded(state: Path, project: Path, command: str) -> tuple[str, set[str]]:
    """What the hook says and which modules it loads, started as agent programs start it."""
    words = launcher.launcher(str(state), "claude", socket=str(state / "server.sock"), deadline=60)
    event = {
        "session_id": "s",
        "cwd": str(project),
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": command},
    }
    environ = {"HOME": str(state.parent), "CLAUDE_PROJECT_DIR": str(project), "SHELL": "/bin/bash"}
    done = subprocess.run(
        [words[0], "-X", "importtime", *words[1:]],
        input=json.dumps(event).encode(),
        env=environ,
        capture_output=True,
        check=True,
    )
    told = [line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines() if line.startswith("import")]
    return done.stdout.decode(), set(told)


@pytest.mark.parametrize("command", ["git status && ls -la", "grep -n 'a b' x.md | head -20", "cat x; wc y"])
def test_an_everyday_call_needs_next_to_nothing_of_the_standard_library(tmp_path: Path, command: str) -> None:
    """Without a server, by a snapshot that an earlier hook left."""
    project, state = tmp_path / "project", tmp_path / "state"
    project.mkdir()
    launcher.write(str(state))
    bundle.renew()
    loaded(state, project, command)
    said, modules = loaded(state, project, command)
    assert json.loads(said)["hookSpecificOutput"]["permissionDecision"] == "allow"
    others = {name for name in modules if not name.startswith(("_", "encodings.", "assent", "imported "))}
    assert others <= BARE | NEEDED


@pytest.mark.parametrize("module", ["assent.hook.client", "assent.trail.append"])
def test_asking_a_server_and_recording_need_nothing_slow(module: str) -> None:
    """In the file that hooks load their modules from: it leaves out imports that only annotations use."""
    names = {name for name, *_ in bundle.ModuleReader().modules(module)}
    slow = "json socket selectors struct enum re collections functools argparse asyncio dataclasses datetime inspect"
    assert module in names
    assert names & {*slow.split(), "logging", "pathlib", "typing", "uuid", "sqlite3", "threading"} == set()


def test_a_hook_imports_its_own_adapter_and_no_other() -> None:
    script = "import sys; from assent import agents; agents.load('gemini'); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-S", "-c", script], capture_output=True, text=True, check=True, env=path())
    ours = {name for name in done.stdout.split() if name.startswith("assent.agents.")}
    assert ours == {f"assent.agents.{each}" for each in ("adapter", "payload", "gemini", "gemini.payload")}


def path() -> dict[str, str]:
    return {"PYTHONPATH": str(Path(agents.__file__).parents[2])}


def test_without_the_core_the_package_serves() -> None:
    script = """
import sys
sys.modules["_json"] = None
from assent.contract import dumps, loads
assert loads('{"a": [1, null]}') == {"a": [1, None]}
assert dumps({"b": "é", "a": 1}, ordered=True, spaced=True) == '{"a": 1, "b": "\\\\u00e9"}'
"""
    subprocess.run([sys.executable, "-c", script], check=True)
